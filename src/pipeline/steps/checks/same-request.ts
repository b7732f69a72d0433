import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { isPress, isTextKind } from '../../kinds.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import type { Axis } from '../../pipeline.ts';
import { isOutputName } from '../../selectors/output.ts';
import { isLocal, localNames } from '../../templates/template.ts';
import { treeVariables } from '../../templates/tree.ts';
import { member } from '../../yaml/node.ts';
import { jobsAt } from '../count.ts';
import type { CheckContext, StepDraft } from '../draft.ts';
import { gatheredName } from './reduce.ts';

/**
 * Warns of a step that starts from other jobs but sends the same request for each of them. Each of its jobs continues another job, so
 * each is paid. Exempt are clicks, which press buttons of the parent job, and steps with a condition or a template that reads a step:
 * both may differ from job to job.
 */
export function checkAlike(step: StepDraft, { steps, matrix, collector }: CheckContext): void {
  const { from, kind, name, node } = step;
  const target = from === undefined ? undefined : steps.get(from.step);
  if (from === undefined || target === undefined || !target.pathKnown) return;
  if (kind === undefined || isPress(kind) || !step.usesKnown) return;
  const isExtended = member(member(node, 'video'), 'extend') !== undefined;
  const usesParent = step.images.some(({ text }) => text === 'parent');
  if (isExtended || usesParent || step.steps.length > 0 || step.names.length > 0) return;
  if (step.variables.some(isLocal)) return;
  // Its jobs at several outputs of one job are one job.
  const jobs = { ...from, segments: from.segments.filter((segment) => !isOutputName(segment)) };
  const inCell = jobsAt(jobs, target, steps).most > 1;
  if (!inCell && (isOneCell(matrix) || variesByCell(step))) return;
  const example = isTextKind(kind) ? 'images: [parent]' : `{{ steps.${from.step}.… }}`;
  const who = inCell ? 'several jobs of a cell ask' : 'all cells ask';
  const message = `The request of step "${name}" does not depend on what it starts from, so ${who} for the same thing, and each job is paid.`;
  const hint = `Use what it starts from (${example}), or leave out from: equal requests are then one job.`;
  collector.warning('step.same-request', from.position, message, hint);
}

const variesByCell = ({ request, extra = {} }: StepDraft): boolean =>
  [...Object.values(request), ...Object.values(extra)].some((tree) => treeVariables(tree).length > 0);

const isOneCell = ({ spec: { axes, include, repeat } }: MatrixDraft): boolean =>
  axes.every(hasOneValue) && include.length === 0 && repeat === 1;

/**
 * Warns of axes that no request uses: their cells send the same requests. Judges only by templates, without enumerating cells. Reports
 * nothing if a template could not be read or uses an unknown name.
 */
export function warnOfUnusedAxes(
  matrix: MatrixDraft,
  steps: readonly StepDraft[],
  collector: DiagnosticCollector,
): void {
  if (steps.some((step) => !step.usesKnown || !step.pathKnown || step.kind === undefined)) return;
  const used = new Set(steps.flatMap((step) => step.variables.map(({ path }) => path[0] ?? '')));
  // An unknown name may be a mistyped axis.
  for (const name of used)
    if (name !== 'repeat' && name !== gatheredName && !localNames.has(name) && !matrix.variables.has(name))
      return;
  for (const axis of matrix.spec.axes) {
    const names = axis.kind === 'rows' ? axis.columns : [axis.name];
    if (hasOneValue(axis) || names.some((name) => used.has(name))) continue;
    const what = axis.kind === 'rows' ? `a column of ${axis.declared}` : `"${axis.name}"`;
    const message = `No request uses ${what}, so cells that differ only there ask for the same thing.`;
    const braced = bracedName(names, collector.source.text);
    const hint = braced && `{ ${braced} } is sent unchanged: write a variable as {{ ${braced} }}.`;
    collector.warning('matrix.unused-axis', axis.position, message, hint ?? equalHint);
  }
}

const equalHint =
  'Equal requests are made and paid once, and each of the cells shows the result. Use it in a prompt (a seed: --seed {{ seed }}), or ask for several results with repeat.';

/** Finds the first of these names that a text has in single braces, like variables of other languages. */
const bracedName = (names: readonly string[], text: string): string | undefined =>
  names.find((name) =>
    [`{${name}}`, `{ ${name} }`].some((braced) => text.includes(braced) && !text.includes(`{${braced}`)),
  );

const hasOneValue = (axis: Axis): boolean => axis.kind === 'values' && axis.values.length <= 1;
