import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/run/machine/job.ts';
import { adopt, retryOf } from '../../../src/run/machine/resume.ts';
import { modalLag } from '../../../src/run/machine/retry/modal-lag.ts';
import type { Task } from '../../../src/service/image-service.ts';
import { failure } from '../../rig/failure.ts';
import { epoch } from '../../rig/jobs.ts';
import { after, answering, region, seen, submitted, waiting } from './modal-rig.ts';

/** When no gateway lags any more. */
const lagged = { now: epoch + modalLag.ms + 60_000 };

describe('the confirm of a modal', () => {
  it('ends with its task: after a failure the button is pressed again and opens another modal', () => {
    const worked = waiting(
      region({
        status: 'running',
        attempts: 1,
        taskId: 'M1',
        modal: { taskId: 'M1', sent: 1, accepted: true },
      }),
    );
    const { job: next } = seen(worked, 'poll', {
      state: 'failure',
      status: 'FAILURE',
      failReason: 'timeout',
    });
    expect([next.record.status, next.record.resubmits, next.record.modal]).toEqual(['pending', 1, undefined]);
    const begun = after(after(next, { type: 'elapsed' }).job, { type: 'granted' }).job;
    expect(begun.nextRequest).toEqual({ kind: 'fetch', taskId: 'T1', why: 'parent' });
  });

  it('counts as not sent where it is queue-full, throttled or never left', () => {
    for (const result of [
      { kind: 'queue-full', code: 23, message: 'full' } as const,
      failure('service.throttled', 'throttle'),
      failure('connection.refused', 'unsent'),
    ])
      for (const sent of [1, 2]) {
        const { record, nextRequest } = submitted(answering(sent, { attempts: sent }), result).job;
        expect(record).toMatchObject({
          status: 'modal',
          attempts: Math.max(1, sent - 1),
          modal: { sent: sent - 1 },
        });
        expect(nextRequest).toMatchObject({ next: { kind: 'modal' } });
      }
  });

  it('polls its task first where its response is lost, and continues where the task has moved on', () => {
    const page = failure('service.not-json', 'stop', { status: 200, mayBeDone: true });
    expect(submitted(answering(), page).job.record).toMatchObject({
      status: 'submitting',
      modal: { sent: 1 },
    });
    const lost = submitted(answering(), failure('connection.lost', 'lost')).job;
    expect(lost.record.status).toBe('submitting');
    expect(lost.nextRequest).toMatchObject({ next: { kind: 'fetch', taskId: 'M1', why: 'modal' } });
    const on = seen(lost, 'modal', { state: 'unfinished', status: 'SUBMITTED' }).job;
    expect(on.record).toMatchObject({
      status: 'running',
      taskId: 'M1',
      modal: { accepted: true },
      attempts: 1,
    });
    expect(
      seen(lost, 'modal', { state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1' }).job.record.status,
    ).toBe('saving');
  });

  it('is in doubt where it is lost and its task still waits; --in-doubt retry confirms again, counted, and never clicks', () => {
    const lost = submitted(answering(), failure('connection.lost', 'lost')).job;
    const { record } = seen(lost, 'modal', {}, lagged).job;
    expect(record).toMatchObject({ status: 'in-doubt', error: { code: 'connection.lost' } });
    const again = retryOf(record, 1, undefined);
    expect(again.record).toMatchObject({ status: 'modal', modal: { taskId: 'M1', sent: 1 } });
    const polling = after(again, { type: 'granted' }).job;
    expect(polling.nextRequest).toEqual({ kind: 'fetch', taskId: 'M1', why: 'modal' });
    const allowed = seen(polling, 'modal', {}).job;
    expect(allowed.nextRequest).toEqual({ kind: 'modal' });
    expect(after(allowed, { type: 'granted' }).job.record).toMatchObject({ attempts: 2, modal: { sent: 2 } });
  });

  it('is in doubt where it is lost and its task is gone; --in-doubt retry presses the button again', () => {
    const lost = submitted(answering(), failure('connection.lost', 'lost')).job;
    const { record } = seen(lost, 'modal', {}, lagged).job;
    const unknown = failure('service.task-unknown', 'permanent', { status: 404 });
    const gone = { type: 'fetched', why: 'modal', result: { ok: false, error: unknown } } as const;
    const looking: Job = { ...retryOf(record, 1, 'T1'), nextRequest: { kind: 'answer' }, misses: 5 };
    const { mayBeGone: _, ...certain } = looking;
    expect(after(certain, gone, { retryInDoubt: true }).job.record.status).toBe('in-doubt');
    const { job: pressedAgain } = after(looking, gone, { retryInDoubt: true });
    expect(pressedAgain).toMatchObject({ record: { status: 'pending', attempts: 1 }, parentTaskId: 'T1' });
    expect([pressedAgain.record.modal, pressedAgain.record.taskId]).toEqual([undefined, undefined]);
    expect(pressedAgain.nextRequest).toMatchObject({ next: { kind: 'task-slot' } });
  });

  it.each([408, 500, 502, 504, 520, 524])(
    'that may have arrived (%i) is polled for as long as a gateway may be late, and never repeated without permission',
    (status) => {
      let now = submitted(answering(), failure('service.unavailable', 'retry', { status })).job;
      let polls = 0;
      for (let ms = 0; now.nextRequest.kind === 'wait'; polls++) {
        expect(now.nextRequest.next).toEqual({ kind: 'fetch', taskId: 'M1', why: 'modal' });
        ms = now.nextRequest.until - epoch;
        // A gateway that says nothing yet says no more than MODAL.
        const shows: Partial<Task> = polls % 2 === 0 ? {} : { state: 'unfinished', status: '' };
        now = seen(now, 'modal', shows, { now: epoch + ms }).job;
        expect(ms).toBeLessThan(60_000);
        expect(now.record.status === 'in-doubt').toBe(ms >= modalLag.ms);
      }
      expect(polls).toBeGreaterThan(5);
      expect(now.record).toMatchObject({ attempts: 1, modal: { sent: 1 } });
    },
  );

  it('settles at the poll that shows that it arrived', () => {
    let now = submitted(answering(), failure('service.unavailable', 'retry', { status: 504 })).job;
    for (const ms of [1000, 6000, 11_000]) now = seen(now, 'modal', {}, { now: epoch + ms }).job;
    const on = seen(
      now,
      'modal',
      { state: 'unfinished', status: 'IN_PROGRESS' },
      { now: epoch + 16_000 },
    ).job;
    expect(on.record).toMatchObject({ status: 'running', attempts: 1, modal: { sent: 1, accepted: true } });
  });

  it('is sent again under --in-doubt retry where it may have arrived, after the same polls, at most retry.attempts times', () => {
    let now = answering();
    for (let tries = 1; tries < 6; tries++) {
      now = submitted(now, failure('service.unavailable', 'retry', { status: 500 })).job;
      now = seen(now, 'modal', {}, { retryInDoubt: true }).job;
      expect(now.record).toMatchObject({ status: 'submitting', tries });
      const allowed = seen(now, 'modal', {}, { retryInDoubt: true, ...lagged }).job;
      expect([allowed.record.status, allowed.nextRequest]).toEqual(['modal', { kind: 'modal' }]);
      now = after(allowed, { type: 'granted' }).job;
      expect(now.record).toMatchObject({ attempts: tries + 1, modal: { sent: tries + 1 } });
    }
    now = submitted(now, failure('service.unavailable', 'retry', { status: 500 })).job;
    expect(seen(now, 'modal', {}, { retryInDoubt: true, ...lagged }).job.record.status).toBe('in-doubt');
  });

  it('is sent again after a 503, at most retry.attempts times, and then fails', () => {
    const busy = failure('service.unavailable', 'retry', { status: 503 });
    let now = answering();
    for (let tries = 1; tries < 6; tries++) {
      now = submitted(now, busy).job;
      expect(now.record).toMatchObject({ status: 'modal', tries, attempts: 1, modal: { sent: 0 } });
      expect(now.nextRequest).toMatchObject({ next: { kind: 'modal' } });
      now = after({ ...now, nextRequest: { kind: 'modal' } }, { type: 'granted' }).job;
      expect(now.record).toMatchObject({ status: 'submitting', attempts: 1, modal: { sent: 1 } });
    }
    const { record } = submitted(now, busy).job;
    expect(record).toMatchObject({ status: 'failed', tries: 0, modal: { sent: 0 } });
    expect(record.error?.message).toMatch(/after 6 tries/);
  });

  it('is sent again only where the task still waits, where an earlier one may have arrived', () => {
    const busy = failure('service.unavailable', 'retry', { status: 503 });
    const next = submitted(answering(2, { attempts: 2 }), busy).job;
    expect(next.record).toMatchObject({ status: 'modal', attempts: 1, modal: { sent: 1 } });
    expect(next.nextRequest).toMatchObject({ next: { kind: 'fetch', why: 'modal' } });
    expect(seen(next, 'modal', {}).job.nextRequest).toEqual({ kind: 'modal' });
    const worn = submitted(answering(2, { attempts: 2, tries: 5 }), busy).job;
    expect(seen(worn, 'modal', {}, lagged).job.record).toMatchObject({
      status: 'in-doubt',
      modal: { sent: 2 },
    });
  });

  it('is polled where a killed run left it, and is in doubt with its own code while the task still waits', () => {
    const left = adopt(answering().record, 1, 'T1');
    expect(left.nextRequest).toEqual({ kind: 'fetch', taskId: 'M1', why: 'modal' });
    const polled = seen(left, 'modal', {}).job;
    expect(seen(polled, 'modal', {}, lagged).job.record).toMatchObject({
      status: 'in-doubt',
      error: { code: 'submit.interrupted-modal' },
    });
    expect(seen(polled, 'modal', {}, { retryInDoubt: true, ...lagged }).job.nextRequest).toEqual({
      kind: 'modal',
    });
  });

  it('fails without an attempt where its mask cannot be read, and later continues with the modal, not with the click', () => {
    const error = { code: 'mask.size', class: 'permanent', message: 'It is smaller.' } as const;
    const { record } = after(answering(), { type: 'unread', error }).job;
    expect(record).toMatchObject({
      status: 'failed',
      attempts: 1,
      modal: { sent: 0 },
      error: { code: 'mask.size' },
    });
    expect(retryOf(record, 1, 'T1').record).toMatchObject({ status: 'modal', modal: { sent: 0 } });
  });

  it.each([
    ['by a code', { kind: 'refused', code: 4, message: 'no' } as const],
    ['by a status', failure('service.rejected', 'permanent', { status: 400 })],
  ])(
    'that is refused %s fails the job; after a second refusal a poll shows whether the first arrived',
    (_, refused) => {
      expect(submitted(answering(), refused).job.record.status).toBe('failed');
      const { job: next } = submitted(answering(2), refused);
      expect(next).toMatchObject({
        record: { status: 'submitting' },
        nextRequest: { next: { why: 'modal' } },
      });
      const arrived = seen(next, 'modal', { state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1' });
      expect(arrived.job.record).toMatchObject({ status: 'saving', taskId: 'M1', modal: { accepted: true } });
    },
  );

  describe('that failed and is retried by the user', () => {
    const refused = submitted(answering(), { kind: 'refused', code: 4, message: 'no' }).job.record;
    const polling = (parentTaskId?: string): Job => {
      const { job: next } = after(retryOf(refused, 1, parentTaskId), { type: 'granted' });
      expect(next.nextRequest).toEqual({ kind: 'fetch', taskId: 'M1', why: 'modal' });
      return next;
    };

    it('is sent to the dialog that is still open, without another press', () => {
      const open = seen(polling('T1'), 'modal', {}).job;
      expect(open.nextRequest).toEqual({ kind: 'modal' });
      const { job: next } = after(open, { type: 'granted' });
      expect(next.record).toMatchObject({
        status: 'submitting',
        attempts: 2,
        modal: { taskId: 'M1', sent: 2 },
      });
    });

    it('has its button pressed again where the dialog is gone', () => {
      const unknown = failure('service.task-unknown', 'permanent', { status: 404 });
      const gone = after(
        { ...polling('T1'), misses: 5 },
        {
          type: 'fetched',
          why: 'modal',
          result: { ok: false, error: unknown },
        },
      ).job;
      const failed = seen(polling('T1'), 'modal', { state: 'failure', status: 'FAILURE' }).job;
      const silent = { state: 'unfinished', status: '' } as const;
      const waited = seen(polling('T1'), 'modal', silent).job;
      for (const next of [gone, failed, seen(waited, 'modal', silent, lagged).job]) {
        expect(next).toMatchObject({
          record: { status: 'pending', attempts: 1 },
          nextRequest: { next: { kind: 'task-slot' } },
        });
        expect([next.record.modal, next.parentTaskId, next.mayBeGone]).toEqual([undefined, 'T1', undefined]);
      }
    });

    it('continues with its task where it was accepted after all', () => {
      const on = seen(polling('T1'), 'modal', { state: 'unfinished', status: 'IN_PROGRESS' }).job;
      expect(on.record).toMatchObject({ status: 'running', attempts: 1, modal: { accepted: true } });
    });
  });

  it('is refused the second time too where its prompt is banned', () => {
    const banned = { kind: 'refused', code: 24, message: 'no' } as const;
    expect(submitted(answering(2), banned).job.record.status).toBe('failed');
  });
});
