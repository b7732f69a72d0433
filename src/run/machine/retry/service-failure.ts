import type { SaveFailure } from '../../../artifacts/writer.ts';
import type { JobError } from '../../../plan/job.ts';
import type { SubmitResult } from '../../../service/image-service.ts';
import type { ServiceFailure } from '../../../service/result.ts';

/** The service's code for a prompt that is refused for its content (gateway 3.2). */
export const bannedPrompt = 24;

/** Returns the error code of a refused submission. A banned prompt is `task.moderated`, as is a prompt whose task failed for it. */
export const refusalCode = (code: number): JobError['code'] =>
  code === bannedPrompt ? 'task.moderated' : 'submit.refused';

/** Returns the error of a submission that the service's full queue refused. */
export const queueFull = ({ code, message }: Extract<SubmitResult, { kind: 'queue-full' }>): JobError => ({
  code: 'submit.refused',
  message: `The service deferred the submission (code ${code}): ${message}`,
});

/** Returns the part of a failure that the record keeps. */
export function jobError(failure: ServiceFailure): JobError {
  return {
    code: failure.code,
    message: failure.message,
    ...(failure.requestId === undefined ? {} : { requestId: failure.requestId }),
    ...(failure.status === undefined ? {} : { httpStatus: failure.status }),
  };
}

/** Returns the error of a job in doubt whose submission gave no usable answer. */
export function inDoubtError(failure: ServiceFailure, what = 'The submission'): JobError {
  const how =
    failure.status === undefined ? 'its answer never arrived' : 'its answer does not say what happened to it';
  return {
    ...jobError(failure),
    message: `${what} was sent and ${how}, so a task may exist and may have been paid: ${failure.message}`,
  };
}

/** Whether the run was left or must stop, so that the failure says nothing about the file. */
export const isRunStopping = ({ class: kind, code }: SaveFailure): boolean =>
  kind === 'stop' || code === 'download.aborted';

/** Returns the error of a file that could not be read or written, for the record. */
export const fileError = ({ code, message, status }: SaveFailure): JobError => ({
  code,
  message,
  ...(status === undefined ? {} : { httpStatus: status }),
});

/** Whether certainly no task was made, although the service advises a retry. */
export const isUnmade = ({ unmade }: ServiceFailure): boolean => unmade === true;
