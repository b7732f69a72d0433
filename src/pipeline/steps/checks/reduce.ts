import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { Position } from '../../diagnostics/diagnostic.ts';
import { listing, suggestion } from '../../diagnostics/did-you-mean.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import type { Reduction } from '../../pipeline.ts';
import type { StepDraft, Steps } from '../draft.ts';
import type { StepOrder } from '../order.ts';

/** The name of the list that the templates of a step read which gathers over axes. */
export const gatheredName = 'gathered';

/**
 * Finds out by what each step is reduced: a step that gathers over axes by these, and by what its target is reduced; any other step by
 * what the steps are reduced by that it needs. Reports steps that need jobs of different groups, and templates that read what differs
 * within a group.
 */
export function checkReductions(
  steps: Steps,
  order: StepOrder,
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): ReadonlyMap<string, Reduction> {
  const found = new Map<string, Reduction>();
  const seen = new Set<string>();
  const visit = (step: StepDraft): void => {
    if (seen.has(step.name) || order.stuck.has(step.name)) return;
    seen.add(step.name);
    for (const name of order.after.get(step.name) ?? []) {
      const before = steps.get(name);
      if (before !== undefined) visit(before);
    }
    const axes = axesOf(step, found, matrix, collector);
    if (axes.length === 0) return;
    const reduction = { axes, variables: variablesIn(axes, matrix) };
    found.set(step.name, reduction);
    checkTemplates(step, reduction, collector);
  };
  for (const step of steps.values()) visit(step);
  return found;
}

interface Need {
  readonly step: string;
  readonly position: Position;
}

function axesOf(
  step: StepDraft,
  found: ReadonlyMap<string, Reduction>,
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): readonly string[] {
  const { from, gather, over } = step;
  const needs: Need[] = [from, over === undefined ? gather : undefined, ...step.steps, ...step.names].flatMap(
    (need) => need ?? [],
  );
  const axesBefore = ({ step: name }: Need): readonly string[] => found.get(name)?.axes ?? [];
  const own = over && gather ? overAxes(over, axesBefore(gather), matrix, collector) : undefined;
  const [first] = needs.filter((need) => axesBefore(need).length > 0);
  const axes = own ?? (first === undefined ? [] : axesBefore(first));
  const other = needs.find((need) => axesBefore(need).join() !== axes.join());
  if (other !== undefined && axes.length > 0) {
    const theirs = axesBefore(other);
    const message = `Step "${step.name}" has one job for each group over ${listing(axes)}, but step "${other.step}" has one for each ${theirs.length === 0 ? 'cell' : `group over ${listing(theirs)}`}.`;
    const hint = `Gather it over the same axes: gather: { step: ${other.step}, over: [${axes.join(', ')}] }.`;
    collector.error('gather.mixed', other.position, message, hint);
  }
  return axes;
}

function overAxes(
  { axes }: NonNullable<StepDraft['over']>,
  before: readonly string[],
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): readonly string[] {
  const names = [...matrix.variables.keys(), 'repeat'];
  if (axes === undefined) return names.toSorted();
  for (const { name, position } of axes) {
    if (before.includes(name)) {
      const message = `The gathered jobs are already one for all of "${name}".`;
      collector.error('gather.axis', position, message, 'Leave it out.');
    } else if (!names.includes(name) && matrix.complete) {
      const hint = (): string => suggestion(name, [...names, 'all'], 'axes');
      collector.error('gather.axis', position, `The matrix has no axis "${name}" to gather over.`, hint);
    }
  }
  return [...new Set([...before, ...axes.map(({ name }) => name)])].toSorted();
}

/** The axes, and variables that only an include gives which names one of them. */
function variablesIn(axes: readonly string[], { spec, variables }: MatrixDraft): readonly string[] {
  const given = spec.include
    .map(({ values }) => Object.keys(values))
    .filter((names) => spec.axes.length > 0 && names.some((name) => axes.includes(name)))
    .flat();
  return [...new Set([...axes, ...given.filter((name) => variables.get(name)?.axis === undefined)])];
}

function checkTemplates(step: StepDraft, reduction: Reduction, collector: DiagnosticCollector): void {
  for (const { path, position } of step.variables) {
    const [root = ''] = path;
    if (!reduction.variables.includes(root) || (root === gatheredName && step.over !== undefined)) continue;
    const message = `"${root}" differs within a group over ${listing(reduction.axes)}, for which step "${step.name}" has one job.`;
    const hint =
      step.over === undefined
        ? 'Read it in a step of each cell.'
        : `Read it of each gathered job: {% for one in gathered %}{{ one.${path.join('.')} }}{% endfor %}.`;
    collector.error('gather.variable', position, message, hint);
  }
}
