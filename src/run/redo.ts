import type { FormerResult, JobRecord } from '../plan/job.ts';
import { doubtClosed } from './doubtful.ts';
import { become, type JobContext, type JobStep } from './job.ts';

/** What is kept of a finished job that is made anew, until there is a new result: it is paid, and may be all there will be. */
export const formerOf = ({
  taskId,
  modal,
  pressed,
  speed,
  resubmits,
  submittedAt,
  finishedAt,
  result,
  text,
  turns,
  invalid,
}: JobRecord): FormerResult => ({
  resubmits,
  ...(taskId === undefined ? {} : { taskId }),
  ...(modal === undefined ? {} : { modal }),
  ...(pressed === undefined ? {} : { pressed }),
  ...(speed === undefined ? {} : { speed }),
  ...(submittedAt === undefined ? {} : { submittedAt }),
  ...(finishedAt === undefined ? {} : { finishedAt }),
  ...(result === undefined ? {} : { result }),
  ...(text === undefined ? {} : { text }),
  ...(turns === undefined ? {} : { turns }),
  ...(invalid === undefined ? {} : { invalid }),
});

const nothing: { readonly [Member in keyof FormerResult]: undefined } = {
  taskId: undefined,
  modal: undefined,
  pressed: undefined,
  speed: undefined,
  submittedAt: undefined,
  finishedAt: undefined,
  result: undefined,
  text: undefined,
  turns: undefined,
  invalid: undefined,
  resubmits: undefined,
};

/** A redo came to nothing: the job is done as it was before. What was sent and paid for it stays counted. */
export const asBefore = (record: JobRecord): JobRecord =>
  record.former === undefined
    ? record
    : become(doubtClosed(record), 'done', {
        ...nothing,
        ...record.former,
        former: undefined,
        error: undefined,
        tries: 0,
      });

/**
 * The record as it becomes durable. Until a redo is sent, nothing of it is: a run that ends before that leaves the job done, and
 * the next one pays for another result only on the user's word.
 */
export const durableForm = (record: JobRecord): JobRecord =>
  record.status === 'pending' ? asBefore(record) : record;

/**
 * A redo that failed leaves the job done as it was, and says so. Not while its task may still come: that is looked at by every
 * later run.
 */
export function redoJudged(step: JobStep, { now }: JobContext): JobStep {
  const { job, attempt } = step;
  const { key, former, status, error, taskId } = job.record;
  if (former === undefined || status !== 'failed' || error === undefined || error.code === 'task.timeout')
    return step;
  return {
    ...step,
    job: { ...job, record: asBefore(job.record) },
    attempt: attempt ?? {
      key,
      at: now,
      outcome: 'redo.failed',
      ...(taskId === undefined ? {} : { taskId }),
      error,
    },
    inVain: error,
  };
}
