import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { JobError, JobRecord, JobStatus } from '../../../plan/job.ts';
import type { ServiceFailure } from '../../../service/result.ts';
import type { Route } from '../../events.ts';
import { become, type Job, type JobContext, type JobStep, rest, settle, type Want } from '../job.ts';
import { backoffMs } from './backoff.ts';
import { hopeless, inVain, isHopeless, timesInVain } from './deferrals.ts';
import { fileError, jobError } from './service-failure.ts';

/**
 * The one rule of retries. A request that came to nothing is one of three:
 *
 * - not taken on for now (429, a full queue): `defer`. It is no attempt, and waits for as long as nobody is served.
 * - tried, and may pass: `retryLater`, `retryUnread`. The record counts its tries, up to `retry.attempts`.
 * - a look at a finished task, or a download, without a result: `retryLook`, `retrySave`. Nothing is paid again, so only the job counts them.
 */

/** The record without the attempt that its turn counted: nothing was sent, or nothing was taken on. */
export const revertAttempt = (record: JobRecord): JobRecord =>
  become(record, record.status, { attempts: record.attempts - 1 });

/** The job as it was before its turn came. */
export const revert = (job: Job): Job => ({
  ...job,
  record: become(revertAttempt(job.record), 'pending', { submittedAt: undefined }),
});

interface Retry {
  readonly error: JobError;
  /** What the service asks for, ms: it is not tried sooner. */
  readonly atLeastMs?: number | undefined;
  /** What is wanted after the rest. */
  readonly next: Want;
}

/**
 * Puts a job off that its route did not take on, behind those that were put off less often. A job that is put off again and again
 * while others are served ends.
 *
 * @param job as it was before its turn came
 * @param starved how it ends; without: it has failed
 */
export function defer(
  job: Job,
  {
    route,
    error,
    atLeastMs,
    next,
    onStarved = (starved, why) => settle(starved, 'failed', why, context.now),
  }: Retry & {
    readonly route: Route;
    readonly onStarved?: (starved: Job, why: JobError) => JobStep;
  },
  context: JobContext,
): JobStep {
  const deferred = inVain(job, route, context);
  if (isHopeless(deferred, route, context))
    return onStarved(deferred, hopeless(error, deferred, route, context.now));
  return rest(deferred, restMs(timesInVain(deferred, route), atLeastMs, context), next, context.now);
}

/**
 * Tries a request again that failed in a way that may pass, up to `retry.attempts` times.
 *
 * @param status of the job while it waits
 * @param onExhausted how it ends after that many tries
 */
export function retryLater(
  job: Job,
  {
    status,
    error,
    atLeastMs,
    next,
    onExhausted,
  }: Retry & { readonly status: JobStatus; readonly onExhausted: (tries: number) => JobStep },
  context: JobContext,
): JobStep {
  const tries = job.record.tries + 1;
  if (tries >= context.retry.attempts) return onExhausted(tries);
  const tried = { ...job, record: become(job.record, status, { tries, error }) };
  return rest(tried, restMs(tries, atLeastMs, context), next, context.now);
}

/** A file that a request shows could not be read, so nothing was sent. */
export function retryUnread(
  job: Job,
  failure: SaveFailure,
  { status, next }: { readonly status: JobStatus; readonly next: Want },
  context: JobContext,
): JobStep {
  const error = fileError(failure);
  const failed = (): JobStep =>
    settle({ ...job, record: become(job.record, status, { tries: 0 }) }, 'failed', error, context.now);
  if (failure.class === 'permanent') return failed();
  return retryLater(
    job,
    { status, error, atLeastMs: failure.retryAfterMs, next, onExhausted: failed },
    context,
  );
}

/**
 * A look at a finished task that gave no answer. A plain no ends the looks after the tries; anything else may be trouble of the
 * route, whose patience bounds it, and ends them where others are looked at all the while.
 *
 * @param onGivenUp how the job ends; without: it has failed
 */
export function retryLook(
  job: Job,
  failure: ServiceFailure,
  next: Want,
  context: JobContext,
  onGivenUp = (why: JobError): JobStep => settle(job, 'failed', why, context.now),
): JobStep {
  const plainNo = failure.class === 'permanent' || failure.code === 'service.task-unknown';
  if (plainNo && job.misses + 1 >= context.retry.attempts) return onGivenUp(jobError(failure));
  const deferred = inVain(job, 'poll', context);
  return isHopeless(deferred, 'poll', context)
    ? onGivenUp(hopeless(jobError(failure), deferred, 'poll', context.now))
    : lookLater(deferred, failure, next, context);
}

/** Rests before the next look, ever longer. */
export function lookLater(job: Job, failure: ServiceFailure, next: Want, context: JobContext): JobStep {
  const misses = job.misses + Number(isLook(failure));
  const times = Math.max(1, misses, timesInVain(job, 'poll'));
  return rest({ ...job, misses }, restMs(times, failure.retryAfterMs, context), next, context.now);
}

/** False for a look that the route kept from happening: it says nothing about the task, and counts for nothing. */
export const isLook = (failure: ServiceFailure): boolean =>
  failure.class !== 'throttle' && failure.class !== 'unsent';

/** A download failed, or there is no link to download from yet. */
export function retrySave(
  job: Job,
  { error, atLeastMs, next }: Retry,
  context: JobContext,
  attempts = context.retry.attempts,
): JobStep {
  const misses = job.misses + 1;
  if (misses >= attempts) return settle(job, 'failed', afterAll(error, misses), context.now);
  return rest({ ...job, misses }, restMs(misses, atLeastMs, context), next, context.now);
}

/** The error of a last try, which says how many there were. */
export const afterAll = (error: JobError, count: number, what: 'tries' | 'answers' = 'tries'): JobError => ({
  ...error,
  message: `${error.message} (after ${count} ${what})`,
});

/** The same, where a single one goes without saying. */
export const afterSeveral: typeof afterAll = (error, count, what) =>
  count > 1 ? afterAll(error, count, what) : error;

/** How long to rest after a try that failed, ms. */
export const restMs = (
  tries: number,
  atLeastMs: number | undefined,
  { retry, random }: Pick<JobContext, 'retry' | 'random'>,
): number => Math.max(atLeastMs ?? 0, backoffMs(tries, retry, random));
