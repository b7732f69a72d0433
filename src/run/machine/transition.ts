import type { Attempt, JobError, JobRecord } from '../../plan/job.ts';
import { become, type Job, type JobStep, type NextRequest, type RecordChanges } from './job.ts';

/**
 * Ends a job in failure or in doubt. While one of its submissions may have made an unknown task, the job does not fail but is in doubt,
 * whatever the error.
 *
 * @param changes further changes of the record
 */
export function settle(
  job: Job,
  status: 'failed' | 'in-doubt',
  error: JobError,
  now: number,
  changes: RecordChanges = {},
): JobStep {
  const isOpen = status === 'failed' && job.record.doubtful?.since !== undefined;
  const said = isOpen
    ? {
        ...error,
        message: `An earlier try of this submission may have made a task, and may have been paid. What ended the last one: ${error.message}`,
      }
    : error;
  return {
    job: {
      ...job,
      record: become(job.record, isOpen ? 'in-doubt' : status, { ...changes, error: said, finishedAt: now }),
      nextRequest: { kind: 'nothing' },
    },
  };
}

/** Returns an entry for the history of a job. */
export const attemptOf = (
  { key, taskId }: Pick<JobRecord, 'key' | 'taskId'>,
  at: number,
  outcome: string,
  error?: JobError,
): Attempt => ({
  key,
  at,
  outcome,
  ...(taskId === undefined ? {} : { taskId }),
  ...(error === undefined ? {} : { error }),
});

/** Delays a job; `next` is its request after the delay. */
export function rest(job: Job, ms: number, next: NextRequest, now: number): JobStep {
  return { job: { ...job, nextRequest: { kind: 'wait', until: now + ms, next } } };
}
