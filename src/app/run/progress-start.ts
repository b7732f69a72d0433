import { isTextKind } from '../../pipeline/kinds.ts';
import { estimatePlan } from '../../plan/estimate/estimate.ts';
import type { StepReport } from '../../plan/estimate/report.ts';
import type { RevivalFlags } from '../../plan/estimate/revival.ts';
import { optionalIn } from '../../plan/graph/optional.ts';
import { chosenSteps } from '../../plan/graph/step-selection.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { Planned } from '../../report/facts/planned.ts';
import { noCounts } from '../../results/run-ledger.ts';
import { settledJobs } from '../../results/sums.ts';
import type { RunSettings } from '../../run/ports.ts';
import type { StateReader } from '../../state/reader.ts';
import type { ProgressStart } from '../progress/model.ts';
import type { StepStart } from '../progress/step-start.ts';
import { stepWork } from '../progress/step-work.ts';
import type { RunSession } from './session.ts';

/** Largest number of slots that are examined one by one: more would noticeably delay the start of a run. */
const maxSlots = 20_000;

/** Number of finished jobs read to learn durations. Keys are hashes, so the first jobs are as good as a random sample. */
const maxRecords = 256;

/** Returns the state of a run before it begins: its steps, the jobs of each, how many are settled, and known durations. */
export async function progressStart(
  {
    plan,
    selection,
    state,
  }: Pick<RunSession, 'plan' | 'selection'> & { readonly state: { readonly reader: StateReader } },
  settings: Pick<RunSettings, 'limits'> & RevivalFlags,
): Promise<ProgressStart & { readonly planned: Planned }> {
  const { reader } = state;
  const redo = new Set<string>();
  for await (const key of reader.redos.waiting()) redo.add(key);
  const followed = new Set<string>();
  const { exact, steps, cells, total } = await estimatePlan(plan, selection, reader, {
    ...settings,
    maxSlots,
    redo,
    onFollowed: (key) => followed.add(key),
  });
  const totals = await reader.totals();
  const chosen = chosenSteps(plan, selection.only);
  if (!chosen.ok) throw new Error(`Internal error: ${chosen.error.message}`);
  const work = stepWork(plan.slotGraph, chosen.value.places, await finished(reader));
  const isNew = Object.values(totals.jobs).every((count) => count === 0);
  // For multiplied slots, finished jobs are not subtracted: they are assumed to be spread over all steps.
  const settled = exact || total.slots === 0 ? 0 : Math.min(1, settledJobs(totals) / total.slots);
  const { jobs, shared, slots, skipped, blocked, invalid, waiting } = total;
  // A slot that waits for a result is taken to become a job of its own.
  const slotsPerJob = exact && jobs + waiting > 0 ? 1 + shared / (jobs + waiting) : 1;
  const isKnown = exact && waiting === 0 && steps.every(({ open }) => !open);
  return {
    planned: {
      total: slots,
      ...(isKnown ? {} : { atMost: true }),
      settled: exact
        ? (total.done + total.failed + total.inDoubt) * slotsPerJob + skipped + blocked + invalid
        : Math.min(slots, settledJobs(totals)),
      slotsPerJob,
      jobs: settledJobs(totals),
      ...(total.why.retry + total.why.anew > 0 ? { again: true } : {}),
    },
    name: plan.pipeline.name,
    cells: cells.chosen,
    limits: { task: settings.limits.tasks, text: settings.limits.requests },
    earlier: { cost: totals.cost, tokens: totals.tokens },
    isOptional: optionalIn(plan.slotGraph),
    ...(exact ? { followed } : {}),
    steps: steps.map((report) => ({
      ...startOf(report, exact || isNew, settled),
      work: work.get(report.step) ?? [],
    })),
  };
}

function startOf(report: StepReport, isCounted: boolean, settled: number): Omit<StepStart, 'work'> {
  const { step, kind, open, waiting, jobs, shared, done, failed, inDoubt, skipped, blocked, invalid } =
    report;
  const { submits, running, unsaved } = report;
  return {
    name: step,
    isText: isTextKind(kind),
    counts: { ...noCounts, done, failed: failed + invalid, 'in-doubt': inDoubt, skipped, blocked },
    // Upper bounds serve as totals while nothing is done; afterwards they would be misleading.
    ...(open || waiting > 0 || !isCounted ? {} : { total: jobs + skipped + blocked + invalid }),
    left: (submits + running + unsaved + waiting) * (1 - settled),
    jobsPerSlot: jobs === 0 ? 1 : jobs / (jobs + shared),
  };
}

/** Returns a sample of the jobs that earlier runs finished. */
async function finished(reader: Pick<StateReader, 'withStatus'>): Promise<readonly JobRecord[]> {
  const records: JobRecord[] = [];
  for await (const record of reader.withStatus('done')) {
    records.push(record);
    if (records.length === maxRecords) break;
  }
  return records;
}
