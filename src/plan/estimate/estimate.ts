import type { NoticeCode } from '../../pipeline/diagnostics/run-codes.ts';
import { isTextKind } from '../../pipeline/kinds.ts';
import type { Selection } from '../cell.ts';
import { mayBeGrid } from '../graph/frames.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import { chosenSteps } from '../graph/step-selection.ts';
import type { CellGroups } from '../matrix/groups.ts';
import { type Plan, slotsPerCellOf } from '../plan.ts';
import { cellsAtOnce, inGroups } from '../resolve/load-records.ts';
import { droppedItemsCode } from '../slot.ts';
import { clickCost, placeholderCost } from './cost.ts';
import { roundMoney } from './price.ts';
import type { PlanCounts, PlanReport, PlanWarning, StepReport } from './report.ts';
import {
  type Dropped,
  groupsOf,
  type NotKept,
  type PlanState,
  type PlanTotals,
  type SameAgain,
  Scan,
  type ScanOptions,
} from './scan.ts';
import { StepTotals, sumOf } from './totals.ts';

export interface EstimateOptions extends ScanOptions {
  /** Most slots that are examined one by one (default 200,000: seconds, some 50 MB). Above that, counts are multiplied. */
  readonly maxSlots?: number;
}

/** Cells that are examined for examples and failing templates if there are too many cells to examine all. */
const sampleCells = 20;

/**
 * Reports what a run of the chosen part of a plan would do, and why. Up to a limit every slot is examined; above it counts are
 * multiplied. In both cases memory does not grow with the matrix.
 *
 * @param state the state of the run directory; undefined without one
 * @throws Error if `selection.only` names an unknown step: ask {@link chosenSteps} first
 */
export async function estimatePlan(
  plan: Plan,
  selection: Selection,
  state: PlanState | undefined,
  options: EstimateOptions = {},
): Promise<PlanReport> {
  const chosen = chosenSteps(plan, selection.only);
  if (!chosen.ok) throw new Error(`Internal error: ${chosen.error.message}`);
  const totals = await state?.totals();
  // In an empty directory no slot has a record.
  const holdsJobs = totals !== undefined && Object.values(totals.jobs).some((count) => count > 0);
  const newScan = (): Scan => new Scan(plan, chosen.value, holdsJobs ? state : undefined, options);
  const cells = { total: plan.matrix.cellCount, chosen: await plan.matrix.chosen(selection) };

  const templates = plan.slotGraph.templates.filter(({ index }) => chosen.value.places.has(index));
  const maxSlots = options.maxSlots ?? 200_000;
  const isSmall = cells.chosen * templates.length <= maxSlots;
  const whole = isSmall ? await scanCells(plan, selection, newScan(), maxSlots) : undefined;
  const scan = whole ?? (await scanCells(plan, { ...selection, limit: sampled(selection) }, newScan()));
  if (scan === undefined) throw new Error('Internal error: a survey without a limit ended at its limit.');
  const steps = whole === undefined ? await multiplied(plan, selection, templates, scan) : reportsOf(scan);
  const report = reportOf(plan, {
    cells,
    steps,
    exact: whole !== undefined,
    totals,
    unpricedNames: scan.unpricedNames,
    examples: scan.examples,
    firstInvalid: scan.firstInvalid,
    notKept: scan.notKept,
    sameAgain: scan.sameAgain,
    dropped: scan.dropped,
  });
  return options.reuse === undefined || whole === undefined ? report : { ...report, reuse: whole.reuse };
}

