import { expect, it } from 'vitest';
import { jobStatuses } from '../../src/plan/job.ts';
import { readSums, sumsOf } from '../../src/results/sums.ts';
import { imagineRecord } from '../rig/jobs.ts';

const noJobs = Object.fromEntries(jobStatuses.map((status) => [status, 0])) as Parameters<
  typeof sumsOf
>[0]['jobs'];

it('counts a job that a killed run left during its submission as in doubt, and not as open too', () => {
  const totals = {
    jobs: { ...noJobs, pending: 1, submitting: 1, 'in-doubt': 1 },
    attempts: 2,
    cost: 0,
    possibleCost: 0,
    tokens: 0,
    assumedTokens: 0,
    codes: { failed: {}, 'in-doubt': {} },
  };
  expect(sumsOf(totals, [imagineRecord({ status: 'submitting' })])).toMatchObject({ doubts: 2, open: 1 });
});

it('counts a job of a run that is on as open during its submission, and as in doubt once the run has ended', async () => {
  const record = imagineRecord({ status: 'submitting' });
  const state = {
    totals: () =>
      Promise.resolve({
        jobs: { ...noJobs, submitting: 1 },
        attempts: 1,
        cost: 0,
        possibleCost: 0,
        tokens: 0,
        assumedTokens: 0,
        codes: { failed: {}, 'in-doubt': {} },
      }),
    async *unfinished() {
      yield record;
    },
    async *withStatus() {},
  };
  expect(await readSums(state, true)).toMatchObject({ doubts: 0, open: 1 });
  expect(await readSums(state, false)).toMatchObject({ doubts: 1, open: 0 });
});
