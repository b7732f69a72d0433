import { learnedFact } from '../../run/limits/learned.ts';
import { type LearnedLimits, lanesOf, readLimits } from '../../run/limits/learned-limits.ts';
import { type KindDuration, learnedDurations } from '../../run/limits/polls.ts';
import type { StateReader } from '../../state/reader.ts';

/** What earlier runs of a directory learned about their service. `run --relearn` deletes it. */
export interface LearnedFacts {
  /** Durations of tasks by kind, the kind with most tasks first. */
  readonly durations: readonly KindDuration[];
  /** Limits of the service; absent if it has never refused a request. */
  readonly limits?: LearnedLimits;
}

/** Reads what earlier runs learned. @returns undefined if nothing was learned or it cannot be read */
export async function readLearned(state: Pick<StateReader, 'fact'>): Promise<LearnedFacts | undefined> {
  const durations = learnedDurations(await state.fact(learnedFact('poll')));
  const limits = readLimits(await state.fact(learnedFact('limits')));
  const isLimited = lanesOf(limits).length > 0;
  if (durations.length === 0 && !isLimited) return undefined;
  return { durations, ...(isLimited ? { limits } : {}) };
}
