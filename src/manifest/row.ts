import { hash } from 'node:crypto';
import type { Cell } from '../plan/cell.ts';
import type { Artifact, JobRecord } from '../plan/job.ts';
import { describedText, textOutputs } from '../plan/resolve/reply.ts';
import type { Slot } from '../plan/slot.ts';

/** One output of a job: a file, or a text in its record. */
export interface RowOutput extends Omit<Artifact, 'file'> {
  /** Path of the file; absent: no file was made. */
  readonly file?: string;
}

/** One row of the manifest before it becomes text: a slot, one of its outputs, and its place among the others. */
export interface ManifestRow {
  readonly cell: Cell;
  readonly slot: Slot;
  /** True if the run's flags select this slot; false: it is listed because it has a result. */
  readonly chosen: boolean;
  /** The output; absent if the slot has none, or none that is kept. */
  readonly artifact?: RowOutput;
  /** True for a grid whose frames have the next rows. */
  readonly isCut?: true;
  /** Number of the frame in the preceding grid, from 1. */
  readonly frame?: number;
  /** True for the slot's first row: a slot with several outputs has several rows. */
  readonly firstOfSlot: boolean;
  /** True for the first row of this job in the whole manifest: only it shows the job's tokens and cost. */
  readonly firstOfJob: boolean;
  /** True if an earlier slot has the same job. */
  readonly sharesJob?: true;
  /** True if a job that it depends on is being redone, or will be: its own result may change too. */
  readonly mayChange?: true;
  /** True if an earlier row shows the tokens and the cost of its job. */
  readonly countedBefore?: true;
  /** What a step picked here: `best/1`; of several, a comma between them. */
  readonly picked?: string;
  /** Id of the service's task whose button was pressed. */
  readonly parentTaskId?: string;
}

/**
 * Returns the outputs of a job in order: its files, and the texts of its usable reply that are not files; frames follow their grid.
 *
 * @param wanted outputs that the slot uses: texts and frames, which other slots of the same job may not use
 */
export function outputsOf(
  record: JobRecord,
  { keep, split }: Pick<Slot, 'keep' | 'split'>,
): readonly RowOutput[] {
  const { artifacts, frames } = record;
  if (split && frames !== undefined) return [...artifacts, ...frames.files];
  if (!keep && !record.keep) return artifacts;
  const all = textsOf(record);
  if (artifacts.length === 0) return all;
  const files = new Set(artifacts.map(({ output }) => output));
  const texts = all.filter(({ output }) => !files.has(output));
  if (texts.length === 0) return artifacts;
  return [...artifacts, ...texts].sort((one, other) => one.output - other.output);
}

function textsOf({ status, former, text, result }: JobRecord): readonly RowOutput[] {
  // While a job is made again, its previous result is shown.
  if (status !== 'done' && former === undefined) return [];
  if (text !== undefined)
    return textOutputs(text).map(({ text: said, ...output }) => ({ ...output, ...sizeOf(said) }));
  const described = describedText(result);
  return described === undefined ? [] : [{ output: 1, mime: 'text/plain', ...sizeOf(described) }];
}

const sizeOf = (text: string): Pick<Artifact, 'bytes' | 'sha256'> => ({
  bytes: Buffer.byteLength(text),
  sha256: hash('sha256', text, 'hex'),
});
