import type { MatrixDraft } from '../matrix/draft.ts';
import { literalCells } from '../matrix/literal-cells.ts';
import { TemplateError, type TemplateScope, type TemplateTree } from '../templates/template.ts';
import { treeSteps, treeVariables } from '../templates/tree.ts';
import type { StepDraft } from './draft.ts';

/** Yields the scopes of templates in the cells in which their step runs, as far as the file alone determines them. */
export function* literalScopes(
  { when }: Pick<StepDraft, 'when'>,
  trees: readonly TemplateTree[],
  matrix: MatrixDraft,
): Generator<TemplateScope> {
  if (treeSteps(trees).length > 0) return;
  const own = treeVariables(trees);
  if (own.length === 0) return yield { vars: {}, repeat: 1, steps: {} };
  if (when !== undefined && when.steps.length > 0) return;
  const names = [...own, ...(when?.variables ?? [])].flatMap(({ path }) => path.slice(0, 1));
  for (const vars of literalCells(matrix.spec, names)) {
    const scope = { vars, repeat: 1, steps: {} };
    if (renderedOf(() => when?.holds(scope)) !== false) yield scope;
  }
}

/** Returns the result of a rendering; undefined if it fails, which another check reports. */
export function renderedOf<T>(render: () => T): T | undefined {
  try {
    return render();
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
