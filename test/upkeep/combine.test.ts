import fc from 'fast-check';
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

  it('keeps all spending and wishes of both records, and the first of two that came equally far', () => {
    const one = fc.record({
      status: fc.constantFrom(...order),
      attempts: fc.integer({ min: 1, max: 3 }),
      keep: fc.boolean(),
      split: fc.constantFrom(true, undefined),
      partlyPriced: fc.constantFrom(true, undefined),
    });
    fc.assert(
      fc.property(one, one, (first, second) => {
        const strip = (facts: object) =>
          Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
        const [a, b] = [first, second].map(({ status, ...more }) => known(status, strip(more)));
        const { record, isSecond } = combine(a as KnownJob, b as KnownJob);
        expect([record.attempts, record.cost]).toEqual([first.attempts + second.attempts, 1]);
        const either = (name: 'keep' | 'split' | 'partlyPriced'): boolean =>
          first[name] === true || second[name] === true;
        expect([record.keep, record.split === true, record.partlyPriced === true]).toEqual([
          either('keep'),
          either('split'),
          either('partlyPriced'),
        ]);
        const further = order.indexOf(second.status) - order.indexOf(first.status);
        const isDone = first.status === 'done';
        expect(isSecond).toBe(further < 0 || (further === 0 && !isDone && second.attempts > first.attempts));
      }),
    );
  });

  it('takes the older of two results, and reports that there are two', () => {
    const [a, b] = [known('done', { finishedAt: 20 }), known('done', { finishedAt: 10 })];
    expect(combine(a, b)).toMatchObject({ isSecond: true, isConflict: true, record: { finishedAt: 10 } });
    expect(combine(b, a)).toMatchObject({ isSecond: false, isConflict: true, record: { finishedAt: 10 } });
  });

  it('counts the same submission once, even if one directory has continued', () => {
    const before = known('running');
    const after: KnownJob = {
      record: { ...before.record, status: 'done', finishedAt: 99 },
      attempts: before.attempts,
    };
    const both = combine(before, after);
    expect(both).toMatchObject({ isSecond: true, isConflict: false });
    expect(both.record).toMatchObject({ attempts: 1, cost: 0.5, status: 'done' });
  });

  it('adds up tokens, estimated tokens, and unanswered submissions without the wait for them', () => {
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
