import { describe, expect, it } from 'vitest';
import type { Job, JobContext, JobStep } from '../../../../src/run/machine/job.ts';
import {
  defer,
  fetchLater,
  retryFetch,
  retryLater,
  retrySave,
  retryUnread,
  revert,
} from '../../../../src/run/machine/retry/retry.ts';
import { failure } from '../../../rig/failure.ts';
import { context, epoch, imagineRecord, job } from '../../../rig/jobs.ts';

const error = { code: 'service.unavailable' as const, message: 'Busy.' };
const next = { kind: 'submit' } as const;
const sent = (tries = 0): Job =>
  job(imagineRecord({ status: 'submitting', attempts: 3, tries, submittedAt: epoch }));
const { attempts } = context().retry;
const onExhausted = (tries: number): JobStep => {
  throw new Error(`exhausted after ${tries}`);
};

/** Every rest of a job that is treated so again and again, in ms from `epoch`, until it ends. */
function rests(from: Job, again: (job: Job) => JobStep): readonly number[] {
  const found: number[] = [];
  for (let now = from; found.length < 20; ) {
    const { job: then } = again(now);
    if (then.nextRequest.kind !== 'wait') return found;
    found.push(then.nextRequest.until - epoch);
    now = then;
  }
  return found;
}

it('revert removes the attempt and the time of its submission from the record', () => {
  const { record } = revert(sent(2));
  expect(record).toEqual(imagineRecord({ attempts: 2, tries: 2 }));
});

describe('defer', () => {
  const put = (from: Job, changes: Partial<JobContext> = {}, atLeastMs?: number) =>
    defer(from, { route: 'submit', error, atLeastMs, next }, context(changes));

  it('waits longer each time, uses up no try, and never ends where no job is served', () => {
    const found = rests(revert(sent()), (from) => put(from, { taskMs: 0 }));
    expect(found.slice(0, 8)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(found).toHaveLength(20);
    expect(put(revert(sent(2))).job.record).toMatchObject({ attempts: 2, tries: 2 });
  });

  it('waits for as long as the service asks', () => {
    expect(put(sent(), {}, 90_000).job.nextRequest).toEqual({ kind: 'wait', until: epoch + 90_000, next });
  });

  it('waits no longer than the patience of the run, whatever the service asks', () => {
    const { retry } = context();
    const until = epoch + retry.patienceMs;
    const hours = 2 * retry.patienceMs;
    const waits = [
      put(sent(), {}, hours),
      retryLater(sent(), { status: 'pending', error, atLeastMs: hours, next, onExhausted }, context()),
      fetchLater(sent(), failure('x', 'throttle', { retryAfterMs: hours }), next, context()),
      retrySave(sent(), { error, atLeastMs: hours, next }, context()),
    ];
    for (const { job: then } of waits) expect(then.nextRequest).toEqual({ kind: 'wait', until, next });
  });

  it('ends a job that is deferred while all others are served, by onStarved if given', () => {
    let served = 0;
    const others = (): Partial<JobContext> => {
      served += 100;
      return { taskMs: 0, tally: () => ({ served, firsts: served, firstsServed: served }) };
    };
    let starving = sent();
    for (let n = 1; n < attempts; n++) starving = put(starving, others()).job;
    expect(starving.nextRequest.kind).toBe('wait');
    const last = others();
    expect(put(starving, last).job.record).toMatchObject({
      status: 'failed',
      error: { code: error.code, message: 'Busy. (6 times in 0 min, in which others were served)' },
    });
    const onStarved = (from: Job): JobStep => ({ job: { ...from, nextRequest: { kind: 'task-slot' } } });
    const ended = defer(starving, { route: 'submit', error, next, onStarved }, context(last));
    expect(ended.job.nextRequest).toEqual({ kind: 'task-slot' });
  });
});

describe('retryLater', () => {
  const tried = (from: Job, atLeastMs?: number) =>
    retryLater(from, { status: 'pending', error, atLeastMs, next, onExhausted }, context());

  it('counts a try, keeps its error, and waits', () => {
    const { record, nextRequest } = tried(sent(2)).job;
    expect(record).toMatchObject({ status: 'pending', attempts: 3, tries: 3, error });
    expect(nextRequest).toEqual({ kind: 'wait', until: epoch + 2000, next });
    expect(tried(sent(2), 5000).job.nextRequest).toMatchObject({ until: epoch + 5000 });
  });

  it('ends by onExhausted after retry.attempts', () => {
    expect(() => tried(sent(attempts - 2))).not.toThrow();
    expect(() => tried(sent(attempts - 1))).toThrow(`exhausted after ${attempts}`);
  });
});

describe('retryUnread', () => {
  const unread = (kind: 'retry' | 'permanent', tries: number) =>
    retryUnread(
      sent(tries),
      { code: 'input.missing', class: kind, message: 'Gone.' },
      { status: 'pending', next },
      context(),
    ).job;

  it.each([
    ['retry', attempts - 2, 'pending', attempts - 1],
    ['retry', attempts - 1, 'failed', 0],
    ['permanent', 0, 'failed', 0],
  ] as const)('%s after %i tries: %s', (kind, before, status, tries) => {
    expect(unread(kind, before).record).toMatchObject({ status, tries, error: { code: 'input.missing' } });
  });
});

describe('retryFetch', () => {
  const pollFails = (kind: Parameters<typeof failure>[1]) => (from: Job) =>
    retryFetch(from, failure('service.rejected', kind), next, context());

  it('ends after retry.attempts plain refusals', () => {
    expect(rests(sent(), pollFails('permanent'))).toHaveLength(attempts - 1);
  });

  it('continues for as long as the route serves no job', () => {
    expect(rests(sent(), pollFails('retry'))).toHaveLength(20);
  });

  it('counts no read that the route prevented', () => {
    const { misses } = fetchLater(sent(), failure('service.unavailable', 'throttle'), next, context()).job;
    expect(misses).toBe(0);
    expect(fetchLater(sent(), failure('service.unavailable', 'lost'), next, context()).job.misses).toBe(1);
  });
});

it('retrySave ends after the given number of tries, and names the number', () => {
  const save = (from: Job) => retrySave(from, { error, next }, context(), 3);
  expect(rests(sent(), save)).toEqual([500, 1000]);
  const { record } = save({ ...sent(), misses: 2 }).job;
  expect(record).toMatchObject({ status: 'failed', error: { message: 'Busy. (after 3 tries)' } });
});
