import { isTextKind } from '../../pipeline/kinds.ts';
import type { JobRecord, JobStatus } from '../job.ts';

/** The flags that have settled jobs tried again; they mean what they mean to a run. */
export interface RevivalFlags {
  readonly retryFailed?: { readonly code?: string };
  /** Keys of jobs to submit again. */
  readonly redo?: ReadonlySet<string> | undefined;
  readonly inDoubt?: 'hold' | 'retry';
}

/**
 * True for a job whose request was under way when an earlier run ended: nobody knows whether the request arrived, so no run may
 * resume the job at its recorded status. A confirm of a modal is no such request: the task shows whether it arrived.
 */
export const isInterrupted = ({ status, modal }: Pick<JobRecord, 'status' | 'modal'>): boolean =>
  status === 'submitting' && modal === undefined;

/**
 * The record as the next run finds it after the run that sent its request has died: a text call without an answer is made
 * again, and every other submission is in doubt. A record whose request was not under way stays as it is.
 */
export function interruptedRecord(record: JobRecord): JobRecord {
  if (record.status !== 'submitting') return record;
  return { ...record, status: isTextKind(record.kind) ? 'pending' : 'in-doubt' };
}

/** The status in which a run takes up a settled job on the user's word; undefined: it leaves the job alone. */
export function revivedStatus(
  record: JobRecord,
  flags: RevivalFlags,
  redo: ReadonlySet<string>,
): JobStatus | undefined {
  const { status, error } = record;
  if (status !== 'done' && status !== 'failed' && status !== 'in-doubt') return undefined;
  if (redo.has(record.key)) return 'pending';
  if (status === 'in-doubt') return flags.inDoubt === 'retry' ? 'pending' : undefined;
  // Where the job that uses this image is redone, its image may be another one.
  if (!isRetried(record, flags) || (isMaskError(record) && redo.size === 0)) return undefined;
  // What is already made is only downloaded.
  const isMade = record.result !== undefined && error?.code.startsWith('download.') === true;
  return isMade ? 'saving' : 'pending';
}

/** `--retry-failed` has this job tried again. */
export const isRetried = ({ status, error }: JobRecord, { retryFailed }: RevivalFlags): boolean =>
  status === 'failed' &&
  retryFailed !== undefined &&
  (retryFailed.code === undefined || retryFailed.code === error?.code);

/** The job is known by its mask's content and by what it is for, so its mask will not do the next time either. */
export const isMaskError = ({ error }: JobRecord): boolean => error?.code.startsWith('mask.') === true;
