import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNarrowed, narrowedCells } from '../../src/manifest/cells.ts';
import type { Roots } from '../../src/manifest/roots.ts';
import type { Cell, Selection } from '../../src/plan/cell.ts';
import type { Plan } from '../../src/plan/plan.ts';

const everything: Selection = {};
const some: Selection = { limit: 1 };

/** A matrix of cells 1 to `count`, of which a selection chooses some. */
function planOf(count: number, chosen: ReadonlySet<number>) {
  const read = { all: 0, open: 0 };
  async function* cells(selection: Selection): AsyncGenerator<Cell> {
    read.open += 1;
    try {
      for (let number = 1; number <= count; number += 1) {
        if (selection === some && !chosen.has(number)) continue;
        if (selection !== some) read.all += 1;
        yield { number, vars: {} } as unknown as Cell;
      }
    } finally {
      read.open -= 1;
    }
  }
  return { plan: { matrix: { cells } } as unknown as Plan, read };
}

interface Given {
  readonly count: number;
  readonly chosen: ReadonlySet<number>;
  /** Cells in which a root of the state is found. */
  readonly roots: ReadonlySet<number>;
  /** How far to look for a root that is in no cell; absent: there is none. */
  readonly lost?: number;
  readonly size: number;
}

/** What a manifest lists of its cells, placing the roots of each before it asks for the next group. */
async function listed({ count, chosen, roots, lost, size }: Given) {
  const unplaced = new Set(roots);
  const { plan, read } = planOf(count, chosen);
  const asked: number[] = [];
  const found: { readonly number: number; readonly chosen: boolean }[] = [];
  const state = {
    get allPlaced() {
      return unplaced.size === 0 && lost === undefined;
    },
    reach: async () => {
      asked.push(found.length);
      return lost ?? count;
    },
  } as unknown as Roots;
  const sizes: number[] = [];
  for await (const group of narrowedCells(plan, some, state, size)) {
    sizes.push(group.length);
    for (const { cell, chosen: isChosen } of group) {
      if (!isChosen && state.allPlaced) continue;
      unplaced.delete(cell.number);
      found.push({ number: cell.number, chosen: isChosen });
    }
  }
  return { found, sizes, asked, read };
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);

describe('the cells of a narrowed manifest', () => {
  const given = fc.integer({ min: 0, max: 30 }).chain((count) => {
    const subset = fc.subarray(numbers(1, count)).map((cells) => new Set(cells));
    return fc.record({
      count: fc.constant(count),
      chosen: subset,
      roots: subset,
      size: fc.integer({ min: 1, max: 7 }),
    });
  });

  it('are the selected ones and all up to the last root, each once, in order, in groups of limited size', async () => {
    await fc.assert(
      fc.asyncProperty(given, async (one) => {
        const last = Math.max(0, ...one.roots);
        const { found, sizes, asked, read } = await listed(one);
        expect(found).toEqual(
          numbers(1, one.count)
            .filter((number) => number <= last || one.chosen.has(number))
            .map((number) => ({ number, chosen: one.chosen.has(number) })),
        );
        for (const size of sizes) expect(size).toBeGreaterThan(0);
        for (const size of sizes) expect(size).toBeLessThanOrEqual(one.size);
        // Only the last group, and the one before the search for the rest begins, may be smaller.
        expect(sizes.filter((size) => size < one.size).length).toBeLessThanOrEqual(1 + asked.length);
        // Of the cells that were not chosen no more are read than one group behind the last root.
        expect(read.all).toBeLessThanOrEqual(last + one.size);
        expect(read.open).toBe(0);
      }),
      { seed: 20_261_122, numRuns: 400 },
    );
  });

  it('end where no root can be found any more, which is asked once all selected cells are placed', async () => {
    await fc.assert(
      fc.asyncProperty(given, fc.integer({ min: 0, max: 40 }), async (one, lost) => {
        const { found, asked, read } = await listed({ ...one, lost });
        const lastChosen = Math.max(0, ...one.chosen);
        const last = Math.min(one.count, Math.max(lost, lastChosen));
        expect(found).toEqual(numbers(1, last).map((number) => ({ number, chosen: one.chosen.has(number) })));
        expect(asked).toEqual([lastChosen]);
        expect(read.all).toBeLessThanOrEqual(last + 1);
        expect(read.open).toBe(0);
      }),
      { seed: 20_261_122, numRuns: 400 },
    );
  });

  it('read the matrix at most one group beyond the last root', async () => {
    const { read, sizes } = await listed({
      count: 1000,
      chosen: new Set([5, 900, 901, 902]),
      roots: new Set([2, 7]),
      size: 4,
    });
    expect([read.all, sizes]).toEqual([8, [4, 4, 3]]);
  });

  it('are closed if the reader stops early', async () => {
    const { plan, read } = planOf(100, new Set([1, 50]));
    const roots = { allPlaced: false, reach: async () => 100 } as unknown as Roots;
    for await (const group of narrowedCells(plan, some, roots, 2)) {
      expect([group.length, read.open]).toEqual([2, 2]);
      break;
    }
    expect(read.open).toBe(0);
  });

  it('are closed if the matrix fails', async () => {
    const failure = new Error('The table is gone.');
    let open = 0;
    async function* cells(selection: Selection): AsyncGenerator<Cell> {
      open += 1;
      try {
        yield { number: 1, vars: {} } as unknown as Cell;
        if (selection !== some) throw failure;
        yield { number: 9, vars: {} } as unknown as Cell;
      } finally {
        open -= 1;
      }
    }
    const plan = { matrix: { cells } } as unknown as Plan;
    const roots = { allPlaced: false, reach: async () => 100 } as unknown as Roots;
    const groups = narrowedCells(plan, some, roots, 1);
    expect((await groups.next()).value).toHaveLength(1);
    await expect(groups.next()).rejects.toBe(failure);
    expect(open).toBe(0);
  });
});

it.each<[string, Selection, boolean]>([
  ['nothing', everything, false],
  ['empty lists', { filters: [], only: [] }, false],
  ['a limit', { limit: 3 }, true],
  ['a limit of none', { limit: 0 }, true],
  ['a shard', { shard: { index: 1, of: 2 } }, true],
  ['a filter', { filters: [{ axis: 'n', value: '1' }] }, true],
  ['a step', { only: ['grid'] }, true],
  ['a filter and no step', { filters: [{ axis: 'n', value: '1' }], only: [] }, true],
])('a selection of %s narrows a run: %s', (_what, selection, expected) => {
  expect(isNarrowed(selection)).toBe(expected);
});
