import { roundMoney } from '../../../plan/estimate/price.ts';
import { leftUnanswered, lostBy } from '../../../results/sums.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { StepCosts } from '../../facts/json-outputs.generated.ts';
import { count, money } from '../amounts.ts';
import { shownLine } from '../printable.ts';
import { tableLines } from '../table.ts';

/**
 * Reads the costs by step from all records; takes seconds for a million jobs. Steps are in the order of their first jobs.
 *
 * @param running whether a run is active
 */
export async function readStepCosts(
  state: Pick<StateReader, 'stepSums' | 'unfinished'>,
  running: boolean,
): Promise<readonly StepCosts[]> {
  const sums = await state.stepSums();
  const left = new Map<string, { count: number; cost: number; tokens: number }>();
  for await (const record of leftUnanswered(state, running)) {
    const { step } = record.origin;
    const { count: before = 0, cost = 0, tokens = 0 } = left.get(step) ?? {};
    const lost = lostBy(record);
    left.set(step, { count: before + lost.count, cost: cost + lost.cost, tokens: tokens + lost.tokens });
  }
  return sums.map(({ step, jobs, done, attempts, cost, tokens, ...more }) => {
    const unheard = left.get(step);
    const unanswered = more.unanswered + (unheard?.count ?? 0);
    const possibleCost = roundMoney(more.possibleCost + (unheard?.cost ?? 0));
    const assumedTokens = more.assumedTokens + (unheard?.tokens ?? 0);
    return {
      step,
      jobs,
      done,
      submits: attempts,
      ...(cost === 0 ? {} : { cost }),
      ...(possibleCost === 0 ? {} : { possibleCost }),
      tokens,
      ...(assumedTokens === 0 ? {} : { assumedTokens }),
      ...(unanswered === 0 ? {} : { unanswered }),
    };
  });
}

const hasCosts = ({ cost, possibleCost, tokens, assumedTokens, unanswered }: StepCosts): boolean =>
  tokens > 0 || [cost, possibleCost, assumedTokens, unanswered].some((sum) => sum !== undefined);

/** Formats the costs as a table of steps; empty if nothing has cost anything. */
export function stepCostLines(steps: readonly StepCosts[]): readonly string[] {
  if (!steps.some(hasCosts)) return [];
  const rows = steps.map(
    ({ step, jobs, done, submits, cost, possibleCost, tokens, assumedTokens, unanswered }) => [
      shownLine(step),
      `${count(done)} of ${count(jobs)}`,
      count(submits),
      cost === undefined ? '' : money(cost),
      possibleCost === undefined ? '' : `up to ${money(possibleCost)} more`,
      tokens === 0 ? '' : count(tokens),
      assumedTokens === undefined ? '' : `about ${count(assumedTokens)} more`,
      unanswered === undefined ? '' : count(unanswered),
    ],
  );
  const head = ['step', 'jobs done', 'submissions', 'cost', 'possible', 'tokens', 'estimated', 'unanswered'];
  return [
    '',
    'By step:',
    ...tableLines(rows, { head, isNumber: (column) => column > 0 }).map((line) => `  ${line}`),
  ];
}
