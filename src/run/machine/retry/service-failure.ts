import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { JobError } from '../../../plan/job.ts';
import type { SubmitAnswer } from '../../../service/image-service.ts';
import type { ServiceFailure } from '../../../service/result.ts';
import { type Job, type JobContext, type JobStep, rest, settle, type Want } from '../job.ts';
import { backoffMs } from './backoff.ts';
import { hopeless, inVain, isHopeless, timesInVain } from './deferrals.ts';

/** The code of an answer that refuses a prompt for what it is (gateway 3.2). */
export const bannedPrompt = 24;

/** The error code of a submission that was refused: a prompt that is banned at once is moderated, as one whose task failed for it is. */
export const refusalCode = (code: number): string =>
  code === bannedPrompt ? 'task.moderated' : 'submit.refused';

/** What a submission says that the queue of the service had no room for. */
export const queueFull = ({ code, message }: Extract<SubmitAnswer, { kind: 'queue-full' }>): JobError => ({
  code: 'submit.refused',
  message: `The service put the submission off (code ${code}): ${message}`,
});

/**
 * A look at a finished task that gave no answer. A plain no ends the job after the tries; anything else may be trouble
 * of the route, whose patience bounds it, and ends the job where others are looked at all the while.
 */
export function missed(job: Job, failure: ServiceFailure, next: Want, context: JobContext): JobStep {
  const error = whyNoLook(job, failure, context);
  return error === undefined
    ? lookAgain(inVain(job, 'poll', context), failure, next, context)
    : settle(job, 'failed', error, context.now);
}

/** Why no further look at its task is made after this one, if none is. */
export function whyNoLook(job: Job, failure: ServiceFailure, context: JobContext): JobError | undefined {
  const plainNo = failure.class === 'permanent' || failure.code === 'service.task-unknown';
  if (plainNo && job.misses + 1 >= context.retry.attempts) return jobError(failure);
  const missing = inVain(job, 'poll', context);
  return isHopeless(missing, 'poll', context)
    ? hopeless(jobError(failure), missing, 'poll', context.now)
    : undefined;
}

/** Rests before the next look, ever longer. */
export function lookAgain(job: Job, failure: ServiceFailure, next: Want, context: JobContext): JobStep {
  const misses = job.misses + Number(isLook(failure));
  const ms = Math.max(
    failure.retryAfterMs ?? 0,
    backoffMs(Math.max(1, misses, timesInVain(job, 'poll')), context.retry, context.random),
  );
  return rest({ ...job, misses }, ms, next, context.now);
}

/** False for a look that the route kept from happening: it says nothing about the task, and counts for nothing. */
export const isLook = (failure: ServiceFailure): boolean =>
  failure.class !== 'throttle' && failure.class !== 'unsent';

/** What the record keeps of a failure. */
export function jobError(failure: ServiceFailure): JobError {
  return {
    code: failure.code,
    message: failure.message,
    ...(failure.requestId === undefined ? {} : { requestId: failure.requestId }),
    ...(failure.status === undefined ? {} : { httpStatus: failure.status }),
  };
}

/** What a job in doubt says of a submission that gave no usable answer. */
export function doubt(failure: ServiceFailure, what = 'The submission'): JobError {
  const how =
    failure.status === undefined ? 'its answer never arrived' : 'its answer does not say what became of it';
  return {
    ...jobError(failure),
    message: `${what} was sent and ${how}, so a task may exist and may have been paid: ${failure.message}`,
  };
}

/** The run was left, or must stop: it says nothing about the file. */
export const isOurs = ({ class: kind, code }: SaveFailure): boolean =>
  kind === 'stop' || code === 'download.aborted';

/** What the record keeps of a file that could not be read or written. */
export const fileError = ({ code, message, status }: SaveFailure): JobError => ({
  code,
  message,
  ...(status === undefined ? {} : { httpStatus: status }),
});

/**
 * Certainly nothing was made: the route was not available (503, gateway 8.2), or the parent is not finished for
 * the gateway.
 */
export const isUnmade = ({ status, code }: ServiceFailure): boolean =>
  status === 503 || code === 'service.not-ready';
