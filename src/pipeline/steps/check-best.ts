import type { BranchAddress } from '../pipeline.ts';
import { isLocal, type StepUse } from '../templates/template.ts';
import { isBest, pickedFrom, pickNumber } from './best.ts';
import { checkAddress } from './branch.ts';
import { checkOutputAddress } from './checks/output.ts';
import { jobsAt } from './count.ts';
import type { CheckContext, StepDraft, Steps } from './draft.ts';
import { checkStepUses, checkVariables } from './references.ts';

/**
 * Reports what is wrong with steps that pick (`best`), and with steps that name them.
 *
 * @param all the steps as the file has them; those of the context are without `best`
 */
export function checkBests(all: readonly StepDraft[], context: CheckContext): void {
  const steps: Steps = new Map(all.map((step) => [step.name, step]));
  for (const step of all) {
    if (isBest(step)) checkBest(step, steps, context);
    checkNames(step, steps, context);
  }
}

function checkBest(
  step: StepDraft & Required<Pick<StepDraft, 'from' | 'best'>>,
  all: Steps,
  context: CheckContext,
): void {
  const { collector, steps } = context;
  const { from, best, over } = step;
  const origin = pickedFrom(from, all);
  const target = steps.get(origin.step);
  if (target === undefined) return;
  if (!isBest(all.get(from.step))) {
    checkAddress(from, target, collector);
    checkOutputAddress(from, target, context);
  }
  const inCells = { ...step, from: origin };
  checkVariables(inCells, context);
  checkStepUses(inCells, context);
  if (over === undefined && jobsAt(origin, target, steps).most <= 1) {
    const message = `"${from.source}" is one in each cell, so there is nothing to pick from.`;
    const hint = `Pick from several cells, over: [seed], or from several branches or outputs, from: "${origin.step}/*" or from: "${origin.step}/#*".`;
    collector.error('best.one', from.position, message, hint);
  }
  const reads = step.steps.filter((use) => steps.has(use.step));
  if (reads.length < step.steps.length) return;
  // What is picked from in a cell differs by its item and its frame, and by results that the cell has several of.
  const isOwn = step.variables.some((use) => isLocal(use) || use.path[0] === 'frame');
  const { picks: _picks, outputs: _outputs, ...address } = origin;
  const isOnce = ({ step: name }: StepUse): boolean => {
    const read = steps.get(name);
    return read !== undefined && jobsAt({ ...address, step: name, segments: [] }, read, steps).most <= 1;
  };
  const isAlone = jobsAt(origin, target, steps).most <= 1;
  if (isOwn || reads.some((use) => isAlone || isOfCells(step, all) || !isOnce(use))) return;
  const [first] = reads;
  const message =
    first === undefined
      ? 'by reads no result, so that all are equal.'
      : `by reads "${first.step}", of which each cell has one, so that all "${from.source}" of a cell are equal.`;
  const hint = `Read a number of a step that follows from each of them: score: { from: ${quoted(from.source)}, generate: … }, by: "{{ steps.score.json.value }}".`;
  collector.error('best.by', best.by.position, message, hint);
}

/** Whether what a step starts from was picked from several cells. */
function isOfCells({ from }: StepDraft, all: Steps): boolean {
  const seen = new Set<StepDraft>();
  for (
    let at = from && all.get(from.step);
    at !== undefined && !seen.has(at);
    at = at.from && all.get(at.from.step)
  ) {
    if (isBest(at) && at.over !== undefined) return true;
    seen.add(at);
  }
  return false;
}

const quoted = (text: string): string => (/[#*]/.test(text) ? `"${text}"` : text);

/** Reports addresses that no pick has, and templates that read a step without results. */
function checkNames(
  { from, gather, steps: uses, names }: StepDraft,
  all: Steps,
  context: CheckContext,
): void {
  const { collector } = context;
  for (const address of [from, gather]) if (address !== undefined) checkPicks(address, all, context);
  for (const { step, position } of [...uses, ...names]) {
    const target = all.get(step);
    if (!isBest(target)) continue;
    const message = `Step "${step}" picks from the jobs of "${target.from.step}" and has no result of its own.`;
    const hint = `In a step with from: ${step}, templates and images name the steps of what was picked: steps.${target.from.step}, or images: [parent].`;
    collector.error('step.field', position, message, hint);
  }
}

function checkPicks(
  { step, segments, position }: BranchAddress,
  all: Steps,
  { collector }: CheckContext,
): void {
  const target = all.get(step);
  if (!isBest(target)) return;
  const { top } = target.best;
  const [branch = '*', ...more] = segments;
  const number = pickNumber(branch);
  if (more.length === 0 && (branch === '*' || (number !== undefined && number <= top))) return;
  const picks = top === 1 ? `${step}/1` : `${step}/1 to ${step}/${top}`;
  const message =
    number !== undefined && more.length === 0
      ? `Step "${step}" picks ${top}, so there is no ${step}/${branch}.`
      : `"${[step, ...segments].join('/')}" is no pick of step "${step}".`;
  const hint =
    number !== undefined && more.length === 0
      ? `Write ${picks}, or top: ${number}.`
      : `Its branches are ${picks}; ${step} means all of them. Buttons and outputs stand in from of "${step}", or in a path.`;
  collector.error('step.unknown-branch', position, message, hint);
}
