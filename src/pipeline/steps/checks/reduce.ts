import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import type { Position } from '../../diagnostics/diagnostic.ts';
import { listing, suggestion } from '../../diagnostics/did-you-mean.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import type { Reduction } from '../../pipeline.ts';
import { isBest } from '../best.ts';
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
    const axes = axesOf(step, steps, found, matrix, collector);
    if (axes.length === 0) return;
    found.set(step.name, { axes, variables: variablesIn(axes, matrix) });
    const read = seenReduction(step, steps, found);
    if (read !== undefined) checkTemplates(step, read, collector);
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
  steps: Steps,
  found: ReadonlyMap<string, Reduction>,
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): readonly string[] {
  const { from, gather, over } = step;
  const axesBefore = ({ step: name }: Pick<Need, 'step'>): readonly string[] => found.get(name)?.axes ?? [];
  const start = isBest(step) ? from : gather;
  const own =
    over && start
      ? overAxes(over, axesBefore(start), isBest(step) ? 'pick' : 'gather', matrix, collector)
      : undefined;
  const starts = own === undefined ? [from, gather].flatMap((need) => need ?? []) : [];
  const needs: readonly Need[] = [...starts, ...step.steps, ...step.names];
  const first = needs.find((need) => axesBefore(need).length > 0);
  const axes = own ?? (first === undefined ? [] : axesBefore(first));
  // A number to pick by is read in the cells of what is picked from.
  const here = isBest(step) && from !== undefined ? axesBefore(from) : axes;
  const picked = pickedAxes(step, steps, axesBefore);
  const other = needs.find((need) => {
    const theirs = axesBefore(need).join();
    return theirs !== here.join() && (need === from || !picked.has(theirs));
  });
  if (other !== undefined && axes.length > 0) {
    const theirs = axesBefore(other);
    const own = isBest(step)
      ? `Step "${step.name}" picks from jobs of each ${unitOf(here)}`
      : `Step "${step.name}" has one job for each ${unitOf(axes)}`;
    const message = `${own}, but step "${other.step}" has one for each ${unitOf(theirs)}.`;
    const hint = isBest(step)
      ? 'Read a result of what is picked from, or of a step that follows from it.'
      : `Gather it over the same axes: gather: { step: ${other.step}, over: [${axes.join(', ')}] }.`;
    collector.error('gather.mixed', other.position, message, hint);
  }
  return axes;
}

/** What a step has one job for. */
const unitOf = (axes: readonly string[]): string =>
  axes.length === 0 ? 'cell' : `group over ${listing(axes)}`;

/** Returns the axes of the jobs whose results a step sees although its own are other ones: a pick shows the results of its cell. */
function pickedAxes(
  step: StepDraft,
  steps: Steps,
  axesBefore: (need: Pick<Need, 'step'>) => readonly string[],
): ReadonlySet<string> {
  const seen = new Set<string>();
  for (let at = step.from && steps.get(step.from.step); at?.from !== undefined; at = steps.get(at.from.step))
    if (isBest(at)) seen.add(axesBefore(at.from).join());
  return seen;
}

/** Returns by what the variables are reduced that the templates of a step see: of a pick those of its cell are seen. */
function seenReduction(
  step: StepDraft,
  steps: Steps,
  found: ReadonlyMap<string, Reduction>,
): Reduction | undefined {
  for (let at: StepDraft | undefined = step; at?.from !== undefined; ) {
    const above = steps.get(at.from.step);
    if (isBest(at) && above !== undefined) return seenReduction(above, steps, found);
    at = above;
  }
  return found.get(step.name);
}

function overAxes(
  { axes }: NonNullable<StepDraft['over']>,
  before: readonly string[],
  what: 'gather' | 'pick',
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): readonly string[] {
  const names = [...matrix.variables.keys(), 'repeat'];
  if (axes === undefined) return names.toSorted();
  for (const { name, position } of axes) {
    if (before.includes(name)) {
      const message = `These jobs are already one for all of "${name}".`;
      collector.error('gather.axis', position, message, 'Leave it out.');
    } else if (!names.includes(name) && matrix.complete) {
      const hint = (): string => suggestion(name, [...names, 'all'], 'axes');
      collector.error('gather.axis', position, `The matrix has no axis "${name}" to ${what} over.`, hint);
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
