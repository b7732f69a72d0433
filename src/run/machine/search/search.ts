import type { Attempt, JobRecord } from '../../../plan/job.ts';
import type { Task } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import { type Job, type JobContext, type JobStep, type NextRequest } from '../job.ts';
import { withAdoptedTask } from '../poll/poll.ts';
import { retryFetch } from '../retry/retry.ts';
import { attemptOf, rest, settle } from '../transition.ts';
import { hasNoListing } from './listing.ts';
import { unusedTask } from './own-tasks.ts';

/**
 * A submission answered with 504 or similar may still have made a task. Where the gateway lists its tasks, the job's task is searched for
 * by its tag before the request is sent again, so that no task that can be found is paid twice.
 */

/** A new object each time: its identity marks the job's place in the queue. */
const search = (): NextRequest => ({ kind: 'search' });

/** Whether a task may exist that was not searched for since the last submission that may have made one. */
export const mustSearch = (
  { record: { doubtful, modal }, searched }: Job,
  { searches }: Pick<JobContext, 'searches'>,
): boolean => searches && modal === undefined && doubtful?.since !== undefined && searched !== doubtful.count;

/** Delay of the search after a job was put in doubt, ms, because a list may be late; and the shortest interval between searches. */
export const unconfirmedSearch = { afterMs: 5000, everyMs: 30_000 } as const;

/**
 * Puts a job in doubt and plans a search for its task (`--in-doubt find`): gateways list only their newest tasks, so the next run may be
 * too late. The job stays in doubt where nothing is found.
 */
export function searchedInDoubt(
  step: JobStep,
  before: Job,
  { unconfirmedSearchInMs, now }: JobContext,
): JobStep {
  const { record, nextRequest } = step.job;
  const isNew = record.status === 'in-doubt' && before.record.status !== 'in-doubt';
  if (!isNew || nextRequest.kind !== 'nothing' || unconfirmedSearchInMs === undefined) return step;
  return { ...step, ...rest(step.job, unconfirmedSearchInMs, search(), now) };
}

/** Returns the request before a further submission: a search where one is due, or a task slot, behind jobs that were tried less often. */
export const beforeSubmitting = (job: Job, context: JobContext): NextRequest =>
  mustSearch(job, context) ? search() : { kind: 'task-slot' };

/**
 * Handles the result of a search for the job's task.
 *
 * @param result tasks that the job's submissions may have made, the one to adopt first
 */
export function taskSearched(job: Job, result: ServiceResult<readonly Task[]>, context: JobContext): JobStep {
  const { record } = job;
  const { now } = context;
  if (!result.ok) {
    const { error } = result;
    if (hasNoListing(result)) return notFound(job, context);
    return retryFetch(job, error, search(), context, (why) =>
      record.status === 'in-doubt' ? staysInDoubt(job) : settle(job, 'in-doubt', record.error ?? why, now),
    );
  }
  const [task, ...others] = result.value;
  if (task === undefined) return notFound(job, context);
  const named = withAdoptedTask(record, task.id, context.price(record));
  const { searched: _, ...known } = job;
  return {
    ...rest(
      { ...known, record: named, misses: 0 },
      context.pollInMs(named, now - (named.submittedAt ?? now)),
      { kind: 'fetch', taskId: task.id, why: 'poll' },
      now,
    ),
    attempt: entry(record, found, task, now),
    unused: others.map((one) => entry(record, unusedTask, one, now)),
  };
}

/** Outcome of a history entry for a found task that the job adopts. */
const found = 'found';

const entry = ({ key }: JobRecord, outcome: string, { id }: Task, at: number): Attempt =>
  attemptOf({ key, taskId: id }, at, outcome);

const staysInDoubt = (job: Job): JobStep => ({ job: { ...job, nextRequest: { kind: 'nothing' } } });

/** Submits the job again, or puts it in doubt after its last try, because no task was found. */
function notFound(job: Job, { retry, now }: JobContext): JobStep {
  const { record } = job;
  if (record.status === 'in-doubt') return staysInDoubt(job);
  const { tries, error, doubtful } = record;
  if (tries >= retry.attempts && error !== undefined)
    return settle(job, 'in-doubt', error, now, { tries: 0 });
  return {
    job: { ...job, misses: 0, searched: doubtful?.count ?? 0, nextRequest: { kind: 'task-slot' } },
  };
}
