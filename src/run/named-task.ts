import type { JobRecord } from '../plan/job.ts';
import type { ServiceFailure } from '../service/answer.ts';
import { doubtAnswered } from './doubtful.ts';
import { become, type Job, type JobContext, type JobStep, settle } from './job.ts';

/**
 * A job in doubt whose task the user named (or a list of the service): the next look is at that. Until the service shows
 * such a task, it is only what somebody said, so the record keeps what it was before.
 *
 * @param price of one submission, where known
 */
export function taskNamed(record: JobRecord, taskId: string, price: number | undefined): JobRecord {
  const { error, cost, doubtful } = record;
  // What its button costs was counted when the dialog opened.
  const paid = record.modal === undefined ? doubtAnswered(record, price) : record;
  return become(paid, 'running', {
    taskId,
    tries: 0,
    error: undefined,
    finishedAt: undefined,
    named: {
      ...(record.taskId === undefined ? {} : { taskId: record.taskId }),
      ...(error === undefined ? {} : { error }),
      ...(cost === undefined ? {} : { cost }),
      ...(doubtful === undefined ? {} : { doubtful }),
    },
  });
}

/** The service showed the task: it is the job's own from now on. */
export const taskShown = (job: Job): Job =>
  job.record.named === undefined
    ? job
    : { ...job, record: become(job.record, job.record.status, { named: undefined }) };

const asBefore = ' It is in doubt as before: ';

/**
 * The service does not know a task that was named, and has had time to: most likely the id was mistyped. The job is in doubt
 * as it was. Undefined where it is to be looked for again, and of a task that the service itself made for the job: that is paid.
 */
export function unknownTask(job: Job, failure: ServiceFailure, context: JobContext): JobStep | undefined {
  const { named, taskId: wrong, status } = job.record;
  if (named === undefined || failure.code !== 'service.task-unknown') return undefined;
  if (job.misses + 1 < context.retry.attempts) return undefined;
  const { error, taskId, cost, doubtful } = named;
  const before = become(job.record, status, { named: undefined, taskId, cost, doubtful });
  const message = `The service does not know task ${wrong}, which was named as this job's: check the id.`;
  return settle(
    { ...job, record: before },
    'in-doubt',
    {
      ...error,
      code: 'task.unknown',
      // Named wrongly twice, it tells the last id and the first trouble.
      message: error === undefined ? message : `${message}${asBefore}${error.message.split(asBefore).at(-1)}`,
    },
    context.now,
  );
}
