import { aFlag, aMapping, aNumber } from '../../pipeline/values/shape.ts';
import { type DirectorySums, settledJobs } from '../../results/sums.ts';
import type { StateReader } from '../../state/reader.ts';
import type { FactKeeper } from '../../state/store.ts';
import { isMoment, jsonFact } from './json.ts';
import type { HowFar } from './json-outputs.generated.ts';
import type { RunFacts } from './run.ts';

/** Slots that a run has to settle, counted before its first submission. */
export interface Planned {
  readonly total: number;
  /** Whether `total` is an upper bound. */
  readonly atMost?: boolean;
  /** Slots that earlier runs settled. If slots share jobs it is computed from an average and may be a fraction. */
  readonly settled: number;
  /** Average number of slots that one job settles. */
  readonly slotsPerJob: number;
  /** Settled jobs in the directory, including those of other plans. */
  readonly jobs: number;
  /** Whether some of those jobs are retried or made again. */
  readonly again?: boolean;
}

const factName = 'run.planned';

/** Stores the planned slots of a run, so that its progress can be read during the run or after a crash. @throws StateError */
export async function writePlanned(
  state: Pick<FactKeeper, 'setFact'>,
  startedAt: number,
  planned: Planned,
): Promise<void> {
  await state.setFact(factName, JSON.stringify({ startedAt, ...planned }));
}

const isPlanned = aMapping(
  { startedAt: isMoment, total: aNumber, settled: aNumber, slotsPerJob: aNumber, jobs: aNumber },
  { atMost: aFlag, again: aFlag },
) as (value: unknown) => value is Planned & { readonly startedAt: number };

/**
 * Reads the progress of the last run without planning again.
 *
 * @param now Unix ms during a run; undefined if no run is active
 * @returns undefined if nothing ran, or the plan is not ready
 * @throws StateError
 */
export async function readHowFar(
  state: Pick<StateReader, 'file' | 'fact'>,
  facts: RunFacts | undefined,
  sums: DirectorySums,
  now: number | undefined,
): Promise<HowFar | undefined> {
  if (facts === undefined) return undefined;
  const { outcome, atStart, startedAt } = facts;
  if (outcome?.slots !== undefined && now === undefined) {
    const { pending, submitting, running, modal, saving } = outcome.slots;
    const total = Object.values(outcome.slots).reduce((all, slots) => all + slots, 0);
    return howFar(total, total - (pending + submitting + running + modal + saving));
  }
  const planned = await jsonFact(state, factName, isPlanned);
  if (planned?.startedAt !== startedAt) return undefined;
  const { total, settled, slotsPerJob, jobs, atMost, again = false } = planned;
  const more = settledJobs(sums) - jobs;
  const { submitting, running, modal, saving } = sums.jobs;
  // Jobs that are made again were settled before, so only their submissions show how many have ended.
  const sent = sums.attempts - atStart.attempts;
  const made = again ? Math.max(more, sent - submitting - running - modal - saving) : more;
  const slots = settled + made * slotsPerJob;
  // Rounding errors may leave a sum of fractions just below a whole number.
  const far = howFar(total, Math.min(total, Math.max(0, Math.floor(slots + 1e-6))));
  return {
    ...far,
    ...(atMost ? { atMost } : {}),
    ...(now === undefined || made <= 0
      ? {}
      : {
          leftMs: Math.round(((total - far.settled) * Math.max(0, now - startedAt)) / (made * slotsPerJob)),
        }),
  };
}

const howFar = (total: number, settled: number): HowFar => ({
  total,
  settled,
  percent: total === 0 ? 100 : Math.floor((100 * settled) / total),
});
