import type { FormerResult, JobRecord } from '../../plan/job.ts';
import { become, type JobContext, type JobStep } from './job.ts';
import { closeUnanswered, interruptedSubmit } from './retry/in-doubt.ts';
import { attemptOf } from './transition.ts';

const nothing: { readonly [Member in keyof FormerResult]: undefined } = {
  taskId: undefined,
  parentTaskId: undefined,
  from: undefined,
  kept: undefined,
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
    : become(closeUnanswered(record), 'done', {
        ...nothing,
        ...record.former,
        former: undefined,
        error: undefined,
        tries: 0,
      });

/**
 * The same, with a note of what it was to be made again from: it stays as it is beside that, and no later run tries it again but on
 * the user's word.
 *
 * @param tried the job as it was tried
 */
export const keptAsIs = (record: JobRecord, tried: JobRecord): JobRecord =>
  tried.former === undefined || tried.from === undefined
    ? record
    : { ...record, kept: { ...record.kept, ...tried.from } };

/**
 * What a new result changes in the record of a job that is made again: the former one is gone, and is counted as replaced. Some gateways
 * answer an equal submission with the task that they made before: then nothing was replaced, and that task came from what it came from.
 */
export const replacing = (
  record: JobRecord,
): Partial<{ readonly [Member in 'former' | 'redone' | 'parentTaskId']: JobRecord[Member] | undefined }> =>
  record.former === undefined
    ? {}
    : {
        former: undefined,
        ...(isSame(record, record.former)
          ? { parentTaskId: record.former.parentTaskId }
          : { redone: redoneOnce(record, record.former) }),
      };

const isSame = ({ taskId }: JobRecord, former: FormerResult): boolean =>
  taskId !== undefined && taskId === former.taskId;

/** @param result that is replaced */
export const redoneOnce = (
  { redone }: Pick<JobRecord, 'redone'>,
  { taskId, submittedAt }: Pick<JobRecord, 'taskId' | 'submittedAt'>,
): NonNullable<JobRecord['redone']> => ({
  count: (redone?.count ?? 0) + 1,
  first: redone?.first ?? {
    ...(taskId === undefined ? {} : { taskId }),
    ...(submittedAt === undefined ? {} : { submittedAt }),
  },
});

/**
 * The record as it becomes durable. Until a redo is sent, nothing of it is: a run that ends before that leaves the job done, and
 * the next one pays for another result only on the user's word. A redo that was sent, and may have made a task that nobody has seen,
 * is in doubt until it is sent again.
 */
export function durableForm(record: JobRecord): JobRecord {
  const { status, former, doubtful, error = interruptedSubmit } = record;
  if (status !== 'pending' || former === undefined) return record;
  const { since } = doubtful ?? {};
  return since === undefined
    ? asBefore(record)
    : become(record, 'in-doubt', { tries: 0, finishedAt: since, error });
}

/**
 * A redo that failed leaves the job done as it was, and says so. Not while its task may still come: that is looked at by every
 * later run.
 */
export function redoJudged(step: JobStep, { now }: JobContext): JobStep {
  const { job, attempt } = step;
  const { former, status, error } = job.record;
  if (former === undefined || status !== 'failed' || error === undefined || error.code === 'task.timeout')
    return step;
  return {
    ...step,
    job: { ...job, record: keptAsIs(asBefore(job.record), job.record) },
    attempt: attempt ?? attemptOf(job.record, now, 'redo.failed', error),
    redoError: error,
  };
}
