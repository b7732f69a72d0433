import { expect, it } from 'vitest';
import { jobStatuses } from '../../src/plan/job.ts';
import { jobsInDoubt, lostBy, readSums, spentInRun, sumsOf } from '../../src/results/sums.ts';
import { clickRecord, imagineRecord, textRecord } from '../rig/jobs.ts';

type Totals = Parameters<typeof sumsOf>[0];

const noJobs = Object.fromEntries(jobStatuses.map((status) => [status, 0])) as Totals['jobs'];
const none: Totals = {
  jobs: noJobs,
  attempts: 0,
  cost: 0,
  possibleCost: 0,
  tokens: 0,
  assumedTokens: 0,
  codes: { failed: {}, 'in-doubt': {} },
};

it('counts a job that a killed run left during its submission as in doubt, and not as open too', () => {
  const totals = { ...none, jobs: { ...noJobs, pending: 1, submitting: 1, 'in-doubt': 1 } };
  expect(sumsOf(totals, [imagineRecord({ status: 'submitting' })])).toMatchObject({ doubts: 2, open: 1 });
});

it('counts a job of a run that is on as open during its submission, and as in doubt once the run has ended', async () => {
  const record = imagineRecord({ status: 'submitting' });
  const state = {
    totals: () => Promise.resolve({ ...none, jobs: { ...noJobs, submitting: 1 } }),
    async *unfinished() {
      yield record;
    },
    async *withStatus() {},
  };
  expect(await readSums(state, true)).toMatchObject({ doubts: 0, open: 1 });
  expect(await readSums(state, false)).toMatchObject({ doubts: 1, open: 0 });
});

it('counts each failed job once: as skipped, as accepted, or as failed', () => {
  const failed = { 'button.missing': 5, 'task.failed': 3, 'task.timeout': 2 };
  const totals = { ...none, jobs: { ...noJobs, failed: 10 }, codes: { failed, 'in-doubt': {} } };
  const count = (skipped: number, ...accepted: readonly string[]) => {
    const { jobs, codes } = sumsOf(totals, [], skipped, new Set(accepted));
    return [jobs.failed, jobs.skipped, jobs.accepted, codes.failed['button.missing']];
  };
  expect(count(0)).toEqual([10, 0, 0, 5]);
  expect(count(4)).toEqual([6, 4, 0, 1]);
  expect(count(4, 'task.failed', 'button.missing', 'never.seen')).toEqual([2, 4, 4, 1]);
});

it('adds what the requests in flight of a killed run may have taken, and of no other job', () => {
  const reserve = { cost: 0.5, tokens: 30 };
  const text = textRecord({ status: 'submitting', reserve });
  const totals = { ...none, jobs: { ...noJobs, submitting: 2 }, possibleCost: 0.1, assumedTokens: 7 };
  expect(sumsOf(totals, [text, imagineRecord({ status: 'submitting' })])).toMatchObject({
    possibleCost: 0.6,
    assumedTokens: 37,
    // A text call is asked again.
    doubts: 1,
    open: 1,
  });
  for (const status of jobStatuses)
    for (const modal of [undefined, { taskId: '8', sent: 1 }]) {
      const isLost = status === 'submitting' && modal === undefined;
      const record = clickRecord({ status, reserve, ...(modal && { modal }) });
      expect(lostBy(record)).toEqual(isLost ? { count: 1, ...reserve } : { count: 0, cost: 0, tokens: 0 });
    }
});

it('yields the jobs in doubt during a run too, and what a killed run left only after it', async () => {
  const left = [imagineRecord({ key: 'left', status: 'submitting' }), textRecord({ status: 'submitting' })];
  const state = {
    async *unfinished() {
      yield* [...left, imagineRecord({ key: 'running', status: 'running' })];
    },
    async *withStatus() {
      yield imagineRecord({ key: 'doubt', status: 'in-doubt' });
    },
  };
  const keys = async (running: boolean): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const { key } of jobsInDoubt(state, running)) found.push(key);
    return found;
  };
  expect([await keys(true), await keys(false)]).toEqual([['doubt'], ['doubt', 'left']]);
});

it('knows what a run spent only where the sum before it is known, and not where that is nothing', () => {
  expect([
    spentInRun({ cost: 0.3 }, { cost: 0.1 }),
    spentInRun({ cost: 0.3 }, { cost: 0.3 }),
    spentInRun({ cost: 0.3 }, {}),
  ]).toEqual([0.2, undefined, undefined]);
});
