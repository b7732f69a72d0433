import type { Plan } from '../plan.ts';
import type { Slot } from '../slot.ts';
import { reportOf } from './estimate.ts';
import type { PlanReport } from './report.ts';
import { isNotKept, type PlanTotals } from './scan.ts';
import { StepTotals } from './totals.ts';

/** What became of the slots of one step, where all are settled. */
export interface SettledStep {
  /** Slots that are the first of their job. */
  readonly done: number;
  /** The same of failed jobs. */
  readonly failed: number;
  /** Slots whose job is counted at another slot. */
  readonly shared: number;
  readonly skipped: number;
  readonly blocked: number;
}

type Count = keyof SettledStep;

/** Counts the slots of a whole plan in which nothing is left to do, in plan order. */
export class SettledCounts {
  readonly #steps = new Map<string, Record<Count, number>>();
  #isKnown = true;

  /**
   * @param more.isShared an earlier slot has the same job
   * @param more.isFinal no job that it comes from is, or is to be, redone
   */
  add(slot: Slot, { isShared, isFinal }: { readonly isShared: boolean; readonly isFinal: boolean }): void {
    const { status, record, step } = slot;
    // A slot that failed without a job, and a reply whose images are wanted after all, are things that a plan has words for.
    const isPlain =
      status === 'skipped' || status === 'blocked' || (record !== undefined && !isNotKept(slot));
    if (!isFinal || !isPlain) this.#isKnown = false;
    else if (status === 'done' || status === 'failed') this.#count(step, isShared ? 'shared' : status);
    else if (status === 'skipped' || status === 'blocked') this.#count(step, status);
    else this.#isKnown = false;
  }

  #count(step: string, as: Count): void {
    let counts = this.#steps.get(step);
    if (counts === undefined) {
      counts = { done: 0, failed: 0, shared: 0, skipped: 0, blocked: 0 };
      this.#steps.set(step, counts);
    }
    counts[as] += 1;
  }

  /** By the names of the steps; undefined where some slot is not settled, or its step's counts do not say all about it. */
  result(): Readonly<Record<string, SettledStep>> | undefined {
    return this.#isKnown ? Object.fromEntries(this.#steps) : undefined;
  }
}

/** The report of a whole plan in which nothing is left to do, from its counts. */
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
