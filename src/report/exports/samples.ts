import { manifestColumns, rowFields } from '../../manifest/columns.ts';
import type { ManifestRow, RowOutput } from '../../manifest/row.ts';
import { manifestRows } from '../../manifest/rows.ts';
import type { Cell, Selection } from '../../plan/cell.ts';
import type { Plan } from '../../plan/plan.ts';
import type { SlotStatus } from '../../plan/slot.ts';
import type { StateReader } from '../../state/reader.ts';
import { captionsOf } from './captions.ts';
import { partOf, type SplitPart } from './split.ts';

/** One row of a data set. */
export interface Sample {
  readonly cell: Cell;
  /** As the manifest has them, `text` being the caption where one was asked for. */
  readonly fields: readonly string[];
  /** The part of the data set that it belongs to; empty where that has no parts. */
  readonly part: string;
  /** What the row stands for; absent where there is no result. */
  readonly output?: RowOutput;
  /** Key of the job; absent while the request is not known. */
  readonly job?: string;
  /** What a caption says, or the prompt; the text of a text. */
  readonly caption: string;
}

/** What is taken of a run. */
export interface Choice {
  readonly selection: Selection;
  /** Leaves out results of cells that the selection did not choose. */
  readonly onlySelected: boolean;
  /** Rows of these statuses. */
  readonly statuses: ReadonlySet<SlotStatus>;
  /** Rows of these steps; absent: of every step. */
  readonly steps?: ReadonlySet<string>;
  /** Rows of these jobs, by key; absent: of every job. */
  readonly jobs?: Pick<ReadonlySet<string>, 'has'>;
  /** The step whose texts describe images: no rows, but the `text` of the images that it was shown. */
  readonly captionStep?: string;
  /** Leaves out grids that were cut: their frames are there. */
  readonly withoutGrids?: boolean;
  readonly parts: readonly SplitPart[];
}

/** Rows that are not in a data set, and why: rows by the reason. */
export class LeftOut {
  readonly statuses = new Map<SlotStatus, number>();
  /** Images that the step of captions says nothing about; they are there, without a text. */
  uncaptioned = 0;
  /** Grids whose frames are there in their stead. */
  grids = 0;

  add(status: SlotStatus): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}

const textColumn = manifestColumns.indexOf('text');

/** The rows of a data set in plan order, the cells of a group in memory at a time. Applies `redact` to every field. */
export async function* samples(
  plan: Plan,
  choice: Choice,
  reader: Pick<StateReader, 'many' | 'rootKeys'>,
  leftOut: LeftOut,
  redact: (text: string) => string,
  signal?: AbortSignal,
): AsyncGenerator<Sample> {
  const { variables } = plan.matrix;
  for await (const rows of rowsByCell(manifestRows(plan, choice.selection, reader, signal))) {
    const captions = captionsOf(rows, choice.captionStep);
    for (const row of rows) {
      const { slot, artifact, cell, chosen } = row;
      if ((choice.onlySelected && !chosen) || slot.step === choice.captionStep) continue;
      if (choice.steps?.has(slot.step) === false) continue;
      if (choice.jobs !== undefined && (slot.job === undefined || !choice.jobs.has(slot.job.key))) continue;
      if (!choice.statuses.has(slot.status)) {
        leftOut.add(slot.status);
        continue;
      }
      if (choice.withoutGrids && row.isCut) {
        leftOut.grids += 1;
        continue;
      }
      const fields = rowFields(row, variables).map(redact);
      const isFile = artifact?.file !== undefined;
      const caption = isFile && choice.captionStep !== undefined ? captions.get(slot) : undefined;
      if (isFile && choice.captionStep !== undefined) {
        if (caption === undefined) leftOut.uncaptioned += 1;
        fields[textColumn] = redact(caption ?? '');
      }
      const said = fields[textColumn] ?? '';
      yield {
        cell,
        fields,
        part: choice.parts.length === 0 ? '' : partOf(cell, choice.parts),
        ...(artifact === undefined ? {} : { output: artifact }),
        ...(slot.job === undefined ? {} : { job: slot.job.key }),
        // A caption that is missing leaves the prompt, which says what was asked for.
        caption: said === '' && isFile ? withoutParameters(redact(slot.prompt ?? '')) : said,
      };
    }
  }
}

/**
 * A prompt without what says nothing of what is to be seen: the parameters at its end (`--ar 3:2 --v 6.1`, also with the dash that text
 * programs make of two hyphens, or with a blank between them), links of images, `/imagine prompt:`, and models of other programs.
 */
export function withoutParameters(prompt: string): string {
  const [words = ''] = prompt.split(/(?<!\S)(?:--|—|–|-\s-)[a-z]/i);
  return words
    .replace(/^\s*\/imagine\b(?:\s+prompt\b)?\s*:?/i, '')
    .replaceAll(/(?<!\S)<?https?:\/\/[^\s<>]+>?/gi, '')
    .replaceAll(/,?[ \t]{0,9}<(?:lora|lyco|hypernet|embedding):[^<>]{0,200}>/gi, '')
    .replace(/^[\s,]+/, '')
    .trim();
}

/** Rows of one cell come one after another; the slots of a cell are bounded. */
async function* rowsByCell(rows: AsyncIterable<ManifestRow>): AsyncGenerator<readonly ManifestRow[]> {
  let held: ManifestRow[] = [];
  for await (const row of rows) {
    if (held.length > 0 && held[0]?.cell.number !== row.cell.number) {
      yield held;
      held = [];
    }
    held.push(row);
  }
  if (held.length > 0) yield held;
}
