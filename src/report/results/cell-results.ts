import type { ManifestRow } from '../../manifest/row.ts';
import type { Plan } from '../../plan/plan.ts';
import { type Advisor, adviceOn } from './advice.ts';
import { CellLineage, type PlacedSlot } from './lineage.ts';
import { type Shown, shownRow } from './result.ts';
import type { PageDetail, PageResult } from './wire.ts';

/** One row of the manifest with all that the page is told of it. */
export interface CellResult {
  readonly row: ManifestRow;
  readonly result: PageResult;
  readonly detail: PageDetail;
}

/** How results of a plan are made of rows. */
export interface ResultContext extends Shown, Advisor {
  readonly plan: Pick<Plan, 'slotGraph'>;
}

/**
 * All rows of one cell, in the manifest's order, as results.
 *
 * @param first the place of the first of them among all results
 */
export function cellResults(
  rows: readonly ManifestRow[],
  first: number,
  context: ResultContext,
): readonly CellResult[] {
  const placed: PlacedSlot[] = [];
  const slotOf = rows.map(({ slot, firstOfSlot }, index): PlacedSlot => {
    const before = placed.at(-1);
    if (!firstOfSlot && before !== undefined) return before;
    const next = { slot, at: first + index };
    placed.push(next);
    return next;
  });
  const lineage = new CellLineage(context.plan.slotGraph.templates, placed);
  return rows.map((row, index): CellResult => {
    const { result, detail } = shownRow(row, first + index, context);
    const slot = slotOf[index] as PlacedSlot;
    const { frame } = row;
    const { lineage: ofSlot, inputs, children } = lineage.of(slot);
    // What follows is made from the grid; a frame is made from it too.
    const way = frame === undefined ? ofSlot : [...ofSlot, { label: frameLabel(row), at: first + index }];
    const shown = (stops: PageDetail['lineage']): PageDetail['lineage'] =>
      stops.map(({ label, at }) => ({ label: context.mask(label), at }));
    return {
      row,
      result,
      detail: {
        ...detail,
        ...adviceOn(row.slot, context),
        // It ends with this very row, whichever output of its job that is.
        lineage: shown(
          way.map((stop, at) => (at === way.length - 1 ? { ...stop, at: first + index } : stop)),
        ),
        inputs: shown(inputs),
        children: shown(frame === undefined ? [...framesBehind(rows, index, first), ...children] : []),
      },
    };
  });
}

/** What its card and the manifest call it, and which of the four buttons of the grid it is. */
const frameLabel = ({ artifact, frame }: Pick<ManifestRow, 'artifact' | 'frame'> = {}): string =>
  `output ${artifact?.output} (frame ${frame})`;

/** The frames of a grid have the rows behind its own. */
function framesBehind(rows: readonly ManifestRow[], grid: number, first: number): PageDetail['children'] {
  const frames: { label: string; at: number }[] = [];
  for (let at = grid + 1; rows[at]?.frame !== undefined; at += 1)
    frames.push({ label: frameLabel(rows[at]), at: first + at });
  return frames;
}

/** The rows of a manifest, cell by cell: a cell has at most some thousand slots. */
export async function* rowsByCell(rows: AsyncIterable<ManifestRow>): AsyncGenerator<readonly ManifestRow[]> {
  let cell: ManifestRow[] = [];
  for await (const row of rows) {
    if (cell[0] !== undefined && cell[0].cell.number !== row.cell.number) {
      yield cell;
      cell = [];
    }
    cell.push(row);
  }
  if (cell.length > 0) yield cell;
}
