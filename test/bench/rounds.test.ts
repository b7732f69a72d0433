import { expect, test } from 'vitest';
import type { Bench, Comparison } from './comparison.ts';
import { measureBench, type Row } from './rounds.ts';

/** A comparison that gives these values, and notes whose turn it was. */
function scripted(left: readonly number[], right: readonly number[], turns: string[] = []): Comparison {
  const side = (name: string, values: readonly number[]) => {
    const rest = [...values];
    return {
      name,
      measure: () => {
        turns.push(name);
        return { value: rest.shift() ?? Number.NaN, cpuMs: 1 };
      },
    };
  };
  return { unit: 'ms', left: side('ours', left), right: side('theirs', right) };
}

const bench = (comparison: Comparison, more: Partial<Bench> = {}): Bench => ({
  asks: 'something',
  warmUp: false,
  prepare: () => comparison,
  ...more,
});

test('the ratio is that of the medians, its spread that of the rounds', async () => {
  const row = await measureBench('a', bench(scripted([10, 30, 20], [10, 10, 5]), { rounds: 3 }));
  expect(row).toStrictEqual({
    name: 'a',
    asks: 'something',
    unit: 'ms',
    rounds: 3,
    left: { name: 'ours', min: 10, median: 20, max: 30, cpuMs: 1 },
    right: { name: 'theirs', min: 5, median: 10, max: 10, cpuMs: 1 },
    ratio: { value: 2, min: 1, median: 3, max: 4 },
  } satisfies Row);
});

test('the sides take turns at being first, and a warm-up round does not count', async () => {
  const turns: string[] = [];
  const comparison = scripted([1000, 1, 1], [1000, 1, 1], turns);
  const row = await measureBench('a', bench(comparison, { rounds: 2, warmUp: true }));
  expect(turns).toStrictEqual(['theirs', 'ours', 'ours', 'theirs', 'theirs', 'ours']);
  expect(row).toMatchObject({ left: { max: 1 }, ratio: { value: 1 } });
});

test('what is measured beside two sides has its turn in each round, and no part in the ratio', async () => {
  const turns: string[] = [];
  const third = {
    name: 'third',
    measure: () => {
      turns.push('third');
      return { value: 7, cpuMs: 3 };
    },
  };
  const comparison = { ...scripted([20, 20], [10, 10], turns), beside: third };
  const row = await measureBench('a', bench(comparison, { rounds: 2 }));
  expect(turns).toStrictEqual(['ours', 'theirs', 'third', 'third', 'theirs', 'ours']);
  expect(row).toMatchObject({
    beside: { name: 'third', min: 7, median: 7, max: 7, cpuMs: 3 },
    ratio: { value: 2 },
  });
});

test('the number of rounds that is asked for goes before the number of the bench', async () => {
  const turns: string[] = [];
  await measureBench('a', bench(scripted([1], [1], turns), { rounds: 5 }), { rounds: 1 });
  expect(turns).toHaveLength(2);
});

test.each([
  { allowed: { ratioAtMost: 2 }, kept: true },
  { allowed: { ratioAtMost: 1.9 }, kept: false },
  { allowed: { ratioAtLeast: 2.1 }, kept: false },
  { allowed: { ratioAtMost: 2, figureAtMost: 19 }, kept: false },
  { allowed: { figureAtMost: 20, figureAtLeast: 20 }, kept: true },
  // No process of its own: its memory is not known.
  { allowed: { peakMBAtMost: 1000 }, kept: false },
])('%o is kept by 20 against 10: $kept', async ({ allowed, kept }) => {
  const row = await measureBench('a', bench(scripted([20], [10]), { rounds: 1, allowed }));
  expect(row).toMatchObject({ allowed, kept });
});

test('the peak of a side is its largest, and without a baseline there is no ratio', async () => {
  const peaks = [100, 300, 200];
  const left = { name: 'ours', measure: () => ({ value: 1, cpuMs: 2, peakMB: peaks.shift() ?? 0 }) };
  const row = await measureBench('a', bench({ unit: 's', left }, { rounds: 3 }));
  expect(row).toMatchObject({ left: { peakMB: 300 } });
  expect(row).not.toHaveProperty('ratio');
  expect(row).not.toHaveProperty('right');
});

test('what fails or could not be measured is a row, and what was prepared is put away', async () => {
  let ends = 0;
  const comparison: Comparison = {
    unit: 's',
    left: {
      name: 'ours',
      measure: () => {
        throw new Error('no disk');
      },
    },
    end: () => {
      ends += 1;
    },
  };
  expect(await measureBench('a', bench(comparison))).toStrictEqual({
    name: 'a',
    asks: 'something',
    failed: 'no disk',
  });
  expect(ends).toBe(1);
  const absent = { ...bench(comparison), prepare: () => ({ notMeasured: 'no peer' }) };
  expect(await measureBench('b', absent)).toStrictEqual({
    name: 'b',
    asks: 'something',
    notMeasured: 'no peer',
  });
});

test('a bench gets the flags that it may read', async () => {
  const seen: unknown[] = [];
  await measureBench(
    'a',
    {
      asks: 'something',
      prepare: (options) => {
        seen.push(options.peer, options.million);
        return { notMeasured: '' };
      },
    },
    { peer: '/p', million: true },
  );
  expect(seen).toStrictEqual(['/p', true]);
});
