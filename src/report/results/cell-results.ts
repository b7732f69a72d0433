import type { ManifestRow } from '../../manifest/row.ts';
import type { Plan } from '../../plan/plan.ts';
import { type Advisor, adviceOn } from './advice.ts';
import { lineageIn, type PlacedSlot } from './lineage.ts';
import { type Shown, shownRow } from './result.ts';
import type { PageDetail, PageResult } from './wire.ts';

/** A row of the manifest with its result and detail for the page. */
export interface CellResult {
  readonly row: ManifestRow;
  readonly result: PageResult;
  readonly detail: PageDetail;
}

/** Settings for making results from rows. */
export interface ResultContext extends Shown, Advisor {
  readonly plan: Pick<Plan, 'slotGraph'>;
}

/**
 * Converts all rows of one cell into results, in manifest order.
 *
 * @param first index of the first of them among all results
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
  const lineageOf = lineageIn(context.plan.slotGraph.templates, placed);
  return rows.map((row, index): CellResult => {
    const { result, detail } = shownRow(row, first + index, context);
    const slot = slotOf[index] as PlacedSlot;
    const { frame } = row;
    const { lineage: ofSlot, inputs, children, ...pick } = lineageOf(slot);
    // Frames, and what is made from them, also descend from their grid.
    const from = shownFrame(rows, row);
    const before = from === -1 ? [] : [{ label: frameLabel(rows[from]), at: first + from }];
    const way =
      frame === undefined
        ? [...ofSlot.slice(0, -1), ...before, ...ofSlot.slice(-1)]
        : [...ofSlot, { label: frameLabel(row), at: first + index }];
    const made = children.filter(({ at }) => {
      const shows = shownFrame(rows, rows[at - first]);
      return frame === undefined ? shows === -1 : shows === index;
    });
    const shown = (stops: PageDetail['lineage']): PageDetail['lineage'] =>
      stops.map(({ label, at }) => ({ label: context.mask(label), at }));
    return {
      row,
      result: { ...result, ...pick },
      detail: {
        ...detail,
        ...adviceOn(row.slot, context),
        // The lineage ends with this row, even if its job has several outputs.
        lineage: shown(
          way.map((stop, at) => (at === way.length - 1 ? { ...stop, at: first + index } : stop)),
        ),
        inputs: shown(inputs),
        children: shown(frame === undefined ? [...framesBehind(rows, index, first), ...made] : made),
      },
    };
  });
}

/** Returns the label of a frame, by the number of its button on the grid. */
const frameLabel = ({ frame }: Pick<ManifestRow, 'frame'> = {}): string => `frame ${frame}`;

/** Returns the index of the first frame that the job of a row shows; -1 if it shows none. */
function shownFrame(rows: readonly ManifestRow[], row: ManifestRow | undefined): number {
  const outputs = (row?.slot.job?.request.images ?? []).flatMap((image) =>
    'job' in image && image.output !== undefined ? [image] : [],
  );
  if (outputs.length === 0) return -1;
  return rows.findIndex(
    ({ frame, artifact, slot: { job } }) =>
      frame !== undefined &&
      outputs.some((image) => image.job === job?.key && image.output === artifact?.output),
  );
}

/** Returns the frames of a grid. Their rows follow the row of the grid. */
function framesBehind(rows: readonly ManifestRow[], grid: number, first: number): PageDetail['children'] {
  const frames: { label: string; at: number }[] = [];
  for (let at = grid + 1; rows[at]?.frame !== undefined; at += 1)
    frames.push({ label: frameLabel(rows[at]), at: first + at });
  return frames;
}
