import { hash } from 'node:crypto';
import type { Cell } from '../plan/cell.ts';
import type { Artifact, JobRecord } from '../plan/job.ts';
import { describedText, textOutputs } from '../plan/resolve/reply.ts';
import type { Slot } from '../plan/slot.ts';

/** One output of a job: a file, or a text, which the record has. */
export interface RowOutput extends Omit<Artifact, 'file'> {
  /** Absent: no file was made of it. */
  readonly file?: string;
}

/** One row of the manifest before it becomes text: a slot, one of its outputs, and its place among the others. */
export interface ManifestRow {
  readonly cell: Cell;
  readonly slot: Slot;
  /** The flags of the run chose this slot; false: it is here because it has a result. */
  readonly chosen: boolean;
  /** Absent when the slot has no output, or none that is kept. */
  readonly artifact?: RowOutput;
  /** A grid whose frames have the rows behind this one. */
  readonly isCut?: true;
  /** Which frame of the grid before it, from 1. */
  readonly frame?: number;
  /** A slot with several outputs has several rows. */
  readonly firstOfSlot: boolean;
  /** The first row of this job in the whole manifest: the only one that shows its tokens and its cost. */
  readonly firstOfJob: boolean;
  /** An earlier slot has the same job. */
  readonly sharesJob?: true;
  /** A job that it comes from is, or is to be, redone; then its own result does not stand for good either. */
  readonly mayChange?: true;
  /** An earlier row shows the tokens and the cost of its job. */
  readonly countedBefore?: true;
  /** The service's task whose button was pressed. */
  readonly parentTaskId?: string;
}

/**
 * The outputs of a job in order: its files, and the texts of its usable reply that are no files; behind a grid its frames.
 *
 * @param wanted what the slot wants: its texts, as some other slot may, and the frames, whoever else wants them
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
  // While a job is made again, it shows the result that stands.
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
