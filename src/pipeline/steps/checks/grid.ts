import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { kinds } from '../../kinds.ts';
import type { BranchAddress, Selector } from '../../pipeline.ts';
import { nameOfButton, needsUpscale, type Stage, stageAfter } from '../../selectors/button-stage.ts';
import { hasOutputsInUse } from '../branch.ts';
import type { CheckContext, StepDraft, Steps } from '../draft.ts';

/** The stages of several branches, each with the name of one branch. */
export type Stages = ReadonlyMap<Stage, string>;

const makes = ({ alternatives }: Selector, on: Stage): Stage => {
  const [first, ...others] = alternatives.map((match) => stageAfter(nameOfButton(match), on));
  return first !== undefined && others.every((other) => other === first) ? first : 'unknown';
};

/** Returns the stages after pressing each of the buttons on each of the branches. That of an output is unknown. */
export function pressAll(selectors: readonly Selector[], on: Stages): Stages {
  const found = new Map<Stage, string>();
  for (const [stage, way] of on)
    for (const selector of selectors) {
      const made = makes(selector, stage);
      if (!found.has(made)) found.set(made, `${way}/${selector.name}`);
    }
  return found;
}

/** Returns the stages of a step's own operation. */
export function stagesOf(step: StepDraft, steps: Steps, seen: Set<StepDraft>): Stages {
  const { kind, name, selector, from } = step;
  if (kind !== undefined && kinds[kind].makes === 'grid') return new Map([['grid', name]]);
  const target = from === undefined ? undefined : steps.get(from.step);
  const isOpen = from === undefined || target === undefined || selector === undefined;
  // Another check reports circular steps.
  if (isOpen || seen.has(step)) return new Map([['unknown', name]]);
  seen.add(step);
  const made = pressAll([selector], stagesAt(from, target, steps, seen));
  return new Map([...made.keys()].map((stage) => [stage, name]));
}

/** Returns the stages of the jobs that an address means. */
export function stagesAt(
  { segments }: BranchAddress,
  target: StepDraft,
  steps: Steps,
  seen: Set<StepDraft>,
): Stages {
  let at = stagesOf(target, steps, seen);
  for (const [level, branch] of segments.entries()) {
    const below = branch === '**' ? target.path.slice(level) : target.path.slice(level, level + 1);
    for (const { selectors } of below) {
      const meant = branch.startsWith('*') ? selectors : selectors.filter(({ name }) => name === branch);
      at = meant.length === 0 ? new Map([['unknown', branch]]) : pressAll(meant, at);
    }
  }
  return at;
}

/**
 * Warns of buttons that are pressed on a grid, but appear only after one of its images is upscaled (gateway 5.3): the grid would be paid
 * before the click fails. Judges only by the names of buttons, and never reports an error: gateways vary.
 */
export function checkGrids(step: StepDraft, { steps, collector }: CheckContext): void {
  const { from, selector, path } = step;
  const target = from === undefined ? undefined : steps.get(from.step);
  if (from !== undefined && target !== undefined && selector !== undefined)
    warnOf(selector, stagesAt(from, target, steps, new Set()), collector);
  let at = stagesOf(step, steps, new Set());
  for (const { selectors } of path) {
    for (const pressed of selectors) warnOf(pressed, at, collector);
    at = pressAll(selectors, at);
  }
}

/**
 * Reports `grid: split` without downloaded files, which leaves nothing to cut. Warns if the step makes single images only, as far as the
 * names of buttons show.
 */
export function checkSplit(step: StepDraft, { steps, collector }: CheckContext): void {
  const key = step.split === true ? step.node.entries.get('grid')?.keySpan : undefined;
  if (key === undefined) return;
  if (!step.keep && !hasOutputsInUse(step, steps)) {
    const message = `Step "${step.name}" cuts its grids into frames, but keep: false downloads no grid.`;
    collector.error('step.split-not-kept', key, message, 'Leave keep: false out.');
    return;
  }
  let at = stagesOf(step, steps, new Set());
  const isSingle = (): boolean => [...at.keys()].every((stage) => stage === 'single');
  if (!isSingle()) return;
  for (const { selectors } of step.path) {
    at = pressAll(selectors, at);
    if (!isSingle()) return;
  }
  const message = `Step "${step.name}" makes single images, but grid: split cuts only grids of four: they stay whole.`;
  collector.warning('step.split-single', key, message, 'Write it at the step that makes the grid.');
}

function warnOf(
  { alternatives, name, position }: Selector,
  on: Stages,
  collector: DiagnosticCollector,
): void {
  const grid = on.get('grid');
  const isLate =
    alternatives.length > 0 &&
    alternatives.every((match) => {
      const button = nameOfButton(match);
      return button !== undefined && needsUpscale(button);
    });
  if (grid === undefined || !isLate) return;
  const message = `"${grid}" is a grid of images, but "${name}" is a button of single images.`;
  collector.warning('button.grid', position, message, `Upscale one first: U1 → ${name}.`);
}
