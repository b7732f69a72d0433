import path from 'node:path';
import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import type { FileCheck } from '../files.ts';
import { isPress, isTextKind, makesWords } from '../kinds.ts';
import type { MatrixDraft } from '../matrix/draft.ts';
import { TableError, tableDiagnostics } from '../matrix/table/error.ts';
import type { Pipeline, Reduction, Step, Thinking } from '../pipeline.ts';
import type { StepNode } from '../schema/check.ts';
import { localNames } from '../templates/template.ts';
import { isText } from '../yaml/node.ts';
import { isBest, pickedFrom, withoutBests } from './best.ts';
import { checkAddress } from './branch.ts';
import { checkBests } from './check-best.ts';
import { checkButtons } from './checks/button.ts';
import { checkGrids, checkSplit } from './checks/grid.ts';
import { checkImageCount, checkImages, checkVideo, imagesOf, isBranch } from './checks/images.ts';
import { checkMasks, checkModals } from './checks/modal.ts';
import { checkOutputs } from './checks/output.ts';
import { checkPrompts } from './checks/prompt.ts';
import { checkReductions, gatheredName } from './checks/reduce.ts';
import { checkAlike, warnOfUnusedAxes } from './checks/same-request.ts';
import { checkTextStep } from './checks/text.ts';
import { checkValues } from './checks/value.ts';
import type { CheckContext, StepDraft, Steps } from './draft.ts';
import { checkEach, eachOf } from './each.ts';
import { orderOf, type StepOrder } from './order.ts';
import { readStep } from './read-step.ts';
import { checkStepUses, checkVariables } from './references.ts';

/** The readable parts of the steps, and the steps that each one waits for. */
export interface StepsDraft {
  /** Those with jobs, as if nothing was picked: see {@link withoutBests}. */
  readonly steps: readonly StepDraft[];
  /** All steps as the file has them. */
  readonly written: readonly StepDraft[];
  readonly matrix: MatrixDraft;
  readonly order: StepOrder;
  /** By what steps are reduced, by their names. */
  readonly reductions: ReadonlyMap<string, Reduction>;
}

/**
 * Reads all steps and reports errors in and between them that the schema cannot find.
 *
 * @param models how text models take thinking, as declared in the file
 */
export async function readSteps(
  nodes: readonly StepNode[],
  draft: MatrixDraft,
  models: Readonly<Record<string, Thinking>>,
  fileCheck: FileCheck,
  collector: DiagnosticCollector,
): Promise<StepsDraft> {
  const written = nodes.map((node) => readStep(node, collector));
  const steps = withoutBests(written);
  const matrix = checkHeader(steps, draft, collector);
  const context = {
    steps: new Map(steps.map((step) => [step.name, step])),
    matrix,
    models,
    fileCheck,
    collector,
  };
  const order = orderOf(written, collector);
  for (const step of steps) {
    // After a cycle there is no way from the cell to the job.
    const isStuck = order.stuck.has(step.name);
    for (const check of checks) if (!isStuck || check !== checkStepUses) await check(step, context);
  }
  if (order.stuck.size === 0) checkBests(written, context);
  const all = new Map(written.map((step) => [step.name, step]));
  const reductions = checkReductions(all, order, matrix, collector);
  checkPrompts(steps, matrix, collector);
  warnOfUnusedAxes(matrix, steps, collector);
  return { steps, written, matrix, order, reductions };
}

const checks: readonly ((step: StepDraft, context: CheckContext) => void | Promise<void>)[] = [
  checkVariables,
  checkValues,
  checkStart,
  checkEach,
  checkStepUses,
  checkTextStep,
  checkButtons,
  checkGrids,
  checkSplit,
  checkOutputs,
  checkModals,
  checkMasks,
  checkAlike,
  checkImageCount,
  checkVideo,
  checkImages,
];

function checkStart(step: StepDraft, { steps, collector }: CheckContext): void {
  const { from, gather } = step;
  const fromEntry = step.node.entries.get('from');
  const gatherEntry = step.node.entries.get('gather');
  if (isPress(step.kind) && gatherEntry !== undefined) {
    const { value } = gatherEntry;
    const message = `Step "${step.name}" presses a button, but a button belongs to one task, not to all gathered ones.`;
    const wanted = fromEntry === undefined && isText(value) && value.value !== '';
    const hint = wanted ? `Write from: ${value.value} to press it on each.` : 'Keep from.';
    collector.error('step.gather-click', gatherEntry.keySpan, message, hint);
  } else if (fromEntry !== undefined && gatherEntry !== undefined) {
    const message = `Step "${step.name}" has both from and gather.`;
    const hint = 'from makes one job per branch, gather one job per cell with all of them: keep one.';
    collector.error('step.from-and-gather', gatherEntry.keySpan, message, hint);
  }
  const parent = from === undefined ? undefined : steps.get(from.step);
  if (from !== undefined && isPress(step.kind) && isTextKind(parent?.kind)) {
    const message = `Step "${from.step}" is a ${parent.kind}, which makes text and no buttons.`;
    collector.error('step.no-buttons', from.position, message, 'Continue a step that makes images.');
    return;
  }
  const gathered = gather === undefined ? undefined : steps.get(gather.step);
  const pressed = gather !== undefined && isBranch(gather);
  if (
    gather !== undefined &&
    gathered !== undefined &&
    step.over === undefined &&
    imagesOf(gathered, steps, pressed) === 'none'
  ) {
    const message = `Step "${gather.step}" makes no images, but only images can be gathered.`;
    const hint =
      gathered.kind !== undefined && makesWords(gathered.kind)
        ? `A template reads a text: {{ steps.${gather.step}.text }}.`
        : 'Gather a step that makes images.';
    collector.error('step.gather-text', gather.position, message, hint);
    return;
  }
  for (const address of [from, gather]) {
    const target = address === undefined ? undefined : steps.get(address.step);
    if (address?.picks === undefined && address !== undefined && target !== undefined)
      checkAddress(address, target, collector);
  }
}

