import { createHash } from 'node:crypto';
import { manifestColumns, rowFields } from '../../manifest/columns.ts';
import type { ManifestRow, RowOutput } from '../../manifest/row.ts';
import { manifestRows, rowsByCell } from '../../manifest/rows.ts';
import { textFields } from '../../manifest/text-columns.ts';
import { canonicalJson } from '../../pipeline/values/value.ts';
import type { Cell, Selection } from '../../plan/cell.ts';
import { type JobSpec, needsOf } from '../../plan/job.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Slot, SlotStatus } from '../../plan/slot.ts';
import type { StateReader } from '../../state/reader.ts';

/** One row of a data set. */
export interface Sample {
  readonly cell: Cell;
  /** Fields as in the manifest. The `text` of an image is its caption if captions were requested. */
  readonly fields: readonly string[];
  /** Name of the part that the row belongs to; empty in a data set without parts. */
  readonly part: string;
  /** Result of the row; absent if there is none. */
  readonly output?: RowOutput;
  /** Key of the job; absent while the request is unknown. */
  readonly job?: string;
  /** Caption of an image, or else its prompt; of a text the text itself. */
  readonly caption: string;
}

/** Which rows of a run a data set takes. */
export interface Choice {
  readonly selection: Selection;
  /** Whether results of cells outside the selection are left out. */
  readonly onlySelected: boolean;
  /** Statuses of the rows to take. */
  readonly statuses: ReadonlySet<SlotStatus>;
  /** Steps of the rows to take; absent: all steps. */
  readonly steps?: ReadonlySet<string>;
  /** Keys of the jobs whose rows are taken; absent: all jobs. */
  readonly jobs?: Pick<ReadonlySet<string>, 'has'>;
  /** Name of the step whose texts describe images. Its rows are left out; its texts become the `text` of the images. */
  readonly captionStep?: string;
  /** Whether grids are left out when their frames are in the run. */
  readonly withoutGrids?: boolean;
  readonly parts: readonly SplitPart[];
}

/** Counts of rows left out of a data set, by reason. */
export class LeftOut {
  readonly statuses = new Map<SlotStatus, number>();
  /** Number of images for which the caption step has no text. They are in the data set. */
  uncaptioned = 0;
  /** Number of grids left out because their frames are in the data set. */
  grids = 0;

  add(status: SlotStatus): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}

const textColumn = manifestColumns.indexOf('text');

/** Yields the rows of a data set in plan order, with the rows of one group of cells in memory. Every field passes through `redact`. */
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
      const caption =
        isFile && choice.captionStep !== undefined ? captions.get(slot, artifact.output) : undefined;
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
        // Without a caption the prompt says what was requested.
        caption: said === '' && isFile ? withoutParameters(redact(slot.prompt ?? '')) : said,
      };
    }
  }
}

/**
 * Removes from a prompt what does not describe the picture: parameters at the end (`--ar 3:2 --v 6.1`, also with a dash or `- -` for the
 * two hyphens), links of images, `/imagine prompt:`, and model tags of other programs.
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

interface SplitPart {
  readonly name: string;
  /** Between 0 and 1; the shares of all parts have the sum 1. */
  readonly share: number;
}

/**
 * Returns the part of a cell. It depends only on the variables of the cell: an edit of the matrix moves no other cell, and repeats of a
 * combination stay in one part, so that no test row repeats a training row.
 */
function partOf({ vars }: Pick<Cell, 'vars'>, parts: readonly SplitPart[]): string {
  const hash = createHash('sha256').update('split ').update(canonicalJson(vars)).digest();
  let left = hash.readUIntBE(0, 6) / 2 ** 48;
  for (const { name, share } of parts) {
    if (left < share) return name;
    left -= share;
  }
  // Rounding may leave a rest, for example with shares of 0.1.
  return parts.at(-1)?.name ?? '';
}

/**
 * Finds the captions of the images of a cell. The caption of an image is the first text from a call that used it alone (a frame of its
 * grid), else from one that used all images of its job. If the cell has a
 * single text, from a call that used no image, this text describes all images.
 *
 * @param rows of one cell
 * @param step that describes images; absent: no captions
 */
function captionsOf(
  rows: readonly ManifestRow[],
  step: string | undefined,
): { get(slot: Slot, output: number): string | undefined } {
  const byImage = new Map<string, string>();
  const texts: string[] = [];
  for (const { slot, artifact } of step === undefined ? [] : rows) {
    if (slot.step !== step || slot.status !== 'done') continue;
    const { text } = textFields(slot, artifact);
    if (text === undefined) continue;
    texts.push(text);
    const made = slot.record ?? slot.job;
    if (made === undefined) continue;
    for (const image of imagesOf(made)) if (!byImage.has(image)) byImage.set(image, text);
  }
  const forAll = byImage.size === 0 && texts.length === 1 ? texts[0] : undefined;
  return {
    get: ({ job }, output) =>
      (job && (byImage.get(imageName(job.key, output)) ?? byImage.get(imageName(job.key)))) ?? forAll,
  };
}

/** The images that a call used: of a job all, or one output. */
function imagesOf(made: Pick<JobSpec, 'parent' | 'inputs' | 'request'>): readonly string[] {
  const outputs = (made.request.images ?? []).flatMap((image) =>
    'job' in image && image.output !== undefined ? [image] : [],
  );
  const jobs = needsOf(made).filter((key) => outputs.every(({ job }) => job !== key));
  return [...outputs.map(({ job, output }) => imageName(job, output)), ...jobs.map((job) => imageName(job))];
}

const imageName = (job: string, output?: number): string => (output === undefined ? job : `${job}-${output}`);