/** Makes a report with sums and warnings. @param counted.totals sums of the state; undefined without a state */
export function reportOf(
  plan: Pick<Plan, 'pipeline' | 'serviceId' | 'slotGraph'>,
  counted: Pick<PlanReport, 'cells' | 'steps' | 'exact' | 'unpricedNames' | 'examples'> & {
    readonly totals: PlanTotals | undefined;
    readonly firstInvalid?: string | undefined;
    readonly notKept?: NotKept | undefined;
    readonly sameAgain?: SameAgain | undefined;
    readonly dropped?: Dropped | undefined;
  },
): PlanReport {
  const { cells, steps, exact, totals, unpricedNames, examples } = counted;
  const total = sumOf(steps);
  const report = {
    pipeline: plan.pipeline.name,
    file: plan.pipeline.source.file,
    service: plan.serviceId,
    cells,
    slotsPerCell: slotsPerCellOf({
      templates: plan.slotGraph.templates.filter(({ step }) => step.reduced === undefined),
    }),
    exact,
    total,
    atMost: roundMoney(total.cost + total.later.cost),
    priced: Object.keys(plan.pipeline.prices).length > 0,
    unpricedNames,
    steps,
    ...(totals === undefined
      ? {}
      : {
          state: {
            jobs: totals.jobs,
            attempts: totals.attempts,
            tokens: totals.tokens + totals.assumedTokens,
            cost: totals.cost,
            possibleCost: totals.possibleCost,
          },
        }),
    examples,
  };
  return { ...report, warnings: warningsOf(plan, report, counted) };
}

const sampled = ({ limit }: Selection): number => Math.min(limit ?? sampleCells, sampleCells);

/** Examines each chosen cell; undefined if wildcards make more slots than the limit allows. */
async function scanCells(
  plan: Plan,
  selection: Selection,
  scan: Scan,
  maxSlots = Number.POSITIVE_INFINITY,
): Promise<Scan | undefined> {
  for await (const cells of inGroups(plan.matrix.cells(selection), cellsAtOnce(plan))) {
    await scan.add(cells);
    if (scan.examined > maxSlots) return undefined;
  }
  return scan;
}

const reportsOf = (scan: Scan): readonly StepReport[] =>
  [...scan.stepTotals.values()].map((totals) => totals.report());

/**
 * Multiplies the counts of one cell, or of one group: every slot has its own job if its request is known before the run. The tokens of a text call depend
 * on its prompt: the examined cells represent all cells.
 */
async function multiplied(
  plan: Plan,
  selection: Selection,
  templates: readonly SlotTemplate[],
  { costs }: Scan,
): Promise<readonly StepReport[]> {
  const stepTotals = new Map<string, StepTotals>();
  const counts = new Map<CellGroups | undefined, number>();
  for (const template of templates) {
    const groups = groupsOf(plan, template);
    const cells = counts.get(groups) ?? (await plan.matrix.chosen(selection, undefined, groups));
    counts.set(groups, cells);
    if (groups !== undefined && isTextKind(template.kind) && !costs.has(template.index))
      for await (const cell of plan.matrix.cells({ limit: 1 })) {
        const cost = placeholderCost(plan.pipeline.prices, template, cell, groups.largest);
        costs.add({ place: template.index }, cost);
      }
    const { step, kind, selector } = template;
    const totals = stepTotals.get(step.name) ?? new StepTotals(step);
    stepTotals.set(step.name, totals);
    if (template.open) totals.open = true;
    if (template.bound > 1) totals.isBound = true;
    const slots = cells * template.bound;
    const all = isTextKind(kind)
      ? costs.spread(template.index, slots)
      : [{ cost: clickCost(plan.pipeline.prices, kind, selector), count: slots }];
    for (const { cost, count } of all)
      if (template.late) totals.wait(cost, count);
      else totals.submit('new', cost, count);
    if (template.split && !template.late && mayBeGrid(template)) totals.cut(slots);
  }
  return [...stepTotals.values()].map((totals) => totals.report());
}

