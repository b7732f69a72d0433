import { describe, expect, it } from 'vitest';
import type { Deferrals, Job } from '../../../../src/run/machine/job.ts';
import { countsAsMiss, fetchLater, retryFetch, retrySave } from '../../../../src/run/machine/retry/retry.ts';
import { failure } from '../../../rig/failure.ts';
import { context, epoch, imagineRecord, job } from '../../../rig/jobs.ts';

const next = { kind: 'fetch', taskId: 'T1', why: 'link' } as const;
const saving = (changes: Partial<Job> = {}): Job =>
  job(imagineRecord({ status: 'saving', taskId: 'T1' }), { nextRequest: { kind: 'answer' }, ...changes });
const before = { served: 0, firsts: 0, firstsServed: 0 };
const deferred = (times: number): Deferrals => ({
  times,
  own: 9,
  since: epoch - 9_000_000,
  before,
  served: 0,
});
const down = failure('service.unavailable', 'retry', { status: 503 });
const denied = failure('service.rejected', 'permanent', { status: 400 });
const unknown = failure('service.task-unknown', 'retry', { status: 404 });
const untils = ({ nextRequest }: Job): number =>
  nextRequest.kind === 'wait' ? nextRequest.until - epoch : Number.NaN;

describe('a read of a finished task', () => {
  it.each([denied, unknown])('ends after the tries where it is refused: %#', (error) => {
    const fourth = retryFetch(saving({ misses: 4 }), error, next, context()).job;
    expect([fourth.record.status, fourth.misses]).toEqual(['saving', 5]);
    const last = retryFetch(saving({ misses: 5 }), error, next, context()).job.record;
    expect([last.status, last.error?.code]).toEqual(['failed', error.code]);
  });

  it('continues where it fails in any other way, and counts the deferral of the route', () => {
    const after = retryFetch(saving({ misses: 50 }), down, next, context()).job;
    expect(after).toMatchObject({ record: { status: 'saving' }, nextRequest: { kind: 'wait', next } });
    expect([after.misses, after.deferrals?.poll?.times, after.deferrals?.download]).toEqual([
      51,
      1,
      undefined,
    ]);
  });

  it('ends where the route serves all others, and says how long that was', () => {
    const tally = () => ({ served: 100, firsts: 100, firstsServed: 100 });
    const from = saving({ deferrals: { poll: deferred(40) } });
    const { record } = retryFetch(from, down, next, context({ tally })).job;
    expect(record).toMatchObject({ status: 'failed', error: { code: 'service.unavailable' } });
    expect(record.error?.message).toContain('41 times in 150 min');
    const other = saving({ deferrals: { submit: deferred(40) } });
    expect(retryFetch(other, down, next, context({ tally })).job.record.status).toBe('saving');
  });

  it('waits longer each time, by failures or by deferrals, and as long as the service asks', () => {
    const rests = (from: Job, error = down): number => untils(fetchLater(from, error, next, context()).job);
    expect([0, 1, 2, 3].map((misses) => rests(saving({ misses })))).toEqual([500, 1000, 2000, 4000]);
    const throttled = failure('service.throttled', 'throttle', { retryAfterMs: 9000 });
    expect(rests(saving({ misses: 0 }), failure('connection.refused', 'unsent'))).toBe(500);
    expect(rests(saving({ misses: 3, deferrals: { poll: deferred(2) } }), throttled)).toBe(9000);
    expect(rests(saving({ deferrals: { poll: deferred(4), submit: deferred(9) } }))).toBe(4000);
  });

  it('counts as failed unless the route or the API key prevented it', () => {
    const classes = ['throttle', 'unsent', 'retry', 'lost', 'permanent', 'stop'] as const;
    expect(classes.filter((kind) => countsAsMiss(failure('x', kind)))).toEqual([
      'retry',
      'lost',
      'permanent',
    ]);
  });
});

describe('a download', () => {
  const error = { code: 'download.status' as const, message: 'm' };

  it('is tried retry.attempts times, or as its caller says, and names the number', () => {
    const tried = (misses: number, attempts?: number) =>
      retrySave(saving({ misses }), { error, next }, context(), attempts).job;
    expect([tried(4).record.status, tried(4).misses, tried(5).record.status]).toEqual([
      'saving',
      5,
      'failed',
    ]);
    expect([tried(7, 9).record.status, tried(8, 9).record.status]).toEqual(['saving', 'failed']);
    expect(tried(5).record.error).toEqual({ ...error, message: 'm (after 6 tries)' });
  });
});
