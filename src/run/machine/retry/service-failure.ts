import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { JobError } from '../../../plan/job.ts';
import type { SubmitResult } from '../../../service/image-service.ts';
import type { ServiceFailure } from '../../../service/result.ts';

/** The code of an answer that refuses a prompt for what it is (gateway 3.2). */
export const bannedPrompt = 24;

/** The error code of a submission that was refused: a prompt that is banned at once is moderated, as one whose task failed for it is. */
export const refusalCode = (code: number): string =>
  code === bannedPrompt ? 'task.moderated' : 'submit.refused';

/** What a submission says that the queue of the service had no room for. */
export const queueFull = ({ code, message }: Extract<SubmitResult, { kind: 'queue-full' }>): JobError => ({
  code: 'submit.refused',
  message: `The service put the submission off (code ${code}): ${message}`,
});

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
export function inDoubtError(failure: ServiceFailure, what = 'The submission'): JobError {
  const how =
    failure.status === undefined ? 'its answer never arrived' : 'its answer does not say what became of it';
  return {
    ...jobError(failure),
    message: `${what} was sent and ${how}, so a task may exist and may have been paid: ${failure.message}`,
  };
}

/** The run was left, or must stop: it says nothing about the file. */
export const isRunStopping = ({ class: kind, code }: SaveFailure): boolean =>
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
