import { isTextKind } from '../../pipeline/kinds.ts';
import { estimatePlan } from '../../plan/estimate/estimate.ts';
import type { StepReport } from '../../plan/estimate/report.ts';
import type { RevivalFlags } from '../../plan/estimate/revival.ts';
import { optionalIn } from '../../plan/graph/optional.ts';
import type { Planned } from '../../report/facts/planned.ts';
import { noCounts } from '../../results/run-ledger.ts';
import { settledJobs } from '../../results/sums.ts';
import type { StateReader } from '../../state/reader.ts';
import type { ProgressStart, StepStart } from '../progress/model.ts';
import type { RunSession } from './session.ts';

/** Largest number of slots that are examined one by one: more would noticeably delay the start of a run. */
const maxSlots = 20_000;

/** Returns the state of a run before it begins: its steps, the jobs of each, and how many are settled. */
export async function progressStart(
  {
    plan,
    selection,
    state,
  }: Pick<RunSession, 'plan' | 'selection'> & { readonly state: { readonly reader: StateReader } },
  flags: RevivalFlags,
): Promise<ProgressStart & { readonly planned: Planned }> {
  const { reader } = state;
  const redo = new Set<string>();
  for await (const key of reader.redos.waiting()) redo.add(key);
  const followed = new Set<string>();
  const { exact, steps, cells, total } = await estimatePlan(plan, selection, reader, {
    ...flags,
    maxSlots,
    redo,
    onFollowed: (key) => followed.add(key),
  });
  const totals = await reader.totals();
  const isNew = Object.values(totals.jobs).every((count) => count === 0);
  // For multiplied slots, finished jobs are not subtracted: they are assumed to be spread over all steps.
  const settled = exact || total.slots === 0 ? 0 : Math.min(1, settledJobs(totals) / total.slots);
  const { jobs, shared, slots, skipped, blocked, accepted, invalid, waiting } = total;
  // A slot that waits for a result is taken to become a job of its own.
  const slotsPerJob = exact && jobs + waiting > 0 ? 1 + shared / (jobs + waiting) : 1;
  const isKnown = exact && waiting === 0 && steps.every(({ open }) => !open);
  return {
    planned: {
      total: slots,
      ...(isKnown ? {} : { atMost: true }),
      settled: exact
        ? (total.done + total.failed + total.inDoubt) * slotsPerJob + skipped + blocked + accepted + invalid
        : Math.min(slots, settledJobs(totals)),
      slotsPerJob,
      jobs: settledJobs(totals),
      ...(total.why.retry + total.why.anew > 0 ? { again: true } : {}),
    },
    name: plan.pipeline.name,
    cells: cells.chosen,
    earlier: { cost: totals.cost, tokens: totals.tokens },
    isOptional: optionalIn(plan.slotGraph),
    ...(exact ? { followed } : {}),
    steps: steps.map((report) => startOf(report, exact || isNew, settled)),
  };
}

function startOf(report: StepReport, isCounted: boolean, settled: number): StepStart {
  const { step, kind, open, atMost, waiting, jobs, done, failed, inDoubt, skipped, blocked, invalid } =
    report;
  const { accepted, submits, running, unsaved } = report;
  return {
    name: step,
    isText: isTextKind(kind),
    counts: { ...noCounts, done, failed: failed + invalid, 'in-doubt': inDoubt, skipped, blocked, accepted },
    // Upper bounds serve as totals while nothing is done; afterwards they would be misleading.
    ...(open || waiting > 0 || !isCounted ? {} : { total: jobs + skipped + blocked + accepted + invalid }),
    left: (submits + running + unsaved + waiting) * (1 - settled),
    ...((open || atMost) && { isOpen: true }),
  };
}
