import type { Pipeline } from '../pipeline/pipeline.ts';
import type { Cell, Selection } from '../plan/cell.ts';
import { pressNames, priceOf } from '../plan/estimate/price.ts';
import { stepNamed } from '../plan/graph/order.ts';
import { chosenSteps } from '../plan/graph/step-selection.ts';
import type { JobRecord } from '../plan/job.ts';
import { reductionId } from '../plan/matrix/groups.ts';
import type { Plan, StepsPlan } from '../plan/plan.ts';
import type { CellSource, RunPlan } from './ports.ts';

/** Returns a plan as a run uses it: only the slots selected by `--only`, and the price of each job's submission. */
export function planForRun(plan: Plan, selection: Selection): RunPlan {
  return { ...stepsForRun(plan, selection), cells: (part) => plan.matrix.cells(part) };
}

/** Returns a plan without a matrix as a run uses it; its cells come from another source. */
export function stepsForRun(plan: StepsPlan, { only, unsaved }: Selection): Omit<RunPlan, 'cells'> {
  const steps = chosenSteps(plan, only);
  if (!steps.ok) throw new Error(`Internal error: the selection was not checked: ${steps.error.message}`);
  const chosen = steps.value;
  const { prices } = plan.pipeline;
  const own = plan.pipeline.steps.filter(({ name }) => chosen.steps?.has(name) ?? true);
  const ids = new Set(own.flatMap(({ reduced }) => (reduced === undefined ? [] : reductionId(reduced))));
  const groups = [...ids].map((id) => stepNamed(plan.groups, id));
  return {
    ...(groups.length > 0 && {
      gathers: (cell: number) => groups.flatMap((group) => (group.isLast(cell) ? group.numbers(cell) : [])),
    }),
    resolve: (cell, lookup, isOwn) =>
      only === undefined && !unsaved
        ? plan.resolve(cell, lookup, isOwn)
        : plan
            .resolve(cell, lookup, isOwn)
            .filter((slot) => chosen.includes(slot) && (!unsaved || slot.status === 'saving')),
    steps: chosen.steps,
    price: (record) => priceOfJob(prices, record),
  };
}

/** Returns the cells of a plan, in order, as the source of a run on one machine. */
export function planCells({ cells }: Pick<RunPlan, 'cells'>, selection: Selection): CellSource {
  const iterator = cells(selection)[Symbol.asyncIterator]();
  return {
    next: async (most, signal) => {
      const read: Cell[] = [];
      while (read.length < most && !signal.aborted) {
        const next = await iterator.next();
        if (next.done) return { cells: read, last: true };
        read.push(next.value);
      }
      return { cells: read, last: false };
    },
    close: async () => {
      await iterator.return?.();
    },
  };
}

/** Returns the price of one submission of a job; undefined where no price is set. */
export function priceOfJob(
  prices: Pipeline['prices'],
  { kind, request, pressed }: JobRecord,
): number | undefined {
  return priceOf(prices, kind, [
    ...[pressed?.label, pressed?.emoji].filter((name) => name !== undefined && name !== ''),
    ...pressNames(request.press),
  ] as readonly string[]);
}
