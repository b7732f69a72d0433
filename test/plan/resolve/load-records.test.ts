import * as fc from 'fast-check';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { ImageFile, ImageFiles } from '../../../src/plan/request/image-files.ts';
import { cellsAtOnce, inGroups, withRecords } from '../../../src/plan/resolve/load-records.ts';
import { resolveCell } from '../../../src/plan/resolve/resolve.ts';
import { all } from '../../rig/all.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { slowWork } from '../../rig/slow-work.ts';
import { button, SimulatedState } from '../simulated-state.ts';
import { Dice, randomPipeline, reply } from './random-pipeline.ts';

/** Loads from records, and notes what it was asked for. */
function loaderOf(records: ReadonlyMap<string, JobRecord>) {
  const asked: (readonly string[])[] = [];
  const load = async (keys: readonly string[]): Promise<ReadonlyMap<string, JobRecord>> => {
    asked.push(keys);
    return new Map(keys.flatMap((key) => [...records].filter(([known]) => known === key)));
  };
  return { asked, load };
}

/** Images that have to be loaded before they are known. */
function lateImages(known: { facts(path: string): ImageFile }): ImageFiles & { readonly loads: string[][] } {
  const loaded = new Map<string, ImageFile>();
  const missed = new Set<string>();
  const loads: string[][] = [];
  return {
    loads,
    facts: (path) => {
      const found = loaded.get(path);
      if (found === undefined) missed.add(path);
      return found ?? { error: { code: 'input.missing', message: 'not yet' } };
    },
    loadMissed: async () => {
      if (missed.size === 0) return false;
      loads.push([...missed]);
      for (const path of missed) loaded.set(path, known.facts(path));
      missed.clear();
      return true;
    },
  };
}

const files = {
  facts: (path: string): ImageFile =>
    path === '2.png'
      ? { error: { code: 'input.missing', message: 'no' } }
      : { sha256: `sha of ${path}`, bytes: 1 },
};

test('any pipeline resolves over records that are loaded as over records that are at hand', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), async (shape, luck) => {
      const plan = await planOf(randomPipeline(shape, { texts: true, entries: true }), undefined, files);
      const late = lateImages(files);
      const cells = await cellsOf(plan);
      const dice = new Dice(luck);
      const state = new SimulatedState();
      for (let settled = 0; settled < 12; settled += 1) {
        const open = cells.flatMap((cell) => plan.resolve(cell, state.lookup).filter(({ ready }) => ready));
        if (open.length === 0) break;
        const slot = dice.one(open);
        if (dice.below(6) === 0) state.fail(slot);
        else if (slot.kind === 'generate') reply(state, slot, dice);
        else if (slot.kind === 'describe') state.described(slot, ['a hat']);
        else
          state.done(
            slot,
            ['U1', 'U2', 'V1'].map((label) => button(label)),
          );
      }
      const { asked, load } = loaderOf(state.records);
      const loaded = await withRecords(
        cells,
        (cell, lookup) => resolveCell({ ...plan, images: late }, cell, lookup),
        load,
        late,
      );
      expect(loaded).toEqual(cells.map((cell) => plan.resolve(cell, state.lookup)));
      const keys = asked.flat();
      expect(new Set(keys).size).toBe(keys.length);
      const paths = late.loads.flat();
      expect(new Set(paths).size).toBe(paths.length);
    }),
    { seed: 20_261_122, numRuns: 40 },
  );
});

describe('work over records that are loaded', () => {
  const record = (key: string, parent?: string) =>
    ({ key, ...(parent === undefined ? {} : { parent }) }) as JobRecord;
  /** Follows parents to the first job. */
  const rootOf = (key: string, lookup: (key: string) => JobRecord | undefined): string => {
    const parent = lookup(key)?.parent;
    return parent === undefined ? key : rootOf(parent, lookup);
  };

  it('asks once for each step of the longest chain, for all items together', async () => {
    const records = new Map(
      [record('a'), record('b', 'a'), record('c', 'b'), record('x')].map((r) => [r.key, r]),
    );
    const { asked, load } = loaderOf(records);
    expect(await withRecords(['c', 'b', 'x', 'none'], rootOf, load)).toEqual(['a', 'a', 'x', 'none']);
    expect(asked).toEqual([['c', 'b', 'x', 'none'], ['a']]);
  });

  it('is done once where no job has what it misses', async () => {
    const done: string[] = [];
    const { asked, load } = loaderOf(new Map());
    await withRecords(
      ['a', 'b', 'c'],
      (key, lookup) => {
        done.push(key);
        return lookup(key);
      },
      load,
    );
    expect([done, asked]).toEqual([['a', 'b', 'c'], [['a', 'b', 'c']]]);
  });

  it('asks for no more than 1024 records at a time', async () => {
    const { asked, load } = loaderOf(new Map());
    const keys = Array.from({ length: 2500 }, (_, n) => `k${n}`);
    await withRecords([keys], (wanted, lookup) => wanted.map((key) => lookup(key)), load);
    expect(asked.map((some) => some.length)).toEqual([1024, 1024, 452]);
    expect(asked.flat()).toEqual(keys);
  });
});

describe('cells that are resolved together', () => {
  it('are fewer the more slots they have, and one at least', () => {
    expect([1, 8, 9, 100, 512, 513, 10_000].map((slotsPerCell) => cellsAtOnce({ slotsPerCell }))).toEqual([
      64, 64, 56, 5, 1, 1, 1,
    ]);
  });

  it('come in groups, of which only one is read ahead', async () => {
    let read = 0;
    const numbers = async function* (): AsyncGenerator<number> {
      for (let n = 1; n <= 7; n += 1) {
        read = n;
        yield n;
      }
    };
    for await (const group of inGroups(numbers(), 3)) expect(read).toBe(group.at(-1));
    expect(await all(inGroups(numbers(), 3))).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
    expect(await all(inGroups(numbers(), 7))).toEqual([[1, 2, 3, 4, 5, 6, 7]]);
  });
});

describe('work that is slow', () => {
  afterEach(() => vi.restoreAllMocks());

  it('gives way after each item, and ends where it is aborted then', async () => {
    const slow = slowWork();
    const items = Array.from({ length: 64 }, (_, at) => at);
    const work = withRecords(
      items,
      slow.work,
      () => Promise.resolve(new Map()),
      undefined,
      slow.abortAfter(3),
    );
    await expect(work).rejects.toThrow('heard');
    expect(slow.done()).toBe(3);
  });
});
