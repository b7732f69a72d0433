import { describe, expect, it } from 'vitest';
import {
  fileError,
  inDoubtError,
  isRunStopping,
  isUnmade,
  jobError,
  queueFull,
  refusalCode,
} from '../../../../src/run/machine/retry/service-failure.ts';
import { failure } from '../../../rig/failure.ts';

it.each([
  [24, 'task.moderated'],
  [23, 'submit.refused'],
  [25, 'submit.refused'],
  [4, 'submit.refused'],
])('code %i refuses a submission as %s', (code, named) => {
  expect(refusalCode(code)).toBe(named);
});

it('the error of a full queue has its code and its message', () => {
  expect(queueFull({ kind: 'queue-full', code: 9, message: 'busy' })).toEqual({
    code: 'submit.refused',
    message: 'The service deferred the submission (code 9): busy',
  });
});

describe('the recorded error of a failure', () => {
  const lost = failure('connection.lost', 'lost');
  const broken = failure('service.malformed', 'lost', { status: 200, requestId: 'R1', retryAfterMs: 7 });

  it('has its code, its message, its status and its request id', () => {
    expect(jobError(lost)).toStrictEqual({ code: lost.code, message: lost.message });
    expect(jobError(broken)).toStrictEqual({
      code: 'service.malformed',
      message: broken.message,
      requestId: 'R1',
      httpStatus: 200,
    });
  });

  it('names for a job in doubt the request that was sent and the missing answer', () => {
    expect(inDoubtError(lost)).toEqual({
      code: lost.code,
      message: `The submission was sent and its answer never arrived, so a task may exist and may have been paid: ${lost.message}`,
    });
    expect(inDoubtError(broken, 'The answer to the modal')).toMatchObject({
      httpStatus: 200,
      requestId: 'R1',
      message: `The answer to the modal was sent and its answer does not say what happened to it, so a task may exist and may have been paid: ${broken.message}`,
    });
  });

  it('of a file has no field that is unknown', () => {
    const gone = { code: 'download.status', class: 'retry', message: 'm' } as const;
    expect(fileError(gone)).toStrictEqual({ code: 'download.status', message: 'm' });
    expect(fileError({ ...gone, status: 503 })).toStrictEqual({
      code: 'download.status',
      message: 'm',
      httpStatus: 503,
    });
  });
});

it.each([
  ['disk.full', 'stop', true],
  ['download.aborted', 'retry', true],
  ['download.status', 'retry', false],
  ['download.not-image', 'permanent', false],
] as const)('%s of class %s ends the run: %s', (code, kind, ends) => {
  expect(isRunStopping({ code, class: kind, message: 'm' })).toBe(ends);
});

it.each([
  ['service.unavailable', 503, true],
  ['service.not-ready', 400, true],
  ['service.unavailable', 502, false],
  ['service.unavailable', 504, false],
  ['connection.lost', undefined, false],
])('after %s with status %s certainly nothing was made: %s', (code, status, unmade) => {
  expect(isUnmade(failure(code, 'retry', status === undefined ? {} : { status }))).toBe(unmade);
});
