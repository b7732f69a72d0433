import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Axis } from '../../src/pipeline/pipeline.ts';
import { type Value, WrittenNumber } from '../../src/pipeline/value.ts';
import type { Selection } from '../../src/plan/cell.ts';
import { prepareMatrix } from '../../src/plan/matrix.ts';
import { MemoryFiles } from '../pipeline/table-port.ts';
import { type EagerAxes, eagerCells, eagerSelection } from './matrix-reference.ts';
import { cellsOf, listed, ranged, rowed, type SpecParts, specOf } from './matrix-spec.ts';

const scalar: fc.Arbitrary<Value> = fc.constantFrom(
  'x',
  'y',
  '1',
  1,
  2,
  null,
  '',
  true,
  'true',
  new WrittenNumber('6.0', 6),
);
const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 3, arbitrary: scalar },
  fc.record({ k: scalar, m: scalar }, { requiredKeys: [] }),
  fc.array(scalar, { maxLength: 2 }),
);

/** An axis, what the reference sees of it, and its table. */
interface DrawnAxis {
  readonly axis: Axis;
  readonly eager: EagerAxes[number];
  readonly table?: string;
}

const listedAxis = (name: string): fc.Arbitrary<DrawnAxis> =>
  fc.array(value, { minLength: 1, maxLength: 4 }).map((values) => ({
    axis: listed(name, values),
    eager: values.map((item) => ({ [name]: item })),
  }));

const rangedAxis = (name: string): fc.Arbitrary<DrawnAxis> =>
  fc
    .record({
      from: fc.integer({ min: -2, max: 2 }),
      size: fc.integer({ min: 1, max: 4 }),
      half: fc.boolean(),
    })
    .map(({ from, size, half }) => {
      const step = half ? 0.5 : 1;
      return {
        axis: ranged(name, from, from + (size - 1) * step, step),
        eager: Array.from({ length: size }, (_, index) => ({ [name]: from + index * step })),
      };
    });

const rowsAxis: fc.Arbitrary<DrawnAxis> = fc
  .record({
    rows: fc.array(fc.record({ c: fc.constantFrom('x', 'y', '1'), d: fc.constantFrom('x', '') }), {
      minLength: 2,
      maxLength: 4,
    }),
    big: fc.boolean(),
  })
  .map(({ rows, big }) => {
    // Past a mebibyte a table is read again and again instead of being kept.
    const padding = ' '.repeat(big ? 1_100_000 / rows.length : 0);
    const table = rows.map(({ c, d }) => `{"c":"${c}",${padding}"d":"${d}"}\n`).join('');
    return { axis: rowed('t.jsonl', ['c', 'd'], 'jsonl'), eager: rows, table };
  });

const partial = fc.record(
  { a: value, b: value, n: fc.constantFrom<Value>(0, '1', 1, 0.5), c: fc.constantFrom('x', 'y'), d: scalar },
  { requiredKeys: [] },
);
const axesOf = fc
  .tuple(
    fc.option(listedAxis('a')),
    fc.option(listedAxis('b')),
    fc.option(rangedAxis('n')),
    fc.option(rowsAxis),
    fc.nat(),
  )
  .map(([a, b, n, rows, turn]) => {
    const axes = [a, b, n, rows].filter((axis) => axis !== null);
    return [...axes.slice(turn % (axes.length || 1)), ...axes.slice(0, turn % (axes.length || 1))];
  });

const drawn = fc.record({
  axes: axesOf,
  exclude: fc.array(partial, { maxLength: 3 }),
  include: fc.array(
    fc
      .tuple(partial, fc.record({ e: scalar, f: value }, { requiredKeys: [] }))
      .map(([p, extra]) => ({ ...p, ...extra })),
    { maxLength: 4 },
  ),
  sample: fc.option(fc.record({ count: fc.integer({ min: 1, max: 12 }), seed: fc.nat(5) }), {
    nil: undefined,
  }),
  repeat: fc.integer({ min: 1, max: 3 }),
});

