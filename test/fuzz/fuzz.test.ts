import { expect, it } from 'vitest';
import { hunt } from './hunt.ts';
import { kinds } from './input.ts';
import { Reader } from './reader.ts';

it('meets hostile inputs with a result or an error, in bounded time and memory', async () => {
  const { figures, findings, codes } = await hunt({ seed: 1, inputs: 400, readers: 1, most: 3 });
  expect(findings).toEqual([]);
  expect([...figures.values()].reduce((sum, { inputs }) => sum + inputs, 0)).toBe(400);
  expect([...figures.keys()]).toEqual(kinds.filter((kind) => figures.has(kind)));
  expect(codes.size).toBeGreaterThan(40);
});

it('calls a broken promise broken', async () => {
  await using reader = new Reader();
  const { broken } = await reader.read({ kind: 'table', form: 'csv', chunk: 0, pieces: [] });
  expect(broken).toBeUndefined();
  // A kind without a check stands for a reader with a bug.
  const input = { kind: 'unheard of' as 'table', form: '', chunk: 0, pieces: [] };
  expect((await reader.read(input)).broken).toContain('TypeError');
});
