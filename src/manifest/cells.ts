import type { Cell, Selection } from '../plan/cell.ts';
import type { Plan } from '../plan/plan.ts';
import type { Roots } from './roots.ts';

/** A cell of the manifest, and whether the selection chose it. */
export interface ManifestCell {
  readonly cell: Cell;
  readonly chosen: boolean;
}

/** True when some flag narrows what is run. */
export const isNarrowed = ({ limit, filters, shard, only }: Selection): boolean =>
  limit !== undefined ||
  shard !== undefined ||
  (filters !== undefined && filters.length > 0) ||
  (only !== undefined && only.length > 0);

/**
 * The cells of a narrowed manifest, in plan order and in groups: those that the selection chose, and as long as the state holds
 * results that are not placed yet, all others too. The caller places roots, cell by cell, before it asks for the next
 * group; of a group's cells that were not chosen it leaves out those behind the last root.
 *
 * @param size of a group, at most
 */
export async function* narrowedCells(
  plan: Plan,
  selection: Selection,
  roots: Roots,
  size: number,
): AsyncGenerator<readonly ManifestCell[]> {
  const chosenCells = oneByOne(plan.matrix.cells(selection));
  const allCells = oneByOne(plan.matrix.cells({}));
  let group: ManifestCell[] = [];
  try {
    let chosen = (await chosenCells.next()).value;
    let reach: number | undefined;
    while (chosen !== undefined || !roots.allPlaced) {
      if (roots.allPlaced && chosen !== undefined) {
        // Nothing is left to search for: only the chosen cells count.
        group.push({ cell: chosen, chosen: true });
        chosen = (await chosenCells.next()).value;
      } else {
        if (chosen === undefined && reach === undefined) {
          // How far to look follows from what is placed, which the caller knows once it has seen all cells before.
          if (group.length > 0) {
            yield group;
            group = [];
            continue;
          }
          reach = await roots.reach();
        }
        const cell = (await allCells.next()).value;
        if (cell === undefined || (reach !== undefined && cell.number > reach)) break;
        const isChosen = cell.number === chosen?.number;
        group.push({ cell, chosen: isChosen });
        if (isChosen) chosen = (await chosenCells.next()).value;
      }
      if (group.length < size) continue;
      yield group;
      group = [];
    }
    if (group.length > 0) yield group;
  } finally {
    await chosenCells.return(undefined);
    await allCells.return(undefined);
  }
}

async function* oneByOne(
  cells: Iterable<Cell> | AsyncIterable<Cell>,
): AsyncGenerator<Cell, undefined, undefined> {
  yield* cells;
  return undefined;
}
