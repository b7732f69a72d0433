import { createHash } from 'node:crypto';
import { manifestColumns, rowFields } from '../../manifest/columns.ts';
import type { ManifestRow, RowOutput } from '../../manifest/row.ts';
import { manifestRows } from '../../manifest/rows.ts';
import { textFields } from '../../manifest/text-columns.ts';
import { canonicalJson } from '../../pipeline/values/value.ts';
import type { Cell, Selection } from '../../plan/cell.ts';
import { needsOf } from '../../plan/job.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Slot, SlotStatus } from '../../plan/slot.ts';
import type { StateReader } from '../../state/reader.ts';

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

/** A part of a data set, such as `train`, and how much of it. */
interface SplitPart {
  readonly name: string;
  /** Between 0 and 1; the shares of all parts add up to 1. */
  readonly share: number;
}

/**
 * The part that a cell belongs to. It follows from the cell's variables alone: an edit of the matrix moves no other cell, and the
 * repeats of a combination stay together, so that none of them is tested on what another one was trained with.
 */
function partOf({ vars }: Pick<Cell, 'vars'>, parts: readonly SplitPart[]): string {
  const hash = createHash('sha256').update('split ').update(canonicalJson(vars)).digest();
  let left = hash.readUIntBE(0, 6) / 2 ** 48;
  for (const { name, share } of parts) {
    if (left < share) return name;
    left -= share;
  }
  // Shares such as 0.1 do not add up exactly.
  return parts.at(-1)?.name ?? '';
}

/**
 * What a step says about the images of a cell: the first text of the call that was made from an image is its caption. A call that
 * was made from none of them describes them all, where the cell has no other one.
 *
 * @param rows of one cell
 * @param step the one that describes; absent: none does
 */
function captionsOf(
  rows: readonly ManifestRow[],
  step: string | undefined,
): { get(slot: Slot): string | undefined } {
  const byJob = new Map<string, string>();
  const texts: string[] = [];
  for (const { slot, artifact } of step === undefined ? [] : rows) {
    if (slot.step !== step || slot.status !== 'done') continue;
    const { text } = textFields(slot, artifact);
    if (text === undefined) continue;
    texts.push(text);
    const made = slot.record ?? slot.job;
    if (made === undefined) continue;
    for (const key of needsOf(made)) if (!byJob.has(key)) byJob.set(key, text);
  }
  const forAll = byJob.size === 0 && texts.length === 1 ? texts[0] : undefined;
  return { get: ({ job }) => (job === undefined ? undefined : byJob.get(job.key)) ?? forAll };
}
