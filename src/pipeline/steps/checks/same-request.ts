import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { isPress, isTextKind } from '../../kinds.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import { treeVariables } from '../../templates/tree.ts';
import { member } from '../../yaml/node.ts';
import { jobsAt, type Steps } from '../count.ts';
import type { StepDraft } from '../draft.ts';
import { hasOneValue } from './unused-axes.ts';

/**
 * Warns of a step that starts from other jobs but asks for the same thing whichever they are. Each of its jobs continues
 * another job, so each is paid. A click is exempt: it presses the buttons of the job that it starts from. So is a step with
 * a condition, or with a template that reads a step: both may differ from job to job.
 */
export function checkAlike(
  step: StepDraft,
  steps: Steps,
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): void {
  const { from, kind, name, node } = step;
  const target = from === undefined ? undefined : steps.get(from.step);
  if (from === undefined || target === undefined || !target.pathKnown) return;
  if (kind === undefined || isPress(kind) || !step.usesKnown) return;
  const isExtended = member(member(node, 'video'), 'extend') !== undefined;
  const usesParent = step.images.some(({ text }) => text === 'parent');
  if (isExtended || usesParent || step.steps.length > 0 || step.names.length > 0) return;
  const inCell = jobsAt(from, target, steps).most > 1;
  if (!inCell && (isOneCell(matrix) || variesByCell(step))) return;
  const example = isTextKind(kind) ? 'images: [parent]' : `{{ steps.${from.step}.… }}`;
  collector.warning(
    'step.same-request',
    from.position,
    `The request of step "${name}" does not depend on what it starts from, so ${
      inCell ? 'several jobs of a cell ask' : 'all cells ask'
    } for the same thing, and each is paid.`,
    `Use what it starts from (${example}), or leave out from: equal requests are then one job.`,
  );
}

const variesByCell = ({ request, extra = {} }: StepDraft): boolean =>
  [...Object.values(request), ...Object.values(extra)].some((tree) => treeVariables(tree).length > 0);

const isOneCell = ({ spec: { axes, include, repeat } }: MatrixDraft): boolean =>
  axes.every(hasOneValue) && include.length === 0 && repeat === 1;
