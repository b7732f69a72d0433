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
  rounds: undefined,
  invalid: undefined,
  reusedFrom: undefined,
  resubmits: undefined,
};

/** Returns the record after a failed redo: done as before. Attempts and cost of the redo stay counted. */
export const asBefore = (record: JobRecord): JobRecord =>
  record.former === undefined
    ? record
    : become(closeUnanswered(record), 'done', {
        ...nothing,
        ...record.former,
        former: undefined,
        unheard: undefined,
        error: undefined,
        tries: 0,
      });

/**
 * Returns the record after a failed redo with the new parents noted: no later run tries the redo again unless the user asks.
 *
 * @param tried the record of the redo that was tried
 */
export const keptAsIs = (record: JobRecord, tried: JobRecord): JobRecord =>
  tried.former === undefined || tried.from === undefined
    ? record
    : { ...record, kept: { ...record.kept, ...tried.from } };

/**
 * Returns the changes that a new result makes to the record of a redone job: the former result is removed and counted as replaced. Some
 * gateways answer an equal submission with the task that they made before: then nothing is replaced, and the task keeps its parent.
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

/** Counts a redo in a record. @param result the replaced result */
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
 * Returns the record in the form that becomes durable. An unsent redo leaves no trace: a run that ends before it leaves the job done, and
 * the redo order makes the next run start it. A redo that was sent and may have made an unseen task is in doubt until it is sent again. A
 * text with answered rounds, or whose answer may still arrive, continues.
 */
export function durableForm(record: JobRecord): JobRecord {
  const { status, former, turns, unheard, doubtful, error = interruptedSubmit } = record;
  if (status !== 'pending' || former === undefined || (turns ?? unheard) !== undefined) return record;
  const { since } = doubtful ?? {};
  return since === undefined
    ? asBefore(record)
    : become(record, 'in-doubt', { tries: 0, finishedAt: since, error });
}

/**
 * Ends a failed redo: the job is done as before, and the step has the error. A redo past its deadline stays failed, because every later run
 * polls its task.
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
