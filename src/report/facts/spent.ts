import { roundMoney } from '../../plan/estimate/price.ts';
import { isInterrupted } from '../../plan/estimate/revival.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { StateReader, StoreTotals } from '../../state/reader.ts';

/** What is known, and what may have been, spent in a directory so far: over its life, by the sums of its state. Every command says these. */
export interface SpentSoFar {
  /** Absent: nothing is priced. */
  readonly cost?: number;
  /** Of submissions without a response, and replies without a token count, in addition; absent: nothing. */
  readonly possibleCost?: number;
  /** Estimated tokens of replies without a token count, and of text calls whose answer was lost; absent: there was none. */
  readonly assumedTokens?: number;
}

/** The sums of a state when a run began; absent parts are those of runs that did not keep them. */
export type SpentAtStart = Partial<Pick<StoreTotals, 'cost' | 'possibleCost'>>;

export const spentSoFar = ({
  cost,
  possibleCost,
  assumedTokens,
}: Pick<StoreTotals, 'cost' | 'possibleCost' | 'assumedTokens'>): SpentSoFar => ({
  ...(cost === 0 ? {} : { cost: roundMoney(cost) }),
  ...(possibleCost === 0 ? {} : { possibleCost: roundMoney(possibleCost) }),
  ...(assumedTokens === 0 ? {} : { assumedTokens }),
});

/** What one run has spent of that; undefined: nothing, or it is not known what was spent before. */
export function spentInRun(
  { cost }: Pick<StoreTotals, 'cost'>,
  { cost: before }: SpentAtStart,
): number | undefined {
  const spent = before === undefined ? 0 : roundMoney(cost - before);
  return spent > 0 ? spent : undefined;
}

/** The jobs whose request was under way when a run was killed, and which no later run has counted as unanswered; none while a run is on. */
export async function* leftUnanswered(
  state: Pick<StateReader, 'unfinished'>,
  running: boolean,
): AsyncGenerator<JobRecord> {
  if (running) return;
  for await (const record of state.unfinished()) if (isInterrupted(record)) yield record;
}

/** The sums of a state; what a killed run has left without an answer may have been paid. @param running a run is on @throws StateError */
export async function totalsWithLeft(
  state: Pick<StateReader, 'totals' | 'unfinished'>,
  running: boolean,
): Promise<StoreTotals> {
  let totals = await state.totals();
  if (totals.jobs.submitting === 0) return totals;
  for await (const record of leftUnanswered(state, running)) totals = withReserveOf(totals, record);
  return totals;
}

/** Sums with what the request of one more job may have used, which is under way or was left without an answer. */
export const withReserveOf = (totals: StoreTotals, { reserve }: Pick<JobRecord, 'reserve'>): StoreTotals => ({
  ...totals,
  possibleCost: roundMoney(totals.possibleCost + (reserve?.cost ?? 0)),
  assumedTokens: totals.assumedTokens + (reserve?.tokens ?? 0),
});
