import { describe, expect, it } from 'vitest';
import { Roots } from '../../src/manifest/roots.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import { imagineRecord } from '../rig/jobs.ts';

/** A state with a root in each of these cells, and what is read of it. */
function stateOf(cells: Readonly<Record<string, number>>) {
  const loaded: string[][] = [];
  return {
    loaded,
    async *rootKeys() {
      yield* Object.keys(cells).toSorted();
    },
    many: async (keys: readonly string[]) => {
      loaded.push([...keys]);
      return new Map<string, JobRecord>(
        keys.flatMap((key) => {
          const cell = cells[key];
          if (cell === undefined) return [];
          return [[key, imagineRecord({ key, origin: { cell, step: 's', branch: '', slot: key } })] as const];
        }),
      );
    },
  };
}

describe('the roots of a state', () => {
  it('are complete once each of them is placed, whatever other keys are', async () => {
    const roots = await Roots.of(stateOf({ a: 1, b: 2 }));
    expect(roots.allPlaced).toBe(false);
    for (const key of ['x', 'a', 'y', 'a']) roots.place(key);
    expect(roots.allPlaced).toBe(false);
    roots.place('b');
    expect(roots.allPlaced).toBe(true);
    roots.place('c');
    expect(roots.allPlaced).toBe(true);
  });

  it('of an empty state are complete', async () => {
    expect((await Roots.of(stateOf({}))).allPlaced).toBe(true);
  });

  it.each([
    [[], 10_000],
    [[1], 10_000],
    [[5_000], 10_000],
    [[5_001], 10_002],
    [[9_000_000, 7], 18_000_000],
    [[7, 9_000_000], 18_000_000],
    [[3, 20_000, 6], 40_000],
  ])('that came from cells %j are looked for up to cell %i', async (cells, reach) => {
    const roots = await Roots.of(stateOf(Object.fromEntries(cells.map((cell, n) => [`k${n}`, cell]))));
    expect(await roots.reach()).toBe(reach);
  });

  it('are not searched any more once they are placed', async () => {
    const state = stateOf({ a: 40_000, b: 30_000, c: 20_000 });
    const roots = await Roots.of(state);
    expect(await roots.reach()).toBe(80_000);
    roots.place('a');
    expect(await roots.reach()).toBe(60_000);
    roots.place('b');
    roots.place('c');
    expect(await roots.reach()).toBe(10_000);
    expect(state.loaded).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c'],
    ]);
  });

  it('are loaded in groups, however many there are, and the last group counts too', async () => {
    const cells = Object.fromEntries(
      Array.from({ length: 600 }, (_, n) => [`k${String(n).padStart(3, '0')}`, n === 599 ? 70_000 : 1]),
    );
    const state = stateOf(cells);
    const roots = await Roots.of(state);
    expect(await roots.reach()).toBe(140_000);
    expect(state.loaded.map(({ length }) => length)).toEqual([256, 256, 88]);
  });
});
