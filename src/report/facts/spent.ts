import { roundMoney } from '../../plan/estimate/price.ts';
import type { StoreTotals } from '../../state/reader.ts';

/** What is known, and what may have been, spent in a directory so far: over its life, by the sums of its state. Every command says these. */
export interface SpentSoFar {
  /** Absent: nothing is priced. */
  readonly cost?: number;
  /** Of submissions without a response, and replies without a token count, in addition; absent: nothing. */
  readonly possibleCost?: number;
  /** Estimated tokens of replies without a token count; absent: every reply had one. */
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
