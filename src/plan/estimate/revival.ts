import { isTextKind } from '../../pipeline/kinds.ts';
import type { JobRecord, JobStatus } from '../job.ts';

/** Flags that make a run retry settled jobs, with the same meaning as in a run. */
export interface RevivalFlags {
  readonly retryFailed?: { readonly code?: string };
  /** Keys of jobs to submit again. */
  readonly redo?: ReadonlySet<string> | undefined;
  readonly inDoubt?: 'hold' | 'retry';
}

/**
 * Whether a job's request was in flight when an earlier run ended: nobody knows whether it arrived, so no run may resume the job at its
 * recorded status. Confirming a modal is not such a request: the task shows whether it arrived.
 */
export const isInterrupted = ({ status, modal }: Pick<JobRecord, 'status' | 'modal'>): boolean =>
  status === 'submitting' && modal === undefined;

/**
 * Returns the record as the next run finds it after the run that sent its request was killed: a text call without an answer is repeated,
 * and any other submission is in doubt. Other records stay as they are.
 */
export function interruptedRecord(record: JobRecord): JobRecord {
  if (record.status !== 'submitting') return record;
  return { ...record, status: isTextKind(record.kind) ? 'pending' : 'in-doubt' };
}

/** Returns the status at which a run resumes a settled job because of the flags; undefined if it leaves the job alone. */
export function revivedStatus(
  record: JobRecord,
  flags: RevivalFlags,
  redo: ReadonlySet<string>,
): JobStatus | undefined {
  const { status, error } = record;
  if (status !== 'done' && status !== 'failed' && status !== 'in-doubt') return undefined;
  if (redo.has(record.key)) return 'pending';
  if (status === 'in-doubt') return flags.inDoubt === 'retry' ? 'pending' : undefined;
  // If the job that uses this image is redone, its image may be a different one.
  if (!isRetried(record, flags) || (isMaskError(record) && redo.size === 0)) return undefined;
  // A result that already exists is only downloaded.
  const isMade = record.result !== undefined && error?.code.startsWith('download.') === true;
  return isMade ? 'saving' : 'pending';
}

/** Whether `--retry-failed` retries this job. */
export const isRetried = ({ status, error }: JobRecord, { retryFailed }: RevivalFlags): boolean =>
  status === 'failed' &&
  retryFailed !== undefined &&
  (retryFailed.code === undefined || retryFailed.code === error?.code);

/** Whether the job failed because of its mask. The key contains the mask's content and use, so the mask would fail again. */
export const isMaskError = ({ error }: JobRecord): boolean => error?.code.startsWith('mask.') === true;
