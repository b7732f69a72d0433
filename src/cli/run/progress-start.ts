import { estimatePlan } from '../../plan/estimate/estimate.ts';
import type { StepStart } from '../terminal/progress/model.ts';
import type { RunSession } from './session.ts';

/** Examining more slots than this one by one would delay the start of a run noticeably. */
const mostSlots = 20_000;

/** The state of each step before a run: its number of jobs, and how many are settled. */
export async function progressStart({ plan, selection, state }: RunSession): Promise<readonly StepStart[]> {
  const {
    exact,
    steps,
    state: held,
  } = await estimatePlan(plan, selection, state.reader, {
    mostSlots,
  });
  const isNew = held === undefined || Object.values(held.jobs).every((count) => count === 0);
  return steps.map(({ step, jobs, done, failed, inDoubt, open, waiting }) => ({
    name: step,
    done,
    failed,
    inDoubt,
    // Upper bounds are as good as totals while nothing is done; afterwards they would be misleading.
    ...(open || waiting > 0 || !(exact || isNew) ? {} : { total: jobs }),
  }));
}
