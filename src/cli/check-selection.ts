import type { Selection } from '../plan/cell.ts';
import { chosenSteps } from '../plan/graph/step-selection.ts';
import type { Plan } from '../plan/plan.ts';
import { usageError } from './failure.ts';
import { didYouMean } from './suggest.ts';

/** Checks the names that the flags use against the plan. @throws CliError (exit 2) with what was probably meant */
export function checkSelection(plan: Plan, selection: Selection): void {
  const steps = chosenSteps(plan, selection.only);
  if (!steps.ok) throw usageError(`--only: ${steps.error.message}`, steps.error.hint);
  const { variables } = plan.matrix;
  for (const { axis } of selection.filters ?? []) {
    if (variables.includes(axis)) continue;
    throw usageError(
      `--filter: the matrix has no "${axis}".`,
      didYouMean(axis, variables) ??
        (variables.length === 0 ? 'This pipeline has no matrix.' : `It has ${variables.join(', ')}.`),
    );
  }
}

/** A run of nothing, or the plan of one, is a mistake, not a success. @throws CliError (exit 2) when no cell is chosen */
export function checkChosen(plan: Plan, chosen: number): void {
  if (chosen > 0) return;
  throw usageError(
    plan.matrix.cellCount === 0 ? 'The matrix has no cell.' : 'The flags choose no cell.',
    'promptpress plan FILE --cells lists the cells and their values.',
  );
}