function warningsOf(
  { pipeline }: Pick<Plan, 'pipeline'>,
  { exact, total, steps, state }: Omit<PlanReport, 'warnings'>,
  {
    firstInvalid,
    notKept,
    sameAgain,
    dropped,
  }: {
    readonly firstInvalid?: string | undefined;
    readonly notKept?: NotKept | undefined;
    readonly sameAgain?: SameAgain | undefined;
    readonly dropped?: Dropped | undefined;
  },
): readonly PlanWarning[] {
  const warnings: PlanWarning[] = [];
  const warn = (code: NoticeCode, message: string): void => void warnings.push({ code, message });

  if (!exact)
    warn(
      'plan.at-most',
      'There are too many slots to examine each: jobs, submissions, tokens and cost are upper bounds, and finished and shared jobs are not subtracted.',
    );
  const open = steps.filter((step) => step.open).map(({ step }) => step);
  if (open.length > 0)
    warn(
      'plan.open',
      `How many buttons a wildcard finds, or outputs a job has, is known only in the run: ${open.join(', ')}.`,
    );
  const lists = steps.filter((step) => step.atMost).map(({ step }) => step);
  if (lists.length > 0)
    warn(
      'plan.lists',
      `How many items a list of \`each\` has, or frames a job, is known only in the run; counted are as many as there may be: ${lists.join(', ')}.`,
    );
  if (dropped !== undefined)
    warn(
      droppedItemsCode,
      `${dropped.count === 1 ? '1 list has' : `${dropped.count} lists have`} more items than \`max\` allows, the first in ${dropped.first}`,
    );
  if (firstInvalid !== undefined)
    warn(
      'plan.invalid',
      exact
        ? `${total.invalid} ${total.invalid === 1 ? 'slot fails' : 'slots fail'} without a request, the first in ${firstInvalid}`
        : `Some slots fail without a request, the first in ${firstInvalid}`,
    );
  if (total.shared > 0)
    warn(
      'plan.shared',
      `${total.shared} slots ask for exactly what another one asks for: that is made and paid once. Use \`repeat\` or vary a seed to have each made.`,
    );
  if (notKept !== undefined)
    warn(
      'plan.not-kept',
      `${exact ? notKept.count : 'Some'} finished ${exact && notKept.count === 1 ? 'answer has' : 'answers have'} images that were not kept when they were made, the first in ${notKept.first}. To have its images, pay for it again: --redo ${notKept.key}`,
    );
  if (sameAgain !== undefined)
    warn(
      'redo.same',
      `${sameAgain.count === 1 ? '1 job presses' : `${sameAgain.count} jobs press`} an upscale of the same grid once more, the first in ${sameAgain.first}: that is paid, and gives the same image again. For another image, redo the grid: --redo ${sameAgain.parent}`,
    );
  const { submits, tokens, cost } = pipeline.budget;
  const { waiting, later } = total;
  const attempts = (state?.attempts ?? 0) + total.submits;
  if (submits !== undefined && attempts + waiting > submits)
    warn(
      'budget.submits',
      `The budget of ${submits} submissions ${wouldBe(attempts > submits)} reached; all together ${attempts} are planned${andLater(waiting, waiting)}.`,
    );
  const counted = (state?.tokens ?? 0) + sumOfTokens(total);
  const countedLater = sumOfTokens(later);
  if (tokens !== undefined && counted + countedLater > tokens)
    warn(
      'budget.tokens',
      `The budget of ${tokens} tokens ${wouldBe(counted > tokens)} reached; all together about ${counted} are planned${andLater(waiting, countedLater)}.`,
    );
  const spent = (state?.cost ?? 0) + (state?.possibleCost ?? 0) + total.cost;
  if (cost !== undefined && spent + later.cost > cost)
    warn(
      'budget.cost',
      `The budget of ${cost} ${wouldBe(spent > cost)} reached; all together ${roundMoney(spent)} is planned${andLater(waiting, later.cost)}.`,
    );
  return warnings;
}

/** A slot that waits for results may need fewer jobs, or none. */
const wouldBe = (isCertain: boolean): string => (isCertain ? 'would be' : 'may be');

const andLater = (waiting: number, more: number): string =>
  more === 0 ? '' : `, and about ${roundMoney(more)} more if all ${waiting} that wait for results follow`;

const sumOfTokens = ({ tokens: { input, output } }: Pick<PlanCounts, 'tokens'>): number => input + output;
