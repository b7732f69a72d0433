import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Axis } from '../../../src/pipeline/pipeline.ts';
import { type Value, WrittenNumber } from '../../../src/pipeline/values/value.ts';
import type { Cell, Selection } from '../../../src/plan/cell.ts';
import { prepareMatrix } from '../../../src/plan/matrix/matrix.ts';
import { type Matrix } from '../../../src/plan/matrix/types.ts';
import { MemoryFiles } from '../../pipeline/table-port.ts';
import { type EagerAxes, eagerCells, eagerSelection } from './reference.ts';
import { cellsOf, listed, ranged, rowed, type SpecParts, specOf } from './spec.ts';

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
    big: fc.integer({ min: 1, max: 5 }).map((side) => side === 1),
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

type DrawnSpec = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

/** What a random matrix should be: its parts, its table, and its cells or what is wrong with it. */
function expectation({ axes, exclude, include, sample, repeat }: DrawnSpec) {
  const eager = axes.map((axis) => axis.eager);
  const variables = new Set(eager.flatMap((values) => values.flatMap((vars) => Object.keys(vars))));
  const parts: SpecParts = {
    axes: axes.map(({ axis }) => axis),
    exclude: exclude.filter((item) => Object.keys(item).some((name) => variables.has(name))),
    include,
    ...(sample === undefined ? {} : { sample }),
    repeat,
  };
  const all = eagerCells(eager, {}).length;
  const useless = (parts.exclude ?? []).filter(
    (item) =>
      Object.keys(item).some((name) => !variables.has(name)) ||
      eagerCells(eager, { exclude: [item] }).length === all,
  );
  const cells = eagerCells(eager, parts);
  const errors = useless.map(() => 'matrix.exclude-nothing');
  if (errors.length === 0 && cells.length === 0) errors.push('matrix.empty');
  const table = axes.find((axis) => axis.table !== undefined)?.table;
  return { parts, cells, errors, files: new MemoryFiles(table === undefined ? {} : { 't.jsonl': table }) };
}

/** Prepares it and, where it is good, asks it something; otherwise the codes of what is wrong. */
async function ask<T>(
  { parts, files }: ReturnType<typeof expectation>,
  question: (matrix: Matrix) => Promise<T>,
): Promise<T | string[]> {
  const prepared = await prepareMatrix(specOf(parts), files, 'p.yaml');
  return prepared.ok ? await question(prepared.value) : prepared.error.map(({ code }) => code);
}

describe('the matrix against an eager reference', () => {
  it('gives the same cells, and their correct number', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async (spec) => {
        const expected = expectation(spec);
        const { cells, errors } = expected;
        const answer = await ask(expected, async (matrix) => ({
          cells: await cellsOf(matrix),
          counted: matrix.cellCount,
          chosen: await matrix.chosen(),
        }));
        expect(answer).toEqual(
          errors.length > 0 ? errors : { cells, counted: cells.length, chosen: cells.length },
        );
      }),
      { numRuns: 80, seed: 20_261 },
    );
  });

  it('chooses the same cells, with the numbers that they have without a selection', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, selection, async (spec, wanted) => {
        const expected = expectation(spec);
        const cells = eagerSelection(expected.cells, wanted);
        const answer = await ask(expected, async (matrix) => ({
          cells: await cellsOf(matrix, wanted),
          chosen: await matrix.chosen(wanted),
        }));
        expect(answer).toEqual(
          expected.errors.length > 0 ? expected.errors : { cells, chosen: cells.length },
        );
      }),
      { numRuns: 80, seed: 20_262 },
    );
  });

  it('is partitioned by its shards', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, fc.integer({ min: 1, max: 5 }), async (spec, of) => {
        const expected = expectation(spec);
        const answer = await ask(expected, async (matrix) => {
          const shards: Cell[] = [];
          for (let index = 1; index <= of; index++) {
            shards.push(...(await cellsOf(matrix, { shard: { index, of } })));
          }
          return shards.sort((x, y) => x.number - y.number);
        });
        expect(answer).toEqual(expected.errors.length > 0 ? expected.errors : expected.cells);
      }),
      { numRuns: 30, seed: 20_263 },
    );
  });
});
