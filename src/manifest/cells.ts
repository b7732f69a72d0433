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
 * The cells of a narrowed manifest, in plan order: those that the selection chose, and as long as the state holds
 * results that are not placed yet, all others too. The caller places roots in between.
 */
export async function* narrowedCells(
  plan: Plan,
  selection: Selection,
  roots: Roots,
): AsyncGenerator<ManifestCell> {
  const chosenCells = oneByOne(plan.matrix.cells(selection));
  const allCells = oneByOne(plan.matrix.cells({}));
  try {
    let chosen = (await chosenCells.next()).value;
    let reach: number | undefined;
    let last = 0;
    while (chosen !== undefined || !roots.allPlaced) {
      if (roots.allPlaced && chosen !== undefined) {
        // Nothing is left to search for: only the chosen cells count.
        if (chosen.number > last) yield { cell: chosen, chosen: true };
        last = chosen.number;
        chosen = (await chosenCells.next()).value;
        continue;
      }
      if (chosen === undefined) reach ??= Math.max(roots.reach(), last);
      const cell = (await allCells.next()).value;
      if (cell === undefined || (reach !== undefined && cell.number > reach)) return;
      const isChosen = cell.number === chosen?.number;
      yield { cell, chosen: isChosen };
      last = cell.number;
      if (isChosen) chosen = (await chosenCells.next()).value;
    }
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
