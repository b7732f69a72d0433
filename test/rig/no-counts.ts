import type { PlanCounts } from '../../src/plan/estimate/report.ts';
import type { JobStatus } from '../../src/plan/job.ts';
import type { CountedStatus } from '../../src/plan/slot.ts';

/** Counts of nothing, to be changed by a test. */

export const noJobs: Readonly<Record<JobStatus, number>> = {
  pending: 0,
  submitting: 0,
  running: 0,
  modal: 0,
  saving: 0,
  done: 0,
  failed: 0,
  'in-doubt': 0,
};

export const noSlots: Readonly<Record<CountedStatus, number>> = {
  ...noJobs,
  skipped: 0,
  blocked: 0,
  accepted: 0,
};

export const noPlanCounts: PlanCounts = {
  slots: 0,
  jobs: 0,
  shared: 0,
  submits: 0,
  why: { new: 0, changed: 0, retry: 0, anew: 0 },
  held: 0,
  running: 0,
  unsaved: 0,
  done: 0,
  inDoubt: 0,
  failed: 0,
  skipped: 0,
  blocked: 0,
  accepted: 0,
  waiting: 0,
  invalid: 0,
  tokens: { input: 0, output: 0 },
  cost: 0,
  unpriced: 0,
  later: { tokens: { input: 0, output: 0 }, cost: 0, unpriced: 0 },
};
