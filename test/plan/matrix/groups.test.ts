import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Axis } from '../../../src/pipeline/pipeline.ts';
import { renderValue, type Value } from '../../../src/pipeline/values/value.ts';
import type { Cell } from '../../../src/plan/cell.ts';
import { type CellGroups, reductionId } from '../../../src/plan/matrix/groups.ts';
import { prepareMatrix } from '../../../src/plan/matrix/matrix.ts';
import type { Matrix } from '../../../src/plan/matrix/types.ts';
import { MemoryFiles } from '../../pipeline/table-port.ts';
import { cellsOf, listed, ranged, rowed, type SpecParts, specOf } from './spec.ts';

async function grouped(
  parts: SpecParts,
  reductions: readonly (readonly string[])[],
  table = '',
): Promise<Matrix | readonly string[]> {
  const prepared = await prepareMatrix(
    specOf(parts),
    new MemoryFiles({ 't.jsonl': table }),
    'test.yaml',
    undefined,
    reductions.map((axes) => ({ axes, variables: axes })),
  );
  return prepared.ok ? prepared.value : prepared.error.map(({ code }) => code);
}

const matrixOf = async (...of: Parameters<typeof grouped>): Promise<Matrix> => {
  const matrix = await grouped(...of);
  if (!('cells' in matrix)) throw new Error(matrix.join());
  return matrix;
};

const groupsIn = (matrix: Matrix, axes: readonly string[]): CellGroups =>
  matrix.groups.get(reductionId({ axes })) as CellGroups;

const values = fc.uniqueArray(fc.constantFrom<Value>('x', 'y', 1, null, { k: 'x' }), {
  minLength: 1,
  maxLength: 4,
  selector: renderValue,
});
const rows = fc.uniqueArray(fc.record({ c: fc.constantFrom('x', 'y', '1'), d: fc.constantFrom('x', '') }), {
  minLength: 2,
  maxLength: 5,
  selector: ({ c, d }) => `${c} ${d}`,
});
const partial = fc.record(
  {
    a: fc.constantFrom<Value>('x', 'y', 1),
    n: fc.constantFrom(0, 1, 9),
    c: fc.constantFrom('x', 'q'),
    d: fc.constant('x'),
  },
  { requiredKeys: [] },
);

const scenes = fc.record({
  a: fc.option(values),
  n: fc.option(fc.integer({ min: 1, max: 4 })),
  rows: fc.option(rows),
  turn: fc.nat(2),
  exclude: fc.array(partial, { maxLength: 2 }),
  include: fc.array(fc.tuple(partial, fc.record({ e: fc.constantFrom('p', 'q') }, { requiredKeys: [] })), {
    maxLength: 3,
  }),
  sample: fc.option(fc.record({ count: fc.integer({ min: 1, max: 20 }), seed: fc.nat(5) })),
  repeat: fc.integer({ min: 1, max: 3 }),
  over: fc.subarray(['a', 'n', 'c', 'd', 'repeat'], { minLength: 1 }),
  other: fc.subarray(['a', 'n', 'c', 'd', 'repeat'], { minLength: 1 }),
  shards: fc.integer({ min: 1, max: 4 }),
});

/** The cells by group, each by comparing all values that are not reduced. */
function naive(
  cells: readonly Cell[],
  axes: readonly Axis[],
  over: readonly string[],
): readonly (readonly number[])[] {
  const names = axes.flatMap((axis) => (axis.kind === 'rows' ? axis.columns : [axis.name]));
  const groups = new Map<string, number[]>();
  for (const { number, vars, repeat } of cells) {
    const own = names.length > 0 ? names : ['a', 'c', 'd', 'e', 'n'];
    const key = JSON.stringify([
      over.includes('repeat') ? 0 : repeat,
      ...own.map((name) => (over.includes(name) ? '' : renderValue(vars[name] ?? null))),
    ]);
    groups.set(key, [...(groups.get(key) ?? []), number]);
  }
  return [...groups.values()];
}

