import { manifestRows, rowsByCell } from '../../../src/manifest/rows.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import {
  type CellResult,
  cellResults,
  type ResultContext,
} from '../../../src/report/results/cell-results.ts';
import type { Commands } from '../../../src/report/text/next-commands.ts';
import type { MemoryStore } from '../../rig/memory-store.ts';

export const commands: Commands = {
  run: 'promptpress run test.yaml',
  find: 'promptpress run test.yaml --in-doubt find',
  status: 'promptpress status runs/test',
  manifest: 'promptpress manifest runs/test',
  report: 'promptpress report runs/test',
  show: (key) => `promptpress show ${key} runs/test`,
  resolve: (key) => `promptpress resolve ${key} runs/test`,
};

export const contextOf = (plan: Plan, mask = (text: string): string => text): ResultContext => ({
  plan,
  variables: plan.matrix.variables,
  commands,
  running: false,
  mask,
});

/** All results of a plan. */
export async function resultsOf(
  plan: Plan,
  { reader }: Pick<MemoryStore, 'reader'>,
  mask?: (text: string) => string,
): Promise<readonly CellResult[]> {
  const all: CellResult[] = [];
  for await (const rows of rowsByCell(manifestRows(plan, {}, reader)))
    all.push(...cellResults(rows, all.length, contextOf(plan, mask)));
  return all;
}

/** A text job that is done. */
export function textRecord(slot: Slot, text: string, changes: Partial<JobRecord> = {}): JobRecord {
  const { job } = slot;
  if (job === undefined) throw new Error('the slot has no job');
  return {
    ...job,
    status: 'done',
    origin: { cell: slot.cell, step: slot.step, branch: slot.branch.join('/'), slot: slot.id },
    keep: slot.keep,
    attempts: 1,
    tries: 0,
    resubmits: 0,
    submittedAt: 1_000_000,
    finishedAt: 1_002_500,
    artifacts: [],
    text: {
      candidates: [{ text, isJson: text.startsWith('{'), finishReason: 'STOP', parts: [{ text }] }],
      model: 'text-pro-001',
    },
    usage: { prompt: 3, candidates: 4, total: 7 },
    ...changes,
  };
}
