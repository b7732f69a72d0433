import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Cell, Selection } from '../../../src/plan/cell.ts';
import { type EstimateOptions, estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import type { PlanReport } from '../../../src/plan/estimate/report.ts';
import type { PlanState, PlanTotals } from '../../../src/plan/estimate/scan.ts';
import type { JobRecord, JobStatus } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { SimulatedState } from '../simulated-state.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../../schemas/plan.schema.json', import.meta.url), 'utf8'),
);

const isValid = new Ajv2020({ strict: true }).compile(schema);

/** An estimate that keeps its own laws and its schema. */
export async function estimate(
  plan: Plan,
  selection: Selection = {},
  state?: PlanState,
  options?: EstimateOptions,
): Promise<PlanReport> {
  const report = await estimatePlan(plan, selection, state, options);
  expect(isValid(report), JSON.stringify(isValid.errors)).toBe(true);
  for (const counts of [report.total, ...report.steps]) {
    const { slots, jobs, shared, skipped, blocked, waiting, invalid } = counts;
    expect(slots).toBe(jobs + shared + skipped + blocked + waiting + invalid);
    const { submits, held, running, unsaved, done, inDoubt, failed, why } = counts;
    expect(jobs).toBe(submits + held + running + unsaved + done + inDoubt + failed);
    expect(submits).toBe(why.new + why.changed + why.retry + why.anew);
  }
  expect(report.atMost).toBeCloseTo(report.total.cost + report.total.later.cost, 8);
  return report;
}

/** A run directory, as far as an estimate asks for it. */
export class Directory extends SimulatedState implements PlanState {
  /** How often it was asked for a job or a slot. */
  asked = 0;
  /** What submissions without a response may have cost. */
  possibleCost = 0;

  async many(keys: readonly string[]): Promise<ReadonlyMap<string, JobRecord>> {
    this.asked += keys.length;
    return new Map(
      keys.flatMap((key) => {
        const record = this.lookup(key);
        return record === undefined ? [] : [[key, record] as const];
      }),
    );
  }

  async keysOfSlots(slots: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    this.asked += slots.length;
    const jobs = [...this.records.values()];
    return new Map(
      slots.map((slot) => [slot, jobs.filter(({ origin }) => origin.slot === slot).map(({ key }) => key)]),
    );
  }

  async totals(): Promise<PlanTotals> {
    const jobs: Record<string, number> = {};
    let attempts = 0;
    for (const record of this.records.values()) {
      jobs[record.status] = (jobs[record.status] ?? 0) + 1;
      attempts += record.attempts;
    }
    return {
      jobs: jobs as Record<JobStatus, number>,
      attempts,
      tokens: attempts * 100,
      assumedTokens: 0,
      cost: attempts * 0.5,
      possibleCost: this.possibleCost,
    };
  }
}

export const text = `
  prices: { imagine: 0.04, "U*": 0.01 }
  matrix: { animal: [fox, owl] }
  steps:
    grid: { imagine: "a {{ animal }}", path: "U1..U2 → Vary (Strong)" }
    cat: { imagine: a cat }`;

export async function scene(yaml = text): Promise<{
  plan: Plan;
  state: Directory;
  at: (cell: number, name: string) => Slot;
}> {
  const plan = await planOf(yaml);
  const cells = await cellsOf(plan);
  const state = new Directory();
  const at = (cell: number, name: string): Slot => {
    const slots = plan.resolve(cells[cell - 1] as Cell, state.lookup);
    return slots.find(({ step, branch }) => [step, ...branch].join('/') === name) as Slot;
  };
  return { plan, state, at };
}
