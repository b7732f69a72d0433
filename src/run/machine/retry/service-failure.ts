import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { JobError } from '../../../plan/job.ts';
import type { SubmitResult } from '../../../service/image-service.ts';
import type { ServiceFailure } from '../../../service/result.ts';

/** The code that refuses a prompt for its content (gateway 3.2). */
export const bannedPrompt = 24;

/** The error code of a refused submission: a banned prompt is `task.moderated`, as is a prompt whose task failed for it. */
export const refusalCode = (code: number): string =>
  code === bannedPrompt ? 'task.moderated' : 'submit.refused';

/** The error of a submission for which the service's queue had no room. */
export const queueFull = ({ code, message }: Extract<SubmitResult, { kind: 'queue-full' }>): JobError => ({
  code: 'submit.refused',
  message: `The service put the submission off (code ${code}): ${message}`,
});

/** The part of a failure that the record keeps. */
export function jobError(failure: ServiceFailure): JobError {
  return {
    code: failure.code,
    message: failure.message,
    ...(failure.requestId === undefined ? {} : { requestId: failure.requestId }),
    ...(failure.status === undefined ? {} : { httpStatus: failure.status }),
  };
}

/** The error of a job in doubt whose submission gave no usable answer. */
export function inDoubtError(failure: ServiceFailure, what = 'The submission'): JobError {
  const how =
    failure.status === undefined ? 'its answer never arrived' : 'its answer does not say what became of it';
  return {
    ...jobError(failure),
    message: `${what} was sent and ${how}, so a task may exist and may have been paid: ${failure.message}`,
  };
}

/** True where the run was left or must stop: the failure says nothing about the file. */
export const isRunStopping = ({ class: kind, code }: SaveFailure): boolean =>
  kind === 'stop' || code === 'download.aborted';

/** The error of a file that could not be read or written, for the record. */
export const fileError = ({ code, message, status }: SaveFailure): JobError => ({
  code,
  message,
  ...(status === undefined ? {} : { httpStatus: status }),
});

/** True where certainly no task was made, although the service advises to try again. */
export const isUnmade = ({ unmade }: ServiceFailure): boolean => unmade === true;
