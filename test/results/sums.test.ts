import { expect, it } from 'vitest';
import { jobStatuses } from '../../src/plan/job.ts';
import { sumsOf } from '../../src/results/sums.ts';
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
