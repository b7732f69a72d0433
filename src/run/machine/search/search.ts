import type { Attempt, JobRecord } from '../../../plan/job.ts';
import type { Task } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import { type Job, type JobContext, type JobStep, type Want } from '../job.ts';
import { withAdoptedTask } from '../poll/poll.ts';
import { retryFetch } from '../retry/retry.ts';
import { attemptOf, rest, settle } from '../transition.ts';
import { hasNoListing } from './listing.ts';
import { unusedTask } from './own-tasks.ts';

/**
 * A submission that was answered by 504 and its like may have made a task all the same. Where the gateway lists its tasks, the job's task is
 * looked for by its tag before the request is sent once more, so that nothing is paid twice that can be found.
 */

/** A want of its own each time: by that a job keeps its place in line. */
const search = (): Want => ({ kind: 'search' });

/** True while a task may exist that nobody has looked for since the last submission that may have made one. */
export const mustSearch = (
  { record: { doubtful, modal }, searched }: Job,
  { searches }: Pick<JobContext, 'searches'>,
): boolean => searches && modal === undefined && doubtful?.since !== undefined && searched !== doubtful.count;

/** What comes before a further submission. */
export const beforeSubmitting = (job: Job, context: JobContext): Want =>
  mustSearch(job, context) ? search() : { kind: 'submit' };

/**
 * The tasks that the service lists for the job have come, or the reason why not.
 *
 * @param result tasks that can be what became of its submissions, the one to take on first
 */
export function taskSearched(job: Job, result: ServiceResult<readonly Task[]>, context: JobContext): JobStep {
  const { record } = job;
  const { now } = context;
  if (!result.ok) {
    const { error } = result;
    if (hasNoListing(result)) return notFound(job, context);
    return retryFetch(job, error, search(), context, (why) =>
      settle(job, 'in-doubt', record.error ?? why, now),
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

/** The outcome of an entry about a task that was found by its tag, and with which the job goes on. */
const found = 'found';

const entry = ({ key }: JobRecord, outcome: string, { id }: Task, at: number): Attempt =>
  attemptOf({ key, taskId: id }, at, outcome);

/** It is submitted again, or it was the last try. */
function notFound(job: Job, { retry, now }: JobContext): JobStep {
  const { record } = job;
  const { tries, error, doubtful } = record;
  if (tries >= retry.attempts && error !== undefined)
    return settle(job, 'in-doubt', error, now, { tries: 0 });
  return {
    job: { ...job, misses: 0, searched: doubtful?.count ?? 0, want: { kind: 'submit' } },
  };
}
