import type { StateReader } from '../../state/reader.ts';
import { count, money } from './amounts.ts';
import { shownLine } from './printable.ts';
import { tableLines } from './table.ts';

/** What one step has cost, over the directory's life. */
export interface StepCosts {
  readonly step: string;
  /** A job that slots of several steps share is counted at the step that asked for it first. */
  readonly jobs: number;
  readonly done: number;
  readonly submits: number;
  /** Absent when nothing of it is priced. */
  readonly cost?: number;
  /** Possible cost of submissions without a response, in addition; absent: nothing. */
  readonly possibleCost?: number;
  readonly tokens: number;
  /** Estimated tokens of replies without a token count; absent: every reply had one. */
  readonly assumedTokens?: number;
}

/** Reads every record: seconds for a million jobs. The steps stand in the order in which their first jobs came. */
export const readStepCosts = async (state: Pick<StateReader, 'stepSums'>): Promise<readonly StepCosts[]> =>
  (await state.stepSums()).map(
    ({ step, jobs, done, attempts, cost, possibleCost, tokens, assumedTokens }) => ({
      step,
      jobs,
      done,
      submits: attempts,
      ...(cost === 0 ? {} : { cost }),
      ...(possibleCost === 0 ? {} : { possibleCost }),
      tokens,
      ...(assumedTokens === 0 ? {} : { assumedTokens }),
    }),
  );

/** A table of the steps; none where nothing has cost anything. */
export function stepCostLines(steps: readonly StepCosts[]): readonly string[] {
  const hasCosts = ({ cost, possibleCost, tokens, assumedTokens }: StepCosts): boolean =>
    cost !== undefined || possibleCost !== undefined || tokens > 0 || assumedTokens !== undefined;
  if (!steps.some(hasCosts)) return [];
  const rows = steps.map(({ step, jobs, done, submits, cost, possibleCost, tokens, assumedTokens }) => [
    shownLine(step),
    `${count(done)} of ${count(jobs)}`,
    count(submits),
    cost === undefined ? '' : money(cost),
    possibleCost === undefined ? '' : `up to ${money(possibleCost)} more`,
    tokens === 0 ? '' : count(tokens),
    assumedTokens === undefined ? '' : `about ${count(assumedTokens)} more`,
  ]);
  const head = ['step', 'jobs done', 'submissions', 'cost', 'possible', 'tokens', 'estimated'];
  return [
    '',
    'By step:',
    ...tableLines(rows, { head, isNumber: (column) => column > 0 }).map((line) => `  ${line}`),
  ];
}