const selection: fc.Arbitrary<Selection> = fc.record(
  {
    limit: fc.nat(8),
    shard: fc
      .integer({ min: 1, max: 4 })
      .chain((of) => fc.record({ of: fc.constant(of), index: fc.integer({ min: 1, max: of }) })),
    filters: fc.array(
      fc.record({
        axis: fc.constantFrom('a', 'b', 'n', 'c', 'd', 'e', 'a.k', 'f.m'),
        value: fc.constantFrom('x', 'y', '1', '', '0.5', '6.0', 'true', '[]'),
      }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);

/** Runs `check` on a random matrix and the cells the reference finds; a spec that is refused is checked as such. */
async function compare(
  {
    axes,
    exclude,
    include,
    ...rest
  }: { axes: DrawnAxis[] } & Omit<SpecParts, 'axes' | 'sample'> & {
      sample: SpecParts['sample'] | undefined;
    },
  check: (
    matrix: Awaited<ReturnType<typeof prepareMatrix>> & { ok: true },
    cells: ReturnType<typeof eagerCells>,
  ) => Promise<void>,
): Promise<void> {
  const variables = new Set(axes.flatMap(({ eager }) => eager.flatMap((item) => Object.keys(item))));
  const parts: SpecParts = {
    axes: axes.map(({ axis }) => axis),
    exclude: (exclude ?? []).filter((item) => Object.keys(item).some((name) => variables.has(name))),
    include: include ?? [],
    ...(rest.sample === undefined ? {} : { sample: rest.sample }),
    repeat: rest.repeat ?? 1,
  };
  const table = axes.find((axis) => axis.table !== undefined)?.table;
  const files = new MemoryFiles(table === undefined ? {} : { 't.jsonl': table });
  const eagerAxes = axes.map(({ eager }) => eager);
  const useless = (parts.exclude ?? []).filter(
    (item) =>
      Object.keys(item).some((name) => !variables.has(name)) ||
      eagerCells(eagerAxes, {}).length === eagerCells(eagerAxes, { exclude: [item] }).length,
  );
  const prepared = await prepareMatrix(specOf(parts), files, 'p.yaml');
  if (!prepared.ok) {
    const expected = useless.length > 0 ? useless.map(() => 'matrix.exclude-nothing') : ['matrix.empty'];
    expect(prepared.error.map(({ code }) => code)).toEqual(expected);
    if (useless.length === 0) expect(eagerCells(eagerAxes, parts)).toEqual([]);
    return;
  }
  expect(useless).toEqual([]);
  await check(prepared, eagerCells(eagerAxes, parts));
}

describe('the matrix against an eager reference', () => {
  it('gives the same cells, of which there are as many as it says', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async (spec) => {
        await compare(spec, async ({ value: matrix }, cells) => {
          expect(await cellsOf(matrix)).toEqual(cells);
          expect(matrix.cellCount).toBe(cells.length);
          expect(await matrix.chosen()).toBe(cells.length);
        });
      }),
      { numRuns: 300, seed: 20_261 },
    );
  });

  it('chooses the same cells, under the numbers they have without a selection', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, selection, async (spec, chosen) => {
        await compare(spec, async ({ value: matrix }, cells) => {
          const expected = eagerSelection(cells, chosen);
          expect(await cellsOf(matrix, chosen)).toEqual(expected);
          expect(await matrix.chosen(chosen)).toBe(expected.length);
        });
      }),
      { numRuns: 300, seed: 20_262 },
    );
  });

  it('is partitioned by its shards', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, fc.integer({ min: 1, max: 5 }), async (spec, of) => {
        await compare(spec, async ({ value: matrix }, cells) => {
          const shards = [];
          for (let index = 1; index <= of; index++) {
            shards.push(...(await cellsOf(matrix, { shard: { index, of } })));
          }
          expect(shards.sort((x, y) => x.number - y.number)).toEqual(cells);
        });
      }),
      { numRuns: 100, seed: 20_263 },
    );
  });
});
