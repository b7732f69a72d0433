import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Value } from '../../../src/pipeline/values/value.ts';
import { prepareMatrix } from '../../../src/plan/matrix/matrix.ts';
import { MemoryFiles } from '../../pipeline/table-port.ts';
import { eagerCells, eagerSelection } from './reference.ts';
import { cellsOf, listed, matrixOf, ranged, rowed, type SpecParts, specOf, varsOf } from './spec.ts';

const animals: readonly Value[] = ['fox', 'owl', { name: 'lynx', legs: 4 }, 7, null];
const seeds = [1, 1.5, 2, 2.5, 3, 3.5];
const rows = [
  { scene: 'dusk', light: 'low' },
  { scene: 'noon', light: 'high' },
  { scene: 'night', light: 'low' },
];
const table = `scene,light\n${rows.map(({ scene, light }) => `${scene},${light}\n`).join('')}`;
const axes = [listed('animal', animals), ranged('seed', 1, 3.5, 0.5), rowed('t.csv', ['scene', 'light'])];
const eagerAxes = [animals.map((animal) => ({ animal })), seeds.map((seed) => ({ seed })), rows];

/** Names values that the axes have, so that it matches some of their cells. */
const partial = fc.record(
  {
    animal: fc.constantFrom<Value>('fox', 'owl', { name: 'lynx' }, { legs: '4' }, '7', null),
    seed: fc.constantFrom<Value>(1, '1.5', 2, '3.5'),
    scene: fc.constantFrom('dusk', 'noon', 'night'),
    light: fc.constantFrom('low', 'high'),
  },
  { requiredKeys: [] },
);
const extra = fc.record(
  { note: fc.constantFrom('a', 'b', 'c'), rank: fc.integer({ min: 1, max: 3 }) },
  { requiredKeys: [] },
);
const included = fc.tuple(partial, extra).map(([some, more]) => ({ ...some, ...more }));

describe('excludes and includes that match', () => {
  it('remove and extend the right cells, for any number of them, in any selection and sample', async () => {
    const law = fc.asyncProperty(
      fc.array(partial, { maxLength: 4 }),
      fc.array(included, { maxLength: 11 }),
      fc.option(fc.record({ count: fc.integer({ min: 1, max: 40 }), seed: fc.nat(9) }), { nil: undefined }),
      fc.constantFrom('animal', 'seed', 'scene', 'note', 'animal.name'),
      fc.constantFrom('fox', '2', '3.5', 'dusk', 'b', 'lynx'),
      async (exclude, include, sample, axis, value) => {
        const parts: SpecParts = { axes, exclude, include, ...(sample === undefined ? {} : { sample }) };
        const prepared = await prepareMatrix(specOf(parts), new MemoryFiles({ 't.csv': table }), 'p.yaml');
        // An exclude of a scene with the light of another one matches nothing, and some leave nothing.
        fc.pre(prepared.ok);
        const cells = eagerCells(eagerAxes, parts);
        expect(await cellsOf(prepared.value)).toEqual(cells);
        expect(prepared.value.cellCount).toBe(cells.length);
        const filters = [{ axis, value }];
        const chosen = eagerSelection(cells, { filters });
        expect(await cellsOf(prepared.value, { filters })).toEqual(chosen);
        expect(await prepared.value.chosen({ filters })).toBe(chosen.length);
      },
    );
    await fc.assert(law, { seed: 20_266, numRuns: 120 });
  });

  it('are matched with the numbers of a range', async () => {
    const matrix = await matrixOf({
      axes: [ranged('seed', 1, 6), listed('a', ['x', 'y'])],
      exclude: [{ seed: 2 }, { seed: '4', a: 'x' }, { seed: 6, a: 'y' }],
    });
    expect(matrix.cellCount).toBe(8);
    expect((await cellsOf(matrix)).map(({ vars }) => [vars['seed'], vars['a']])).toEqual([
      [1, 'x'],
      [1, 'y'],
      [3, 'x'],
      [3, 'y'],
      [4, 'y'],
      [5, 'x'],
      [5, 'y'],
      [6, 'x'],
    ]);
  });

  it('read a member of a number as null', async () => {
    const range = [ranged('seed', 1, 2)];
    const include = [
      { seed: { x: null }, note: 'all' },
      { seed: { x: 1 }, note: 'none' },
    ];
    expect(await varsOf({ axes: range, include })).toEqual([
      { seed: 1, note: 'all' },
      { seed: 2, note: 'all' },
      { seed: { x: 1 }, note: 'none' },
    ]);
  });

  it('merge in their order, and later ones win', async () => {
    const include = [
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((name, at) => ({ seed: 1, [name]: at, last: name })),
      { seed: 2, last: 'z' },
    ];
    expect(await varsOf({ axes: [ranged('seed', 1, 2)], include })).toEqual([
      { seed: 1, a: 0, b: 1, c: 2, d: 3, e: 4, f: 5, last: 'f' },
      { seed: 2, last: 'z' },
    ]);
  });
});

describe('filters of one axis', () => {
  it.each([[listed('n', [1, 2])], [ranged('n', 1, 2)]])(
    'apply both to its value and to a member: %j',
    async (axis) => {
      const matrix = await matrixOf({ axes: [axis] });
      const chosen = (...names: readonly string[]) =>
        matrix.chosen({ filters: names.map((name) => ({ axis: name, value: '2' })) });
      expect([await chosen('n'), await chosen('n.x'), await chosen('n', 'n.x')]).toEqual([1, 0, 0]);
    },
  );
});
