import { expect, it } from 'vitest';
import { backoffMs } from '../../../../src/run/machine/retry/backoff.ts';

const bounds = { baseMs: 1000, capMs: 60_000 };

it('waits up to twice as long after each try, and never longer than the cap', () => {
  const most = [1, 2, 3, 4, 5, 6, 7, 8, 32, 2000].map((tries) => backoffMs(tries, bounds, () => 1));
  expect(most).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
});

it('waits a random part of that, and a millisecond at least', () => {
  expect([0, 0.25, 0.5, 0.9994].map((share) => backoffMs(1, bounds, () => share))).toEqual([
    1, 250, 500, 999,
  ]);
  expect(backoffMs(1, { baseMs: 1, capMs: 1 }, () => 0.5)).toBe(1);
  expect(backoffMs(40, { baseMs: 1, capMs: 2 ** 40 }, () => 1)).toBe(2 ** 30);
});
