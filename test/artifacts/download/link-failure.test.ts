import { describe, expect, it } from 'vitest';
import { AddressError } from '../../../src/artifacts/download/address-policy.ts';
import { type Deadline, TimedOut } from '../../../src/artifacts/download/deadline.ts';
import {
  forbidden,
  interruptionFailure,
  statusFailure,
} from '../../../src/artifacts/download/link-failure.ts';
import { SaveError } from '../../../src/artifacts/failure.ts';

const url = new URL('https://cdn.example.com/a.png?signature=hidden');
const noon = Date.UTC(2026, 10, 1, 12);

const failureOf = (
  status: number,
  headers: Readonly<Record<string, string | string[]>> = {},
  words?: string,
) => statusFailure(url, { status, headers, words }, noon);

describe('a response without a file', () => {
  it.each([400, 401, 403, 404, 410])('with %i asks for a fresh link', (status) => {
    expect(failureOf(status)).toEqual({
      code: 'download.refused',
      class: 'fresh-link',
      ...(status === 400 ? {} : { lasting: true }),
      status,
      message: `https://cdn.example.com/a.png was refused with ${status}: the link has probably expired.`,
    });
    expect(failureOf(status, {}, 'no such task').message).toBe(
      `https://cdn.example.com/a.png was refused with ${status} (no such task).`,
    );
  });

  it.each([
    ...[204, 206, 408, 425, 500, 501, 502, 503, 504, 520, 599].map((status) => [status, 'retry'] as const),
    [429, 'throttle'],
    ...[201, 205, 304, 402, 405, 406, 409, 411, 413, 418, 424, 426, 428, 430, 451, 499].map(
      (status) => [status, 'permanent'] as const,
    ),
  ] as const)('%i is met as %s', (status, met) => {
    expect(failureOf(status)).toEqual({
      code: 'download.status',
      class: met,
      status,
      message: `https://cdn.example.com/a.png was answered with ${status}.`,
    });
    expect(failureOf(status, {}, 'busy').message).toContain(`answered with ${status} (busy).`);
  });

  it('contains the time to wait', () => {
    const waitOf = (headers: Readonly<Record<string, string | string[]>>, status = 503) =>
      failureOf(status, headers).retryAfterMs;
    expect(waitOf({ 'retry-after': '7' })).toBe(7000);
    expect(waitOf({ 'retry-after': '7' }, 404)).toBe(7000);
    expect(waitOf({ 'retry-after': ['8', '9'] })).toBe(8000);
    expect(waitOf({ 'retry-after': new Date(noon + 5000).toUTCString() })).toBe(5000);
    const date = new Date(noon + 2000).toUTCString();
    expect(waitOf({ 'retry-after': new Date(noon + 5000).toUTCString(), date })).toBe(3000);
    expect(failureOf(503)).not.toHaveProperty('retryAfterMs');
  });
});

describe('a connection that ends early', () => {
  const deadlineWith = (reason?: unknown): Deadline => ({
    signal: reason === undefined ? new AbortController().signal : AbortSignal.abort(reason),
    arrived: () => {},
    end: () => {},
  });
  const failureFor = (
    cause: unknown,
    deadline = deadlineWith(),
    stage: 'download.connection' | 'download.truncated' = 'download.connection',
  ) => {
    const failure = interruptionFailure(url, cause, deadline, stage);
    return failure instanceof SaveError ? failure.failure : failure;
  };
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

  it('is tried again before a response, and in the middle of a body', () => {
    expect(failureFor(reset)).toEqual({
      code: 'download.connection',
      class: 'retry',
      message: 'https://cdn.example.com/a.png could not be reached (read ECONNRESET).',
      cause: reset,
    });
    expect(failureFor(reset, deadlineWith(), 'download.truncated')).toEqual({
      code: 'download.truncated',
      class: 'retry',
      message: 'The file at https://cdn.example.com/a.png broke off (read ECONNRESET).',
      cause: reset,
    });
  });

  it('without words is described by its code', () => {
    expect(failureFor(Object.assign(new Error(''), { code: 'ECONNREFUSED' }))).toMatchObject({
      message: 'https://cdn.example.com/a.png could not be reached (ECONNREFUSED).',
    });
  });

  it('because of its certificate names the defect', () => {
    const failure = failureFor(Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' }));
    expect(failure).toMatchObject({ message: expect.stringContaining('it has expired') });
  });

  it('at its deadline is tried again, but not when its caller cancels', () => {
    const late = new TimedOut('nothing arrived for 60 s');
    expect(failureFor(reset, deadlineWith(late))).toEqual({
      code: 'download.connection',
      class: 'retry',
      message: 'The download of https://cdn.example.com/a.png was given up: nothing arrived for 60 s.',
      cause: late,
    });
    expect(failureFor(reset, deadlineWith(new Error('stop')))).toMatchObject({
      code: 'download.aborted',
      cause: reset,
    });
  });

  it('at a forbidden address names the rule, however deep the error is nested', () => {
    const refused = new AddressError('it is private');
    const deep = new Error('fetch failed', { cause: new Error('connect', { cause: refused }) });
    const several = new AggregateError([reset, new Error('connect', { cause: refused })]);
    for (const cause of [refused, deep, several])
      expect(failureFor(cause, deadlineWith(new TimedOut('late')))).toMatchObject({
        code: 'download.address',
        class: 'permanent',
        message: expect.stringContaining('is not followed: it is private.'),
        cause,
      });
  });

  it('with a known failure keeps it, and so does a bug', () => {
    const known = new SaveError({ code: 'download.too-large', class: 'permanent', message: 'm' });
    expect(interruptionFailure(url, known, deadlineWith(new TimedOut('late')), 'download.truncated')).toBe(
      known,
    );
    const bug = new TypeError('a bug');
    expect(failureFor(bug)).toBe(bug);
    expect(failureFor('words')).toBe('words');
    const itself = new Error('itself');
    itself.cause = itself;
    expect(failureFor(itself)).toBe(itself);
  });
});

it('a link of another kind is shown only with its kind', () => {
  expect(forbidden(new URL('file:///etc/passwd'), 'no').message).toMatch(
    /^The link \(file:…\) is not followed: no\./,
  );
  expect(forbidden(url, 'no').message).toMatch(
    /^The link https:\/\/cdn\.example\.com\/a\.png is not followed/,
  );
});
