import { describe, expect, it } from 'vitest';
import { attemptOf, rest, settle } from '../../../src/run/machine/transition.ts';
import { epoch, imagineRecord, job } from '../../rig/jobs.ts';

const error = { code: 'task.failed' as const, message: 'It failed.' };

describe('a job that is settled', () => {
  it.each(['failed', 'in-doubt'] as const)('is %s, has no next request, and keeps when and why', (status) => {
    const { job: settled } = settle(
      job(imagineRecord({ status: 'running', tries: 2 })),
      status,
      error,
      epoch,
      { tries: 0 },
    );
    expect(settled.record).toStrictEqual(imagineRecord({ status, error, finishedAt: epoch }));
    expect(settled.nextRequest).toEqual({ kind: 'nothing' });
  });

  it('cannot fail while an earlier submission may have made a task', () => {
    const open = job(imagineRecord({ doubtful: { count: 1, since: 7 } }));
    const { record } = settle(open, 'failed', error, epoch).job;
    expect(record).toMatchObject({ status: 'in-doubt', error: { code: 'task.failed' } });
    expect(record.error?.message).toMatch(/^An earlier try .* What ended the last one: It failed\.$/);
    expect(settle(open, 'in-doubt', error, epoch).job.record.error).toEqual(error);
  });

  it('may fail once the earlier submission is no longer open', () => {
    const closed = job(imagineRecord({ doubtful: { count: 1 } }));
    expect(settle(closed, 'failed', error, epoch).job.record).toMatchObject({ status: 'failed', error });
  });
});

it('an entry of the history has no unknown field', () => {
  expect(attemptOf({ key: 'k' }, 7, 'lost')).toStrictEqual({ key: 'k', at: 7, outcome: 'lost' });
  expect(attemptOf({ key: 'k', taskId: 'T' }, 7, 'accepted', error)).toStrictEqual({
    key: 'k',
    at: 7,
    outcome: 'accepted',
    taskId: 'T',
    error,
  });
});

it('a delay ends at its time with the given request', () => {
  const waiting = rest(job(imagineRecord()), 500, { kind: 'submit' }, epoch);
  expect(waiting.job.nextRequest).toEqual({ kind: 'wait', until: epoch + 500, next: { kind: 'submit' } });
  expect(Object.keys(waiting)).toEqual(['job']);
});
