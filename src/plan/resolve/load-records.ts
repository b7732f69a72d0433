import { Turns } from '../../pipeline/turns.ts';
import type { JobRecord } from '../job.ts';
import type { ImageFiles } from '../request/image-files.ts';
import type { RecordLookup } from '../slot.ts';

/** Loads the records of these keys, by key; a key that no job has is absent. */
export type RecordLoader = (keys: readonly string[]) => Promise<ReadonlyMap<string, JobRecord>>;

/** Records that are loaded together: some hundred kilobytes. */
const maxKeys = 1024;

/**
 * Does the same pure work for each of some items over records that have to be loaded. The work is done with what is at hand, what it
 * missed is loaded for all items together, and the work of an item that missed something is done again, until nothing is
 * missing. What no job has counts as it was answered: such work is not done twice.
 *
 * All records of the items are in memory at the same time: the caller bounds how many items there are.
 *
 * Between two items all else that waits has its turn: what a template does in one cell may take long.
 *
 * @param work depends on the item and on what it looks up, and changes nothing; only its last result is kept
 * @param images files that the work asks for, where these have to be loaded too
 * @returns a result for each item, in their order
 * @throws the signal's reason when it is aborted
 */
export async function withRecords<Item, Result>(
  items: readonly Item[],
  work: (item: Item, lookup: RecordLookup) => Result,
  load: RecordLoader,
  images?: ImageFiles,
  signal?: AbortSignal,
): Promise<readonly Result[]> {
  const known = new Map<string, JobRecord | undefined>();
  const results: Result[] = [];
  const turns = new Turns();
  let open = items.map((item, at) => ({ item, at, missed: [] as string[] }));
  while (open.length > 0) {
    for (const { item, at, missed } of open) {
      if (turns.isOver) await turns.next(signal);
      results[at] = work(item, (key) => {
        const record = known.get(key);
        if (record === undefined && !known.has(key)) missed.push(key);
        return record;
      });
    }
    const keys = [...new Set(open.flatMap(({ missed }) => missed))];
    for (let from = 0; from < keys.length; from += maxKeys) {
      const some = keys.slice(from, from + maxKeys);
      const loaded = await load(some);
      for (const key of some) known.set(key, loaded.get(key));
    }
    const hasImages = (await images?.loadMissed?.()) === true;
    open = open
      .filter(({ missed }) => hasImages || missed.some((key) => known.get(key) !== undefined))
      .map(({ item, at }) => ({ item, at, missed: [] }));
  }
  return results;
}

/** Slots that are resolved together, and cells of very few slots. */
const maxSlots = 512;
const maxCells = 64;

/** How many cells of a plan are resolved together: as many as keeps their records at some megabytes, whatever the plan. */
export const cellsAtOnce = ({ slotsPerCell }: { readonly slotsPerCell: number }): number =>
  Math.max(1, Math.min(maxCells, Math.floor(maxSlots / Math.max(1, slotsPerCell))));

/** Items in groups of `size`, the last one smaller; no more than one group is read ahead. */
export async function* inGroups<T>(
  items: Iterable<T> | AsyncIterable<T>,
  size: number,
): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