describe('groups of cells', () => {
  it('are those that a comparison of all cells finds, of any matrix, and shards deal them whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        scenes,
        async ({ a, n, rows: drawn, turn, exclude, include, sample, repeat, over, other, shards }) => {
          const all = [
            ...(a === null ? [] : [listed('a', a)]),
            ...(n === null ? [] : [ranged('n', 0, n - 1)]),
            ...(drawn === null ? [] : [rowed('t.jsonl', ['c', 'd'], 'jsonl')]),
          ];
          const axes = [...all.slice(turn), ...all.slice(0, turn)];
          const table = (drawn ?? []).map((row) => `${JSON.stringify(row)}\n`).join('');
          const parts = {
            axes,
            repeat,
            include: include.map(([p, e]) => ({ ...p, ...e })),
            exclude,
            ...(sample === null ? {} : { sample }),
          };
          const matrix = await grouped(parts, [over, other], table);
          // An exclude that matches nothing, or everything.
          if (!('cells' in matrix)) return;
          const cells = await cellsOf(matrix);
          for (const one of [over, other]) {
            const groups = groupsIn(matrix, one);
            const expected = naive(cells, axes, one);
            const lasts = expected.map((group) => group.at(-1) as number).toSorted((x, y) => x - y);
            expect(cells.filter(({ number }) => groups.isLast(number)).map(({ number }) => number)).toEqual(
              lasts,
            );
            expect(groups.count).toBe(expected.length);
            expect(groups.largest).toBe(Math.max(...expected.map(({ length }) => length)));
            expect(await matrix.chosen({}, undefined, groups)).toBe(groups.count);
            for (const group of expected) {
              const last = cells[(group.at(-1) as number) - 1] as Cell;
              expect(groups.numbers(last.number)).toEqual(group);
              expect(group.map((number) => groups.cell(number, last))).toEqual(
                group.map((number) => cells[number - 1]),
              );
              expect(new Set(group.map((number) => groups.groupOf(number))).size).toBe(1);
            }
          }
          const dealt: number[] = [];
          for (let index = 1; index <= shards; index++) {
            const part = { shard: { index, of: shards } };
            const numbers = (await cellsOf(matrix, part)).map(({ number }) => number);
            dealt.push(...numbers);
            expect(await matrix.chosen(part)).toBe(numbers.length);
            for (const one of [over, other]) {
              const groups = groupsIn(matrix, one);
              const lasts = numbers.filter((number) => groups.isLast(number));
              expect(lasts.flatMap((last) => groups.numbers(last)).toSorted((x, y) => x - y)).toEqual(
                numbers,
              );
              expect(await matrix.chosen(part, undefined, groups)).toBe(lasts.length);
            }
          }
          expect(dealt.toSorted((x, y) => x - y)).toEqual(cells.map(({ number }) => number));
        },
      ),
      { numRuns: 300 },
    );
  }, 60_000);

  it('of a plain product are found by arithmetic, however many there are', async () => {
    const axes = [ranged('seed', 1, 10), ranged('n', 1, 1_000_000_000), listed('style', ['oil', 'ink'])];
    const matrix = await matrixOf({ axes, repeat: 3 }, [['seed'], ['repeat', 'style']]);
    const seeds = groupsIn(matrix, ['seed']);
    expect([seeds.count, seeds.largest]).toEqual([6_000_000_000, 10]);
    const step = 6_000_000_000;
    expect(seeds.numbers(9 * step + 5)).toEqual(Array.from({ length: 10 }, (_, index) => index * step + 5));
    const both = groupsIn(matrix, ['repeat', 'style']);
    expect([both.count, both.numbers(12)]).toEqual([10_000_000_000, [7, 8, 9, 10, 11, 12]]);
    expect(await matrix.chosen({}, undefined, seeds)).toBe(6_000_000_000);
  });

  it('of other matrices are refused beyond the size of their index', async () => {
    const axes = [ranged('seed', 1, 10), ranged('n', 1, 1_000_000)];
    const refused = await grouped({ axes, exclude: [{ n: 7, seed: 3 }] }, [['seed']]);
    expect(refused).toEqual(['matrix.too-large']);
  });

  it('need the rows of a table together where its columns are reduced', async () => {
    const line = `${JSON.stringify({ c: 'x'.repeat(1_000_000), d: 'y' })}\n`;
    const axes = [rowed('t.jsonl', ['c', 'd'], 'jsonl'), ranged('n', 1, 2)];
    expect(await grouped({ axes }, [['c']], line.repeat(17))).toEqual(['matrix.too-large']);
    const matrix = await matrixOf({ axes }, [['n']], line.repeat(17));
    const [, last] = await cellsOf(matrix, { limit: 2 });
    expect(groupsIn(matrix, ['n']).cell(1, last as Cell).vars).toMatchObject({ d: 'y', n: 1 });
  });
});
