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
  /** Slots that failed or are blocked, as the pipeline accepts. */
  readonly accepted: number;
}

/** Makes the report of a whole plan with nothing left to do, from its counts. */
export function settledReport(
  plan: Pick<Plan, 'pipeline' | 'serviceId' | 'slotGraph'>,
  settled: { readonly cells: number; readonly steps: Readonly<Record<string, SettledStep>> },
  totals: PlanTotals,
): PlanReport {
  const steps = [...plan.slotGraph.steps.values()].map(({ step }) => {
    const sum = new StepTotals(step);
    const of: Partial<SettledStep> = settled.steps[step.name] ?? {};
    for (const kind of ['done', 'failed'] as const) sum.job(kind, of[kind] ?? 0);
    for (const kind of ['shared', 'skipped', 'blocked', 'accepted'] as const) sum.slot(kind, of[kind] ?? 0);
    return sum.report();
  });
  const cells = { total: settled.cells, chosen: settled.cells };
  return reportOf(plan, { cells, steps, exact: true, totals, unpricedNames: [], examples: [] });
}
