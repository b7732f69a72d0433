import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/pipeline/values/value.ts';
import { MemoryFiles } from '../../pipeline/table-port.ts';
import { eagerCells } from './reference.ts';
import { cellsOf, listed, matrixOf, ranged, rowed, type SpecParts, varsOf } from './spec.ts';

const drawnOf = async (parts: SpecParts, files?: MemoryFiles): Promise<string[]> =>
  (await varsOf(parts, files)).map((vars) => canonicalJson(vars));

const animals = Array.from({ length: 40 }, (_, index) => `animal ${index}`);
const axes = [listed('animal', animals), ranged('seed', 1, 25)];
const sample = { count: 50, seed: 7 };

describe('a sample', () => {
  it('has the requested number of different cells, in plan order', async () => {
    const all = await drawnOf({ axes });
    const drawn = await drawnOf({ axes, sample });
    expect(new Set(drawn).size).toBe(50);
    expect(drawn).toEqual(all.filter((vars) => drawn.includes(vars)));
  });

  it('contains all cells if there are not more than it asks for', async () => {
    expect(await drawnOf({ axes, sample: { count: 1000, seed: 1 } })).toEqual(await drawnOf({ axes }));
  });

  it('differs by seed, and is the same for the same seed', async () => {
    const first = await drawnOf({ axes, sample });
    expect(await drawnOf({ axes, sample })).toEqual(first);
    const other = await drawnOf({ axes, sample: { count: 50, seed: 8 } });
    expect(other.filter((vars) => first.includes(vars)).length).toBeLessThan(15);
  });

  it('does not depend on the order of the axes or of their values', async () => {
    const turned = [ranged('seed', 25, 1, -1), listed('animal', animals.toReversed())];
    expect((await drawnOf({ axes: turned, sample })).sort()).toEqual(
      (await drawnOf({ axes, sample })).sort(),
    );
  });

  it('does not depend on whether values are listed, in a range or in rows', async () => {
    const files = new MemoryFiles({ 't.csv': `animal\n${animals.join('\n')}\n` });
    const others = [
      rowed('t.csv', ['animal']),
      listed(
        'seed',
        Array.from({ length: 25 }, (_, index) => String(index + 1)),
      ),
    ];
    const asText = (drawn: string[]) => drawn.map((vars) => vars.replaceAll('"', ''));
    expect(asText(await drawnOf({ axes: others, sample }, files))).toEqual(
      asText(await drawnOf({ axes, sample })),
    );
  });

  it('changes by at most one when a cell is added or removed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 999 }),
        fc.integer({ min: 1, max: 60 }),
        async (cell, count) => {
          const parts = { axes, sample: { count, seed: 7 } };
          const whole = await drawnOf(parts);
          const gone = { animal: animals[cell % 40] as string, seed: Math.floor(cell / 40) + 1 };
          const without = await drawnOf({ ...parts, exclude: [gone] });
          const added = await drawnOf({ ...parts, include: [{ animal: 'lynx', seed: cell }] });
          expect(without.filter((vars) => !whole.includes(vars)).length).toBeLessThanOrEqual(1);
          expect(whole.filter((vars) => !without.includes(vars)).length).toBeLessThanOrEqual(1);
          expect(added.filter((vars) => !whole.includes(vars)).length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 60, seed: 20_264 },
    );
  });

  it('is of cells of the plan, beside excludes and added includes', async () => {
    const parts: SpecParts = {
      axes: [listed('animal', ['fox', 'owl', 'lynx']), ranged('seed', 1, 3)],
      exclude: [{ animal: 'owl' }, { animal: 'fox', seed: 2 }],
      include: [
        { animal: 'wolf', seed: 7 },
        { animal: 'bear', seed: 8 },
      ],
    };
    const all = await drawnOf(parts);
    for (let count = 1; count < all.length; count += 1)
      for (const seed of [1, 2, 3, 4, 5]) {
        const drawn = await drawnOf({ ...parts, sample: { count, seed } });
        expect(drawn).toHaveLength(count);
        expect(drawn).toEqual(all.filter((vars) => drawn.includes(vars)));
      }
  });

  it('can consist of the cells that includes add', async () => {
    const include = ['lynx', 'wolf', 'bear'].map((animal) => ({ animal, seed: 0 }));
    const parts = { axes: [listed('animal', ['fox', 'owl']), ranged('seed', 1, 2)], include };
    const all = await drawnOf(parts);
    const met = new Set<string>();
    for (let seed = 0; seed < 100; seed++) {
      const drawn = await drawnOf({ ...parts, sample: { count: 3, seed } });
      expect(drawn).toEqual(all.filter((vars) => drawn.includes(vars)));
      expect(drawn).toHaveLength(3);
      for (const vars of drawn) met.add(vars);
    }
    expect(met).toEqual(new Set(all));
  });

  it('has the lowest ranks, and the first cells among equal ones, for any counts', async () => {
    const law = fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 0, maxLength: 12 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 150 }),
      fc.integer({ min: -9, max: 99 }),
      async (others, seeds, count, seed) => {
        const values = ['a', ...others];
        const parts = {
          axes: [listed('v', values), ranged('n', 1, seeds)],
          exclude: [{ v: 'a', n: 1 }],
          include: [{ v: 'z' }, { v: 'z', n: 0 }],
          sample: { count, seed },
        };
        const eager = eagerCells(
          [values.map((v) => ({ v })), Array.from({ length: seeds }, (_, index) => ({ n: index + 1 }))],
          parts,
        );
        expect(await cellsOf(await matrixOf(parts))).toEqual(eager);
      },
    );
    await fc.assert(law, { seed: 20_265, numRuns: 150 });
  });

  it('is not changed by variables that an include adds to some cells', async () => {
    const noted = await varsOf({ axes, sample, include: [{ animal: 'animal 3', note: 'shy' }] });
    const bare = noted.map(({ animal, seed }) =>
      canonicalJson({ animal: animal ?? null, seed: seed ?? null }),
    );
    expect(bare).toEqual(await drawnOf({ axes, sample }));
  });

  it('draws every cell about as often as any other', async () => {
    const small = [ranged('a', 1, 5), ranged('b', 1, 4)];
    const hits = new Map<string, number>();
    for (let seed = 0; seed < 2000; seed++) {
      for (const vars of await drawnOf({ axes: small, sample: { count: 5, seed } })) {
        hits.set(vars, (hits.get(vars) ?? 0) + 1);
      }
    }
    // 2000 draws of 5 of 20: 500 each, with a standard deviation of about 19.
    expect(hits.size).toBe(20);
    for (const count of hits.values()) expect(Math.abs(count - 500)).toBeLessThan(100);
  });

  it('comes before repeat', async () => {
    const matrix = await matrixOf({ axes, sample, repeat: 3 });
    expect(matrix.cellCount).toBe(150);
  });

  it('stops when it is aborted', async () => {
    const matrix = await matrixOf({ axes: [ranged('a', 1, 1e8)], sample });
    const reason = new Error('enough');
    const controller = new AbortController();
    const reading = matrix.cells({}, controller.signal).next();
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });
});
