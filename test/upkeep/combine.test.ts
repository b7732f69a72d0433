import { describe, expect, it } from 'vitest';
import type { JobRecord, JobStatus } from '../../src/plan/job.ts';
import { combine, type KnownJob } from '../../src/upkeep/combine.ts';
import { imagineRecord } from '../rig/jobs.ts';

let moment = 0;

/** A job with a submission of its own. */
function known(status: JobStatus, more: Partial<JobRecord> = {}): KnownJob {
  moment += 1;
  const record = imagineRecord({
    key: 'k',
    status,
    attempts: 1,
    submittedAt: moment,
    taskId: `task-${moment}`,
    cost: 0.5,
    ...more,
  });
  return { record, attempts: [{ key: 'k', at: moment, outcome: 'accepted' }] };
}

const order = ['done', 'saving', 'running', 'modal', 'in-doubt', 'submitting', 'failed', 'pending'] as const;

describe('combine', () => {
  it.each(order.flatMap((further, at) => order.slice(at + 1).map((other) => [further, other] as const)))(
    '%s goes before %s, whichever is first; what both have cost adds up',
    (further, other) => {
      const [a, b] = [known(further), known(other)];
      for (const [both, isSecond] of [
        [combine(a, b), false],
        [combine(b, a), true],
      ] as const) {
        expect(both).toMatchObject({ isSecond, isConflict: false });
        const { taskId } = a.record;
        expect(both.record).toMatchObject({ status: further, taskId, attempts: 2, cost: 1 });
      }
    },
  );

  it('takes the older of two results, and says that there are two', () => {
    const [a, b] = [known('done', { finishedAt: 20 }), known('done', { finishedAt: 10 })];
    expect(combine(a, b)).toMatchObject({ isSecond: true, isConflict: true, record: { finishedAt: 10 } });
    expect(combine(b, a)).toMatchObject({ isSecond: false, isConflict: true, record: { finishedAt: 10 } });
  });

  it('counts the same submission once, also where one directory has gone on', () => {
    const before = known('running');
    const after: KnownJob = {
      record: { ...before.record, status: 'done', finishedAt: 99 },
      attempts: before.attempts,
    };
    const both = combine(before, after);
    expect(both).toMatchObject({ isSecond: true, isConflict: false });
    expect(both.record).toMatchObject({ attempts: 1, cost: 0.5, status: 'done' });
  });

  it('adds up tokens, assumed tokens, and doubtful submissions without the wait for them', () => {
    const a = known('done', { usage: { prompt: 3, total: 3 }, doubtful: { count: 1, cost: 0.25 } });
    const b = known('in-doubt', {
      usage: { prompt: 4, thoughts: 1, total: 5 },
      doubtful: { count: 2, cost: 0.5, since: 7 },
      assumed: { answers: 1, tokens: 10 },
    });
    expect(combine(a, b).record).toMatchObject({
      usage: { prompt: 7, thoughts: 1, total: 8 },
      doubtful: { count: 3, cost: 0.75 },
      assumed: { answers: 1, tokens: 10 },
    });
    expect(combine(a, b).record.doubtful?.since).toBeUndefined();
  });
});
