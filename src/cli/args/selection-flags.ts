import type { Selection } from '../../plan/cell.ts';
import { chosenSteps } from '../../plan/graph/step-selection.ts';
import { type UnmatchedFilter, unknownFilters } from '../../plan/matrix/selection.ts';
import type { Plan } from '../../plan/plan.ts';
import { quoted } from '../../report/text/next-commands.ts';
import { usageError } from '../errors/cli-error.ts';
import { didYouMean } from './did-you-mean.ts';
import { type FlagValues, repeated, valued } from './flags.ts';
import { anyText, axisValue, shard, wholeNumber } from './values.ts';

/** The flags that choose a part of a plan; `run` and `plan` have the same ones. */
export const selectionFlags = {
  limit: valued('N', 'only the first N cells (of those that the other flags choose)', wholeNumber(1)),
  filter: repeated(
    'AXIS=VALUE',
    'only cells with this value, for example animal=fox, medium.name="ink drawing"; for a table COLUMN=VALUE; several values of one axis: any of them; several axes: all of them',
    axisValue,
  ),
  shard: valued('I/N', 'only every Nth cell from the Ith on, to share work between machines', shard),
  only: repeated('STEP', 'only this step and what it needs', anyText),
} as const;

/** The part of a plan that the flags choose; without any, all of it. */
export const selectionOf = ({
  limit,
  filter,
  shard,
  only,
}: FlagValues<typeof selectionFlags>): Selection => ({
  ...(limit === undefined ? {} : { limit }),
  ...(filter.length === 0 ? {} : { filters: filter }),
  ...(shard === undefined ? {} : { shard }),
  ...(only.length === 0 ? {} : { only }),
});

/**
 * Checks the names and values that the flags use against the plan.
 *
 * @throws CliError (exit 2) with what was probably meant; TableError where a table cannot be read again
 */
export async function checkSelection(plan: Plan, selection: Selection): Promise<void> {
  const steps = chosenSteps(plan, selection.only);
  if (!steps.ok) throw usageError(`--only: ${steps.error.message}`, steps.error.hint);
  const { variables } = plan.matrix;
  const [axis] = unknownFilters(plan.matrix, selection);
  if (axis !== undefined) {
    throw usageError(
      `--filter: the matrix has no "${axis}".`,
      didYouMean(axis, variables) ??
        (variables.length === 0 ? 'This pipeline has no matrix.' : `It has ${variables.join(', ')}.`),
    );
  }
  const [unmatched] = await plan.matrix.unmatched(selection);
  if (unmatched !== undefined) throw unmatchedFilter(unmatched);
}

function unmatchedFilter({ axis, value, values, more, members }: UnmatchedFilter): Error {
  const message = `--filter: no cell has ${axis} "${value}".`;
  const [first] = members;
  if (first !== undefined) {
    const isPlace = values.length > 0;
    const place = isPlace ? axis : axis.slice(0, axis.lastIndexOf('.'));
    return usageError(
      message,
      `${place} has ${members.join(', ')}: --filter ${quoted(`${place}.${first}=${isPlace ? '…' : value}`)}.`,
    );
  }
  const list = `${values.map((text) => `"${text}"`).join(', ')}${more ? ' and others' : ''}`;
  return usageError(message, didYouMean(value, values) ?? `Its values: ${list}.`);
}

/** A run of nothing, or the plan of one, is an error, not a success. @throws CliError (exit 2) when no cell is chosen */
export function checkChosen(plan: Plan, chosen: number): void {
  if (chosen > 0) return;
  throw usageError(
    plan.matrix.cellCount === 0 ? 'The matrix has no cell.' : 'The flags choose no cell.',
    'promptpress plan FILE --cells lists the cells and their values.',
  );
}
