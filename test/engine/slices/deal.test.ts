import fc from 'fast-check';
import { expect, it } from 'vitest';
import { areNested, type DealtSlice, dealSlices } from '../../../src/engine/slices/deal.ts';
import type { Selection } from '../../../src/plan/cell.ts';
import { planOf } from '../../rig/plan.ts';

type Dealt = readonly [DealtSlice, ...DealtSlice[]];

/** @param over the axes of each step that gathers */
async function dealtOf(
  sizes: readonly number[],
  over: readonly string[],
  size: number,
  selection?: Selection,
  more = '',
) {
  const [a, b, c] = sizes;
  const { plan } = await planOf(`name: t
matrix: { a: { from: 1, to: ${a} }, b: { from: 1, to: ${b} }, c: { from: 1, to: ${c} }${more} }
steps:
  one: { imagine: "{{ a }} {{ b }} {{ c }}" }
${over.map((axes, at) => `  sum${at}: { gather: { step: one, over: ${axes} }, imagine: "{{ gathered | size }}" }\n`).join('')}`);
  const groupings = [...plan.groups.values()];
  const dealt: Dealt[] = [];
  for await (const slices of dealSlices(plan.matrix.cells(selection), groupings, size)) dealt.push(slices);
  return { dealt, groupings };
}

const numbersOf = ({ cells }: DealtSlice): readonly number[] => cells.map(({ number }) => number);

it('deals each cell once and in order, and the groups that end in a cell with it or behind all their cells', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 3, maxLength: 3 }),
      fc.uniqueArray(fc.constantFrom('[a]', '[b]', '[c]', '[b, c]', 'all'), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 9 }),
      fc.record({ limit: fc.integer({ min: 1, max: 125 }) }, { requiredKeys: [] }),
      async (sizes, over, size, selection) => {
        const { dealt, groupings } = await dealtOf(sizes, over, size, selection);
        const [a = 1, b = 1, c = 1] = sizes;
        const count = Math.min(a * b * c, selection.limit ?? Number.POSITIVE_INFINITY);
        const own = dealt.flatMap(([slice]) => numbersOf(slice));
        expect(own).toEqual(Array.from({ length: count }, (_, at) => at + 1));
        for (const [slice, ...later] of dealt) {
          expect(slice.cells.length).toBeLessThanOrEqual(size);
          const [first = 0] = numbersOf(slice);
          const lasts = slice.cells.filter(({ number }) =>
            groupings.some((by) => by.last(number) === number),
          );
          const lowest = (number: number): number =>
            Math.min(...groupings.flatMap((by) => (by.last(number) === number ? by.numbers(number) : [])));
          const split = lasts.map(({ number }) => number).filter((number) => lowest(number) < first);
          expect(slice.cells.flatMap((cell) => (cell.groupsElsewhere ? [cell.number] : []))).toEqual(split);
          expect(later.flatMap(numbersOf)).toEqual(split);
          for (const groups of later) expect(groups.since).toBe(Math.min(...numbersOf(groups).map(lowest)));
        }
      },
    ),
    { numRuns: 30 },
  );
});

it.each([
  [['[c]'], 10, [8, 8, 8, 8, 8, 8]],
  [['[b, c]'], 10, [10, 10, 4, 10, 10, 4]],
  // Cuts between the groups of c where those of b and c do not fit.
  [['[c]', '[b, c]'], 10, [8, 8, 8, 8, 8, 8]],
  [['[a]'], 10, [10, 10, 10, 10, 8]],
])('cuts where it splits the fewest groups over %j', async (over, size, lengths) => {
  const { dealt } = await dealtOf([2, 6, 4], over, size);
  expect(dealt.map(([{ cells }]) => cells.length)).toEqual(lengths);
});

it('deals no group before one that it gathers, which ends in the same slice and has begun before it', async () => {
  // Only the groups over a of the cells with b = 1 end in the second slice, those over b and c within it.
  const { dealt, groupings } = await dealtOf(
    [3, 2, 2],
    ['[a]', '[c]', '[b, c]'],
    4,
    undefined,
    ', exclude: [{ a: 3, b: 1 }]',
  );
  expect(groupings.length).toBe(3);
  const second = dealt[1];
  expect(second?.map(numbersOf)).toEqual([
    [5, 6, 7, 8],
    [5, 6, 8],
  ]);
  expect(second?.[0].cells.filter(({ groupsElsewhere }) => groupsElsewhere).length).toBe(3);
});

it('reads no more cells together than one group has, or 4,096', async () => {
  const { dealt } = await dealtOf([1500, 1, 7], ['[a]'], 64);
  const later = dealt.flatMap(([, ...groups]) => groups.map(({ cells }) => cells.length));
  expect(later).toEqual([2, 1, 2, 2]);
});

it('lets groups wait for groups only where one may gather what another made', async () => {
  for (const [over, isNested] of [
    [['[a]', '[b]'], false],
    [['[c]', '[b, c]'], true],
    [['[c]', 'all'], true],
    [['all'], false],
  ] as const)
    expect(areNested((await dealtOf([2, 2, 2], over, 2)).groupings)).toBe(isNested);
});
