import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { JobError, JobRecord, JobStatus } from '../../../plan/job.ts';
import type { ServiceFailure } from '../../../service/result.ts';
import type { Route } from '../../events.ts';
import { become, type Job, type JobContext, type JobStep, type NextRequest } from '../job.ts';
import { rest, settle } from '../transition.ts';
import { backoffMs } from './backoff.ts';
import { deferralCount, isStarved, starvedError, withDeferral } from './deferrals.ts';
import { fileError, jobError } from './service-failure.ts';

/**
 * The rules for retries. A request without a result is one of three:
 *
 * - not accepted for now (429, a full queue): `defer`. Not an attempt; it waits as long as no job is served.
 * - tried and failed in a way that may pass: `retryLater`, `retryUnread`. The record counts its tries, up to `retry.attempts`.
 * - a read of a finished task, or a download: `retryFetch`, `retrySave`. Nothing is paid again, so only the job counts them.
 */

/** Returns the record without the attempt counted on its turn: nothing was sent, or nothing was accepted. */
export const revertAttempt = (record: JobRecord): JobRecord =>
  become(record, record.status, { attempts: record.attempts - 1 });

/** Returns the job as it was before its turn. */
export const revert = (job: Job): Job => ({
  ...job,
  record: become(revertAttempt(job.record), 'pending', { submittedAt: undefined }),
});

interface Retry {
  readonly error: JobError;
  /** Shortest delay before the next try that the service asks for, ms. */
  readonly atLeastMs?: number | undefined;
  /** The request after the delay. */
  readonly next: NextRequest;
}

interface Deferral extends Retry {
  readonly route: Route;
  /** Ends a job that is never served while others are. Absent: the job fails. */
  readonly onStarved?: (starved: Job, why: JobError) => JobStep;
}

interface NextTry extends Retry {
  /** Status of the job during the delay. */
  readonly status: JobStatus;
  /** Ends the job after `retry.attempts` tries. */
  readonly onExhausted: (tries: number) => JobStep;
}

/**
 * Delays a job that its route did not accept, behind jobs with fewer deferrals. Ends a job that is deferred again and again while others
 * are served.
 *
 * @param job as it was before its turn
 */
export function defer(job: Job, { route, onStarved, ...retry }: Deferral, context: JobContext): JobStep {
  const deferred = withDeferral(job, route, context);
  if (!isStarved(deferred, route, context))
    return restAfter(deferralCount(deferred, route), deferred, retry, context);
  const why = starvedError(retry.error, deferred, route, context.now);
  return onStarved === undefined ? settle(deferred, 'failed', why, context.now) : onStarved(deferred, why);
}

/** Retries a request that failed in a way that may pass, up to `retry.attempts` times. */
export function retryLater(job: Job, retry: NextTry, context: JobContext): JobStep {
  const tries = job.record.tries + 1;
  if (tries >= context.retry.attempts) return retry.onExhausted(tries);
  const record = become(job.record, retry.status, { tries, error: retry.error });
  return restAfter(tries, { ...job, record }, retry, context);
}

/** Retries a request whose image could not be read, so that nothing was sent. */
export function retryUnread(
  job: Job,
  failure: SaveFailure,
  turn: Pick<NextTry, 'status' | 'next'>,
  context: JobContext,
): JobStep {
  const error = fileError(failure);
  const onExhausted = (): JobStep => settle(job, 'failed', error, context.now, { tries: 0 });
  if (failure.class === 'permanent') return onExhausted();
  return retryLater(job, { ...turn, error, atLeastMs: failure.retryAfterMs, onExhausted }, context);
}

/**
 * Retries a read of a finished task without a result. A clear refusal ends the reads after the tries. Any other failure may be caused by
 * the route, whose patience limits it; it ends the reads where the route serves other jobs.
 *
 * @param onGivenUp ends the job; absent: the job fails
 */
export function retryFetch(
  job: Job,
  failure: ServiceFailure,
  next: NextRequest,
  context: JobContext,
  onGivenUp = (why: JobError): JobStep => settle(job, 'failed', why, context.now),
): JobStep {
  const isRefusal = failure.class === 'permanent' || failure.code === 'service.task-unknown';
  if (isRefusal && job.misses + 1 >= context.retry.attempts) return onGivenUp(jobError(failure));
  const deferred = withDeferral(job, 'poll', context);
  return isStarved(deferred, 'poll', context)
    ? onGivenUp(starvedError(jobError(failure), deferred, 'poll', context.now))
    : fetchLater(deferred, failure, next, context);
}

/** Delays the next read of a task, longer each time. */
export function fetchLater(
  job: Job,
  failure: ServiceFailure,
  next: NextRequest,
  context: JobContext,
): JobStep {
  const misses = job.misses + Number(countsAsMiss(failure));
  const times = Math.max(1, misses, deferralCount(job, 'poll'));
  return restAfter(times, { ...job, misses }, { atLeastMs: failure.retryAfterMs, next }, context);
}

/** Whether a failed read says something about the task and counts: not one that the route or the API key prevented. */
export const countsAsMiss = ({ class: kind }: ServiceFailure): boolean =>
  kind !== 'throttle' && kind !== 'unsent' && kind !== 'stop';

/** Retries a failed download, or a download that has no link yet. */
export function retrySave(
  job: Job,
  retry: Retry,
  context: JobContext,
  attempts = context.retry.attempts,
): JobStep {
  const misses = job.misses + 1;
  return misses >= attempts
    ? settle(job, 'failed', afterAll(retry.error, misses), context.now)
    : restAfter(misses, { ...job, misses }, retry, context);
}

/** Returns the delay after this many failed tries: at least as long as the service asks for, within the patience of the run. */
export function restAfter(
  tries: number,
  job: Job,
  { atLeastMs = 0, next }: Pick<Retry, 'atLeastMs' | 'next'>,
  { retry, random, now }: JobContext,
): JobStep {
  const asked = Math.min(atLeastMs, retry.patienceMs);
  return rest(job, Math.max(asked, backoffMs(tries, retry, random)), next, now);
}

/** Returns the error of a last try, with the number of tries. */
export const afterAll = (error: JobError, count: number, what: 'tries' | 'answers' = 'tries'): JobError => ({
  ...error,
  message: `${error.message} (after ${count} ${what})`,
});

/** Returns the error of a last try, with the number of tries where there were several. */
export const afterSeveral: typeof afterAll = (error, count, what) =>
  count > 1 ? afterAll(error, count, what) : error;
