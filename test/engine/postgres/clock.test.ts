import { expect, it } from 'vitest';
import { clockAhead } from '../../../src/engine/postgres/checks.ts';

it.each([
  ['the clock of the engine says the same', 1000, 1001, 1002, 0],
  ['the answer came late: nothing is certain', 1000, 1001, 9000, 0],
  ['the question arrived late: nothing is certain', 1000, 8999, 9000, 0],
  ['this machine is ahead, by what had passed already when it asked', 61_000, 1001, 61_010, 59_999],
  ['this machine is behind, by what had not passed yet when it was answered', 1000, 61_000, 1010, -59_990],
])('%s', async (_words, asked, there, answered, ahead) => {
  const times = [asked, answered];
  const pool = { query: () => Promise.resolve({ rows: [{ now: there }] as never[] }) };
  expect(await clockAhead(pool, () => times.shift() ?? 0)).toBe(ahead);
});
