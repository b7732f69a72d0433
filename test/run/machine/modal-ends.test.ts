import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/run/machine/job.ts';
import { failure } from '../../rig/failure.ts';
import { epoch } from '../../rig/jobs.ts';
import { transition } from '../../rig/transition.ts';
import { answering, clicked, region, waiting } from './modal-rig.ts';

const why = { code: 'submit.refused' as const, message: 'no' };
const poll = { kind: 'wait', next: { kind: 'fetch', taskId: 'M1', why: 'modal' } };
const served = { served: 100, firsts: 100, firstsServed: 100 };
const before = { served: 0, firsts: 0, firstsServed: 0 };
const since = epoch - 9_000_000;

/** Deferred so often while others were served that one more deferral ends the job. */
const starving = (job: Job): Job => ({
  ...job,
  deferrals: {
    submit: { times: 40, own: 9, since, before, served: 0 },
    poll: { times: 40, own: 9, since, before, served: 0 },
  },
});
const unread = { code: 'input.missing' as const, class: 'permanent', message: 'm' } as const;

describe('a confirm', () => {
  it('is in the history with its time and its outcome', () => {
    const from = answering(1, { submittedAt: epoch - 500 });
    const accepted = transition(from).submitted({ kind: 'accepted', code: 1, taskId: 'M2' });
    expect(accepted.attempt).toEqual({
      key: 'bb22',
      at: epoch - 500,
      outcome: 'modal.accepted',
      taskId: 'M2',
    });
    const lost = failure('connection.lost', 'lost');
    expect(transition(from).submitted(lost).attempt).toMatchObject({
      outcome: 'modal.lost',
      taskId: 'M1',
      error: { code: 'connection.lost' },
    });
    const { submittedAt: _, ...untimed } = from.record;
    expect(transition(waiting(untimed)).submitted(lost).attempt?.at).toBe(epoch);
  });

  it('that is refused keeps the words of the service and the id of its request', () => {
    const refused = { kind: 'refused', code: 4, message: 'no', requestId: 'r1' } as const;
    const { record } = transition(answering()).submitted(refused).job;
    expect([record.status, record.error]).toEqual(['failed', { ...why, requestId: 'r1' }]);
    const { requestId: _, ...silent } = refused;
    expect(transition(answering()).submitted(silent).job.record.error).toStrictEqual(why);
  });

  it('that is refused the second time makes the job poll its task: the first one may have arrived', () => {
    const refused = { kind: 'refused', code: 4, message: 'no' } as const;
    const denied = failure('service.rejected', 'permanent', { status: 400 });
    for (const result of [refused, denied]) {
      const { job } = transition(answering(2, { tries: 1 })).submitted(result);
      expect(job).toMatchObject({ record: { status: 'submitting', tries: 6 }, nextRequest: poll, misses: 0 });
    }
  });

  it.each([
    ['throttled', failure('service.throttled', 'throttle')],
    ['never sent', failure('connection.refused', 'unsent')],
    ['a stop of the run', failure('service.unauthorized', 'stop')],
  ])('that was %s counts as not sent, and keeps the earlier ones counted', (_, result) => {
    const first = transition(answering(1, { attempts: 3 })).submitted(result).job.record;
    expect([first.status, first.modal, first.attempts]).toEqual(['modal', { taskId: 'M1', sent: 0 }, 3]);
    const second = transition(answering(2, { attempts: 3 })).submitted(result).job.record;
    expect([second.modal?.sent, second.attempts]).toEqual([1, 2]);
  });

  it.each([
    ['lost', failure('connection.lost', 'lost')],
    ['that stopped the run and may have arrived', failure('service.not-json', 'stop', { mayBeDone: true })],
    ['with 500', failure('service.unavailable', 'retry', { status: 500 })],
  ])('%s makes the job poll its task, and counts a try', (_, result) => {
    const { job } = transition(answering(1, { tries: 1 })).submitted(result);
    expect(job).toMatchObject({
      record: { status: 'submitting', tries: 2, modal: { sent: 1 } },
      nextRequest: poll,
    });
    expect(job.pollUntil).toBe(epoch + 45_000);
  });

  it.each([
    ['503', failure('service.unavailable', 'retry', { status: 503, retryAfterMs: 600_000 })],
    ['429', failure('service.throttled', 'throttle', { status: 429, retryAfterMs: 600_000 })],
  ])('is sent again no sooner than the service says: %s', (_, error) => {
    const { nextRequest } = transition(answering()).submitted(error).job;
    expect(nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'modal' } });
    expect(nextRequest.kind === 'wait' && nextRequest.until - epoch).toBeGreaterThanOrEqual(600_000);
  });

  it('that is deferred while all others are served fails, or is polled where an earlier one may have arrived', () => {
    const full = { kind: 'queue-full', code: 23, message: 'full' } as const;
    const starved = { tally: () => served };
    const never = transition(starving(answering()), starved).submitted(full).job;
    expect(never.record).toMatchObject({ status: 'failed', error: { code: 'submit.refused' } });
    const perhaps = transition(starving(answering(2, { tries: 3 })), starved).submitted(full).job;
    expect(perhaps).toMatchObject({
      record: { status: 'submitting', tries: 3, modal: { sent: 1 } },
      nextRequest: poll,
    });
    const waits = transition(answering(), starved).submitted(full).job;
    expect([waits.record.status, waits.nextRequest.kind, waits.deferrals?.submit?.times]).toEqual([
      'modal',
      'wait',
      1,
    ]);
  });

  it('whose mask cannot be read fails; at the end of the run it waits for a later one', () => {
    expect(transition(answering()).unread(unread).job.record).toMatchObject({
      status: 'failed',
      modal: { taskId: 'M1', sent: 0 },
    });
    for (const end of [
      { ...unread, class: 'stop' },
      { ...unread, code: 'download.aborted', class: 'retry' },
    ] as const) {
      const { record, nextRequest } = transition(answering()).unread(end).job;
      expect([record.status, record.modal?.sent, record.tries]).toEqual(['modal', 0, 0]);
      expect(nextRequest).toMatchObject({ kind: 'wait', until: epoch, next: { kind: 'modal' } });
    }
  });

  it('is not sent where it has no content any more', () => {
    const open = waiting(region({ status: 'modal', modal: { taskId: 'M1', sent: 0 } }));
    const request = { ...open.record.request, fields: {} } as typeof open.record.request;
    const nextRequest = { kind: 'modal' } as const;
    const silent = transition({ ...open, record: { ...open.record, request }, nextRequest }).granted();
    expect([silent.send, silent.job.record.status]).toEqual([undefined, 'failed']);
    const known = { pollUntil: 5, mayBeGone: 'failed', polledMs: 5, queued: 'queued', begunAt: 5 } as const;
    const said = transition({ ...open, nextRequest, ...known }).granted();
    expect(said.send).toEqual({ kind: 'modal' });
    expect(said.job).toMatchObject({
      nextRequest: { kind: 'answer' },
      record: { status: 'submitting', submittedAt: epoch },
    });
    // The time of a confirmed task counts from its confirm.
    for (const name of Object.keys(known)) expect(said.job).not.toHaveProperty(name);
  });
});

