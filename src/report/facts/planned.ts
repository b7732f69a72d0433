import { aFlag, aMapping, aNumber } from '../../pipeline/values/shape.ts';
import { type DirectorySums, settledJobs } from '../../results/sums.ts';
import type { StateReader } from '../../state/reader.ts';
import type { FactKeeper } from '../../state/store.ts';
import { isMoment, jsonFact } from './json.ts';
import type { HowFar } from './json-outputs.generated.ts';
import type { RunFacts } from './run.ts';

/** What a run has before it when nothing is submitted: slots. */
export interface Planned {
  readonly total: number;
  /** There may be fewer. */
  readonly atMost?: boolean;
  /** How many of them earlier runs have settled; where slots share jobs, of so many jobs on average: a fraction. */
  readonly settled: number;
  /** How many slots a job settles on average. */
  readonly slotsPerJob: number;
  /** Settled jobs of the directory, of this plan or not. */
  readonly jobs: number;
  /** Some of those are tried again, or made anew. */
  readonly again?: boolean;
}

const factName = 'run.planned';

/** Keeps what a run has before it, for those who ask while it is on or after it was killed. @throws StateError */
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
 * Says how far the last run is, without planning again.
 *
 * @param now Unix ms where a run is on; undefined: none is
 * @returns undefined where nothing ran, or its plan is not ready
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
    const { done, failed, skipped, blocked, 'in-doubt': inDoubt } = outcome.slots;
    const total = Object.values(outcome.slots).reduce((all, slots) => all + slots, 0);
    return howFar(total, done + failed + inDoubt + skipped + blocked);
  }
  const planned = await jsonFact(state, factName, isPlanned);
  if (planned?.startedAt !== startedAt) return undefined;
  const { total, settled, slotsPerJob, jobs, atMost, again = false } = planned;
  const more = settledJobs(sums) - jobs;
  const { submitting, running, modal, saving } = sums.jobs;
  // A job that is made again was settled before: how many of them have ended, only their submissions say.
  const sent = sums.attempts - atStart.attempts;
  const made = again ? Math.max(more, sent - submitting - running - modal - saving) : more;
  const slots = settled + made * slotsPerJob;
  // A sum of fractions may miss a whole number by a hair.
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
