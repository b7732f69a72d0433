import { learnedFact } from '../../run/limits/learned.ts';
import { type LearnedLimits, lanesOf, readLimits } from '../../run/limits/learned-limits.ts';
import { type KindDuration, learnedDurations } from '../../run/limits/poll/learned-polls.ts';
import type { StateReader } from '../../state/reader.ts';

/** What the runs of a directory have learned about their service. `run --relearn` forgets it. */
export interface LearnedFacts {
  /** How long its tasks take, by kind, the kind with most tasks first. */
  readonly durations: readonly KindDuration[];
  /** What it accepts, where it has refused more; absent: it refused nothing. */
  readonly limits?: LearnedLimits;
}

/** @returns undefined where nothing was learned, or what is kept cannot be read */
export async function readLearned(state: Pick<StateReader, 'fact'>): Promise<LearnedFacts | undefined> {
  const durations = learnedDurations(await state.fact(learnedFact('poll')));
  const limits = readLimits(await state.fact(learnedFact('limits')));
  const isLimited = lanesOf(limits).length > 0;
  if (durations.length === 0 && !isLimited) return undefined;
  return { durations, ...(isLimited ? { limits } : {}) };
}
