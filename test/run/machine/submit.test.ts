import { describe, expect, it } from 'vitest';
import { type Job, takesTaskSlot } from '../../../src/run/machine/job.ts';
import { step } from '../../../src/run/machine/machine.ts';
import { failure } from '../../rig/failure.ts';
import { context, epoch } from '../../rig/jobs.ts';
import { submitted, submitting } from './machine-rig.ts';

describe('the result of a submission', () => {
  it.each(['accepted', 'modal'] as const)(
    '%s adds its price to what earlier tasks of the job cost',
    (kind) => {
      const { record } = submitted({ kind, taskId: '42', code: 1 }, submitting({ cost: 2, resubmits: 1 }), {
        price: () => 0.5,
      }).job;
      expect(record.cost).toBe(2.5);
    },
  );

  it.each([1, 22])('code %i is accepted: the task id is kept, and polled', (code) => {
    const { job: next, attempt } = submitted(
      { kind: 'accepted', taskId: '14001929738841620', code },
      submitting(),
      { price: () => 0.04 },
    );
    expect(next.record).toMatchObject({
      status: 'running',
      taskId: '14001929738841620',
      attempts: 1,
      cost: 0.04,
    });
    expect(next.nextRequest).toEqual({
      kind: 'wait',
      until: epoch + 5000,
      next: { kind: 'fetch', taskId: '14001929738841620', why: 'poll' },
    });
    expect(attempt).toMatchObject({ outcome: 'accepted', taskId: '14001929738841620' });
  });

  it('queue full: deferred, not an attempt', () => {
    const { job: next } = submitted({ kind: 'queue-full', code: 23, message: 'full' });
    expect(next.record).toMatchObject({ status: 'pending', attempts: 0, tries: 0 });
    // Nothing of it is on the service, and others may have better luck.
    expect(takesTaskSlot(next)).toBe(false);
    expect(next.nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'task-slot' } });
  });

  it.each([
    [4, 'submit.refused'],
    [24, 'task.moderated'],
    [3, 'submit.refused'],
  ])('code %i fails the job as %s, with the service’s words', (code, reason) => {
    const { record } = submitted({ kind: 'refused', code, message: 'no such thing' }).job;
    expect(record).toMatchObject({ status: 'failed', error: { code: reason } });
    expect(record.error?.message).toContain('no such thing');
  });

  it.each(['throttle', 'unsent'] as const)('%s: back in the queue, not an attempt', (kind) => {
    expect(submitted(failure('x', kind)).job.record).toMatchObject({
      status: 'pending',
      attempts: 0,
      tries: 0,
    });
  });

  it('400, 403, 413 fail the job and keep status and request id', () => {
    const { record } = submitted(
      failure('service.rejected', 'permanent', { status: 400, requestId: 'r-1' }),
    ).job;
    expect(record).toMatchObject({
      status: 'failed',
      error: { httpStatus: 400, requestId: 'r-1' },
      attempts: 1,
    });
  });

  it('a missing answer puts the job in doubt, and nothing is sent again', () => {
    const { job: next } = submitted(failure('connection.lost', 'lost'));
    expect(next.record).toMatchObject({
      status: 'in-doubt',
      attempts: 1,
      error: { code: 'connection.lost' },
    });
    expect(next.nextRequest).toEqual({ kind: 'nothing' });
  });

  it('with --in-doubt retry it is sent again, and each time counts', () => {
    const { job: next } = submitted(failure('connection.lost', 'lost'), submitting(), { retryInDoubt: true });
    expect(next.record).toMatchObject({ status: 'pending', attempts: 1, tries: 1 });
  });

  it('500 is retried after a delay of up to base × 2ⁿ, as an attempt, and is in doubt when the tries are used up', () => {
    let now = submitting();
    const rests: number[] = [];
    for (let n = 1; n < 6; n++) {
      const next = submitted(failure('service.unavailable', 'retry', { status: 500 }), now).job;
      expect(next.record).toMatchObject({ status: 'pending', tries: n });
      if (next.nextRequest.kind === 'wait') rests.push(next.nextRequest.until - epoch);
      now = step({ ...next, nextRequest: { kind: 'submit' } }, { type: 'granted' }, context()).job;
    }
    expect(rests).toEqual([500, 1000, 2000, 4000, 8000]);
    const last = submitted(failure('service.unavailable', 'retry', { status: 500 }), now).job;
    expect(last.record).toMatchObject({
      status: 'in-doubt',
      attempts: 6,
      tries: 0,
      doubtful: { count: 6, since: epoch },
      error: {
        code: 'service.unavailable',
        httpStatus: 500,
        message: expect.stringMatching(/a task may exist.*after 6 tries/),
      },
    });
  });

  it.each([
    ['the file says retry', { retriesAmbiguous: true } as const, 'pending', 1],
    ['it says nothing', {}, 'in-doubt', 0],
    ['it says hold', { ambiguous: 'hold' } as const, 'in-doubt', 0],
  ])(
    'treats a connection that broke behind the gateway as a 502 only where the file says so: %s',
    (_, retry, status, tries) => {
      const broken = failure('service.ambiguous', 'lost', { status: 400, likeBadGateway: true });
      const { record } = submitted(broken, submitting(), { retry: { ...context().retry, ...retry } }).job;
      expect(record).toMatchObject({ status, tries, doubtful: { count: 1 } });
      // What else leaves a task open is in doubt, whatever the file says.
      const other = failure('service.ambiguous', 'lost', { status: 400 });
      expect(
        submitted(other, submitting(), { retry: { ...context().retry, ...retry } }).job.record.status,
      ).toBe('in-doubt');
    },
  );

  it('fails without a doubt where no channel was available, with any status', () => {
    const nobody = failure('service.no-channel', 'retry', { status: 400, unmade: true });
    const { record } = submitted(nobody, submitting(), {
      retry: { ...context().retry, ambiguous: 'hold' },
    }).job;
    expect(record).toMatchObject({ status: 'pending', tries: 1 });
    expect(record.doubtful).toBeUndefined();
  });

  /** The end of a submission whose tries are answered so. */
  const ended = (...answers: readonly Parameters<typeof submitted>[0][]): Job => {
    let now = submitting();
    for (const [at, result] of answers.entries()) {
      if (at > 0) now = step({ ...now, nextRequest: { kind: 'submit' } }, { type: 'granted' }, context()).job;
      now = submitted(result, now, { price: () => 2 }).job;
    }
    return now;
  };
  const busy = failure('service.unavailable', 'retry', { status: 503 });
  const timedOut = failure('service.unavailable', 'retry', { status: 504 });
  const no = failure('service.rejected', 'permanent', { status: 400 });
  const lost = failure('connection.lost', 'lost');

  it.each([
    ['503 each time', Array(6).fill(busy), 'failed', 'service.unavailable', undefined],
    ['503 after a 504', [timedOut, ...Array(5).fill(busy)], 'in-doubt', 'service.unavailable', 1],
    ['a refusal', [no], 'failed', 'service.rejected', undefined],
    ['a refusal after a 504', [timedOut, no], 'in-doubt', 'service.rejected', 1],
    [
      'a code that refuses after two 504s',
      [timedOut, timedOut, { kind: 'refused', code: 24, message: 'banned' } as const],
      'in-doubt',
      'task.moderated',
      2,
    ],
    ['no answer after a 504', [timedOut, lost], 'in-doubt', 'connection.lost', 2],
  ])(
    'has failed only where every try certainly made nothing: %s',
    (_, answers: readonly Parameters<typeof submitted>[0][], status, code, count) => {
      const { record } = ended(...answers);
      expect(record).toMatchObject({ status, error: { code } });
      expect(record.doubtful).toEqual(
        count === undefined ? undefined : { count, cost: 2 * count, since: epoch },
      );
      expect(record.cost).toBeUndefined();
    },
  );

  it('keeps the possible cost of an earlier 504, and puts no later failure in doubt', () => {
    const { record } = ended(timedOut, { kind: 'accepted', taskId: '42', code: 1 });
    expect(record).toMatchObject({ status: 'running', cost: 2, doubtful: { count: 1, cost: 2 } });
    expect(record.doubtful?.since).toBeUndefined();
  });

  it.each([
    [500, 'in-doubt'],
    [504, 'in-doubt'],
    [524, 'in-doubt'],
    [503, 'pending'],
  ])('with retry.ambiguous: hold, %i becomes %s', (status, becomes) => {
    const retry = { ...context().retry, ambiguous: 'hold' as const };
    expect(
      submitted(failure('service.unavailable', 'retry', { status }), submitting(), { retry }).job.record
        .status,
    ).toBe(becomes);
  });
});
