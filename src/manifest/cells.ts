import type { Cell, Selection } from '../plan/cell.ts';
import type { Plan } from '../plan/plan.ts';
import type { Roots } from './roots.ts';

/** A cell of the manifest, and whether the selection contains it. */
export interface ManifestCell {
  readonly cell: Cell;
  readonly chosen: boolean;
}

/** Whether a selection leaves out any part of the plan. */
export const isNarrowed = ({ limit, filters, shard, only }: Selection): boolean =>
  limit !== undefined ||
  shard !== undefined ||
  (filters !== undefined && filters.length > 0) ||
  (only !== undefined && only.length > 0);

/**
 * Yields the cells of a narrowed manifest in groups, in plan order: the selected cells, and all others while the state holds roots without
 * a known place. The caller places the roots of each cell before it asks for the next group, and leaves out unselected cells after the last
 * root.
 *
 * @param size largest size of a group
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
        // No root is left to search, so only the selected cells count.
        group.push({ cell: chosen, chosen: true });
        chosen = (await chosenCells.next()).value;
      } else {
        if (chosen === undefined && reach === undefined) {
          // The range of the search depends on the placed roots, so the caller must have seen all earlier cells.
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