describe('the task of a confirm that may have arrived', () => {
  const polled = (changes: Partial<Job> = {}): Job => ({
    ...answering(1, { error: { code: 'connection.lost', message: 'lost' } }),
    ...changes,
  });
  const unknown = failure('service.task-unknown', 'retry', { status: 404 });
  const down = failure('service.unavailable', 'retry', { status: 503 });

  it('is polled again where the poll fails', () => {
    expect(transition(polled()).fetched('modal', down).job).toMatchObject({ misses: 1, nextRequest: poll });
  });

  it('that cannot be polled leaves the job in doubt, with the error of its confirm', () => {
    const { record } = transition(polled({ misses: 5 })).fetched('modal', unknown).job;
    expect([record.status, record.error?.code]).toEqual(['in-doubt', 'connection.lost']);
    const silent = answering();
    const untold = transition({ ...silent, misses: 5 }).fetched('modal', unknown).job.record;
    expect([untold.status, untold.error?.code]).toEqual(['in-doubt', 'service.task-unknown']);
  });

  it('that is gone has the button pressed again where the user allowed that', () => {
    for (const mayBeGone of ['failed', 'in-doubt'] as const) {
      const { job } = transition(polled({ misses: 5, mayBeGone })).fetched('modal', unknown);
      expect(job).toMatchObject({
        record: { status: 'pending' },
        nextRequest: { kind: 'wait', until: epoch, next: { kind: 'task-slot' } },
        parentTaskId: 'T1',
      });
      expect([job.record.modal, job.record.taskId, job.mayBeGone]).toEqual([undefined, undefined, undefined]);
    }
  });

  it('that cannot be polled ends the job as it was before', () => {
    const starved = { tally: () => served };
    const failed = transition(starving(polled({ mayBeGone: 'failed' })), starved).fetched('modal', down);
    expect(failed.job.record).toMatchObject({ status: 'failed', error: { code: 'service.unavailable' } });
    const doubtful = transition(starving(polled()), starved).fetched('modal', down);
    expect(doubtful.job.record).toMatchObject({ status: 'in-doubt', error: { code: 'connection.lost' } });
  });

  const seen = (
    from: Job,
    state: 'modal' | 'unfinished' | 'failure' | 'success',
    status: string,
    changes = {},
  ) => transition(from, changes).fetched('modal', { id: 'M1', state, status, buttons: [] }).job;

  it('without a status, or still in MODAL, is polled until gateways have refreshed their copies', () => {
    for (const [state, status] of [
      ['modal', 'MODAL'],
      ['unfinished', ''],
    ] as const) {
      const first = seen(polled({ misses: 2 }), state, status);
      expect(first).toMatchObject({ misses: 0, pollUntil: epoch + 45_000, nextRequest: poll });
      expect(first.nextRequest).toMatchObject({ until: epoch + 5000 });
      const late = polled({ pollUntil: epoch + 1 });
      expect(seen(late, state, status).nextRequest.kind).toBe('wait');
      const { record } = seen({ ...late, pollUntil: epoch }, state, status);
      expect([record.status, record.error?.code]).toEqual(['in-doubt', 'connection.lost']);
      const again = seen({ ...late, pollUntil: epoch, mayBeGone: 'failed' }, state, status);
      expect([again.record.status, again.record.modal]).toEqual(['pending', undefined]);
    }
  });

  it('that still waits is confirmed again where the user allowed it, up to retry.attempts times', () => {
    const retry = { retryInDoubt: true };
    const late = (tries: number): Job => ({ ...answering(1, { tries, error: why }), pollUntil: epoch });
    expect(seen(late(5), 'modal', 'MODAL', retry)).toMatchObject({
      record: { status: 'modal' },
      nextRequest: { kind: 'modal' },
    });
    expect(seen(late(6), 'modal', 'MODAL', retry).record.status).toBe('in-doubt');
    expect(seen(late(0), 'unfinished', '', retry).record.status).toBe('in-doubt');
  });

  it('that is open and was never confirmed is confirmed at once', () => {
    const open = { ...answering(0), mayBeGone: 'failed' as const };
    const asked = { ...open, record: { ...open.record, status: 'modal' as const } };
    expect(seen(asked, 'modal', 'MODAL')).toMatchObject({ nextRequest: { kind: 'modal' }, misses: 0 });
    expect(seen(asked, 'unfinished', '').nextRequest.kind).toBe('wait');
  });

  it('that has moved on is watched like any other, and its confirm has arrived', () => {
    const { record, nextRequest, mayBeGone } = seen(
      polled({ misses: 3, mayBeGone: 'in-doubt' }),
      'unfinished',
      'IN_PROGRESS',
    );
    expect(record).toMatchObject({ status: 'running', taskId: 'M1', tries: 0 });
    expect([record.modal, record.error, mayBeGone]).toEqual([
      { taskId: 'M1', sent: 1, accepted: true },
      undefined,
      undefined,
    ]);
    expect(nextRequest).toMatchObject({ next: { kind: 'fetch', taskId: 'M1', why: 'poll' } });
  });

  it('that failed ends the job, or has the button pressed again where the job had failed before', () => {
    expect(seen(polled(), 'failure', 'FAILURE').record.status).toBe('failed');
    expect(seen(polled({ mayBeGone: 'in-doubt' }), 'failure', 'FAILURE').record.status).toBe('failed');
    expect(seen(polled({ mayBeGone: 'failed' }), 'failure', 'FAILURE').record.status).toBe('pending');
  });
});

it('a dialog that opens clears the error of an earlier try', () => {
  const from = { ...clicked({ tries: 3, error: why, finishedAt: 5 }), misses: 2, lastPoll: true as const };
  const { job } = transition(from).submitted({ kind: 'modal', code: 21, taskId: 'M7' });
  expect(job).toMatchObject({
    record: { status: 'modal', taskId: 'M7', modal: { taskId: 'M7', sent: 0 }, tries: 0 },
    misses: 0,
    nextRequest: { kind: 'wait', until: epoch + 1, next: { kind: 'modal' } },
  });
  expect([job.lastPoll, job.record.error, job.record.finishedAt]).toEqual([undefined, undefined, undefined]);
});