/** Makes the steps of a pipeline that has passed all checks. */
export function finishSteps(draft: StepsDraft): Pick<Pipeline, 'steps' | 'bests'> {
  const steps = draft.written.map((step) => finishStep(step, draft));
  return { steps: steps.filter(({ best }) => !best), bests: steps.filter(({ best }) => best) };
}

function finishStep(
  written: StepDraft,
  { steps, written: all, matrix, order, reductions }: StepsDraft,
): Step {
  const around = { steps: new Map(steps.map((step) => [step.name, step])), matrix };
  const { name } = written;
  const origin = isBest(written)
    ? pickedFrom(written.from, new Map(all.map((step) => [step.name, step])))
    : undefined;
  const kind = written.kind ?? around.steps.get(origin?.step ?? '')?.kind;
  if (kind === undefined) throw new Error(`Internal error: step "${name}" passed the checks without a kind`);
  const {
    node: _node,
    pathKnown: _path,
    usesKnown: _uses,
    variables: _vars,
    steps: _steps,
    ...rest
  } = written;
  const { names: _names, images: _images, each, over, best, ...step } = rest;
  const reduced = reductions.get(name);
  return {
    ...step,
    kind,
    ...(best && { best: { ...best, ...(over && { over: { position: over.position } }) } }),
    ...(over &&
      !best && {
        over: {
          failed: over.failed,
          showsImages: gathersImages(around.steps.get(name) ?? written, around.steps),
          position: over.position,
        },
      }),
    ...(reduced && { reduced }),
    ...(each === undefined ? {} : { each: eachOf(each, around) }),
    after: order.after.get(name) ?? [],
  };
}

function gathersImages({ gather }: StepDraft, steps: Steps): boolean {
  const target = gather && steps.get(gather.step);
  return target !== undefined && gather !== undefined && imagesOf(target, steps, isBranch(gather)) === 'some';
}

/** Whether a text is a sentence, a number or an address, which stands in a row and not in a header. */
const isContent = (name: string): boolean =>
  /^-?\d+(?:[.,]\d+)?$/.test(name) ||
  name.split(/\s+/).length > 2 ||
  name.length > 40 ||
  /^https?:/.test(name);

/**
 * Reports a CSV or TSV file whose first line looks like a row, if the steps read unknown variables and no column of the table. The
 * returned matrix is then incomplete, so that the missing variables are not reported one by one.
 */
function checkHeader(
  steps: readonly StepDraft[],
  matrix: MatrixDraft,
  collector: DiagnosticCollector,
): MatrixDraft {
  const rows = matrix.spec.axes.find((axis) => axis.kind === 'rows');
  if (rows?.kind !== 'rows' || (rows.format !== 'csv' && rows.format !== 'tsv')) return matrix;
  const { columns, declared, format } = rows;
  if (!matrix.complete || !columns.some(isContent)) return matrix;
  const used = new Set(steps.flatMap((step) => step.variables.map(({ path: [root = ''] }) => root)));
  const unknown = [...used].filter(
    (name) =>
      name !== 'repeat' && name !== gatheredName && !localNames.has(name) && !matrix.variables.has(name),
  );
  if (unknown.length === 0 || columns.some((column) => used.has(column))) return matrix;
  const left = [...unknown];
  const separator = format === 'csv' ? ',' : '\t';
  const names = columns.map((column, index) => {
    const isNumber = /^-?\d+$/.test(column);
    return (isNumber ? undefined : left.shift()) ?? (isNumber && index === 0 ? 'id' : `column${index + 1}`);
  });
  const shown = names.length > 8 ? 'id,prompt' : names.join(separator === ',' ? separator : '<tab>');
  const error = new TableError(
    'table.no-header',
    'The first line of the table looks like a row, but it must name the columns.',
    {
      line: 1,
      sourceLine: columns.join(separator),
      hint: `Put a line with the names of the columns above it, for example ${shown}.`,
    },
  );
  const file = path.join(path.dirname(collector.source.file), declared);
  for (const diagnostic of tableDiagnostics(error, file)) collector.elsewhere(diagnostic);
  return { ...matrix, complete: false };
}
