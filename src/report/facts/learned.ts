import { learnedFact } from '../../run/limits/learned.ts';
import { type KindDuration, learnedDurations } from '../../run/limits/poll/learned-polls.ts';
import type { StateReader } from '../../state/reader.ts';

/** What the runs of a directory have learned about their service. `run --relearn` forgets it. */
export interface LearnedFacts {
  /** How long its tasks take, by kind, the kind with most tasks first. */
  readonly durations: readonly KindDuration[];
}

/** @returns undefined where nothing was learned, or what is kept cannot be read */
export async function readLearned(state: Pick<StateReader, 'fact'>): Promise<LearnedFacts | undefined> {
  const durations = learnedDurations(await state.fact(learnedFact('poll')));
  return durations.length === 0 ? undefined : { durations };
}
