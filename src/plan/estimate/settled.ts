import type { Plan } from '../plan.ts';
import { reportOf } from './estimate.ts';
import type { PlanReport } from './report.ts';
import type { PlanTotals } from './scan.ts';
import { StepTotals } from './totals.ts';

/** The results of one step whose slots are all settled. */
export interface SettledStep {
  /** Slots with a finished job, counted at its first slot. */
  readonly done: number;
  /** Slots with a failed job, counted at its first slot. */
  readonly failed: number;
  /** Slots whose job is counted at another slot. */
  readonly shared: number;
  readonly skipped: number;
  readonly blocked: number;
}

/** Makes the report of a whole plan with nothing left to do, from its counts. */
export function settledReport(
  plan: Pick<Plan, 'pipeline' | 'serviceId' | 'slotGraph'>,
  settled: { readonly cells: number; readonly steps: Readonly<Record<string, SettledStep>> },
  totals: PlanTotals,
): PlanReport {
  const steps = [...plan.slotGraph.steps.values()].map(({ step }) => {
    const sum = new StepTotals(step);
    const { done = 0, failed = 0, shared = 0, skipped = 0, blocked = 0 } = settled.steps[step.name] ?? {};
    sum.job('done', done);
    sum.job('failed', failed);
    for (const [kind, count] of Object.entries({ shared, skipped, blocked } as const))
      sum.slot(kind as 'shared' | 'skipped' | 'blocked', count);
    return sum.report();
  });
  const cells = { total: settled.cells, chosen: settled.cells };
  return reportOf(plan, { cells, steps, exact: true, totals, unpricedNames: [], examples: [] });
}
