import type { Position } from '../../diagnostics/diagnostic.ts';
import { kinds } from '../../kinds.ts';
import type { BranchAddress, OutputChoice, PathSegment, Selector } from '../../pipeline.ts';
import { nameOfButton, needsUpscale } from '../../selectors/button-stage.ts';
import { isOutputName } from '../../selectors/output.ts';
import { isOfOutputs, seesFrame } from '../branch.ts';
import type { CheckContext, StepDraft } from '../draft.ts';
import { pressAll, type Stages, stagesAt, stagesOf } from './grid.ts';
import { imagesOf } from './images.ts';

/** Returns the selectors of a step that stand directly below an output. */
export function belowOutputs({ from, selector, path }: StepDraft): readonly Selector[] {
  const own = isOutputName(from?.segments.at(-1) ?? '') && selector !== undefined ? [selector] : [];
  const later = path.filter((_, level) => level > 0 && isOfOutputs(path[level - 1] as PathSegment));
  return [...own, ...later.flatMap(({ selectors }) => selectors)];
}

/** Reports outputs that a job cannot have, frames of grids that are not cut, and buttons that no output has. */
export function checkOutputs(step: StepDraft, context: CheckContext): void {
  const { steps, matrix, collector } = context;
  if (matrix.variables.has('frame') && seesFrame(step, steps, step.path.length)) {
    const message =
      '"frame" is a variable of the matrix, and the number of an output for the templates below it.';
    collector.error('step.output-name', step.position, message, 'Give the variable another name.');
  }
  for (const address of [step.from, step.gather]) {
    const target = address && steps.get(address.step);
    // What a `best` picks from is checked there.
    if (address?.picks === undefined && target !== undefined) checkOutputAddress(address, target, context);
  }
  let at = stagesOf(step, steps, new Set());
  for (const [level, { selectors }] of step.path.entries()) {
    for (const { output, position } of selectors)
      if (output !== undefined) checkUse({ output, position, of: step, isOwn: level === 0 }, at, context);
    at = pressAll(selectors, at);
  }
  for (const selector of belowOutputs(step)) checkPress(selector, context);
}

/** Reports an address that names outputs which its jobs do not have. */
export function checkOutputAddress(
  address: BranchAddress | undefined,
  target: StepDraft,
  context: CheckContext,
): void {
  const level = address?.segments.findIndex(isOutputName) ?? -1;
  const output = address?.outputs?.[address.segments[level] ?? ''];
  if (address === undefined || output === undefined) return;
  const way = { ...address, segments: address.segments.slice(0, level) };
  const use = { output, position: address.position, of: target, isOwn: level === 0 };
  checkUse(use, stagesAt(way, target, context.steps, new Set()), context);
}

interface OutputUse {
  readonly output: OutputChoice;
  readonly position: Position;
  readonly of: StepDraft;
  /** Whether it is an output of the step's own operation, not of one of its buttons. */
  readonly isOwn: boolean;
}

function checkUse(
  { output, position, of, isOwn }: OutputUse,
  at: Stages,
  { steps, collector }: CheckContext,
): void {
  const { name, kind, split } = of;
  const makes = kind && kinds[kind].makes;
  const isWords = makes === 'text' || makes === 'prompts' || imagesOf(of, steps) === 'none';
  if (isOwn && makes !== 'videos' && isWords) {
    const message = `Step "${name}" is a ${kind}, which makes neither images nor videos, so it has no outputs to name.`;
    collector.error('step.no-outputs', position, message, `Write ${name} without "#".`);
  } else if (at.has('grid') && split !== true) {
    const message = `Step "${name}" makes grids of four and does not cut them, so they have no frames.`;
    collector.error('step.no-outputs', position, message, `Add grid: split to step "${name}".`);
  } else if (at.has('grid') && typeof output === 'number' && output > 4) {
    const message = `A grid has four frames, so there is no #${output}.`;
    collector.error(
      'step.no-outputs',
      position,
      message,
      'The frames are #1 to #4, in the order of U1 to U4.',
    );
  }
}

function checkPress({ output, alternatives, name, position }: Selector, { collector }: CheckContext): void {
  const [match] = alternatives;
  const button = match && nameOfButton(match);
  if (output !== undefined) {
    const message = `"${name}" stands below an output, which has no outputs of its own.`;
    return collector.error('step.no-outputs', position, message, 'Press U first: "#1 → U → #1".');
  }
  if (alternatives.length === 1 && button?.kind === 'text' && /^[UV]$/.test(button.text)) return;
  const message = `Below an output only U and V can be pressed, which are U1 and V1 below #1, but this is "${name}".`;
  const letter = /^([UV])[1-4]$/.exec(name)?.[1];
  const hint =
    letter !== undefined
      ? `Write ${letter}.`
      : button !== undefined && needsUpscale(button)
        ? `Upscale it first: U → ${name}.`
        : 'Other buttons belong to the whole: start from that, without "#".';
  collector.error('step.output-button', position, message, hint);
}
