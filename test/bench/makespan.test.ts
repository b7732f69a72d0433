import { expect, test } from 'vitest';
import { at } from './flat.ts';
import { idealMakespan } from './makespan.ts';

test.each([
  ['one chain is as long as its tasks', [[1, 2, 3]], 5, 6],
  ['without room beside each other, tasks take the sum of their times', [[1, 2], [3], [4]], 1, 10],
  ['a deeper task goes before a new cell', [[2, 5], [1, 1], [9]], 2, 11],
  ['no task waits while there is a slot', [[4], [4], [4], [4]], 2, 8],
])('%s', (_, chains, slots, makespan) => {
  expect(idealMakespan(chains, slots)).toBe(makespan);
});

test('a line of samples is read between its points, and not behind its end', () => {
  const line = [
    [0, 10],
    [10, 20],
    [10.5, 40],
  ] as const;
  expect([0, 5, 10, 10.25].map((x) => at(line, x))).toEqual([10, 15, 20, 30]);
  expect(() => at(line, 11)).toThrow('ends before 11');
});
