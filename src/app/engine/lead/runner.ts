import { RunAllowance } from '../../../engine/limits/run-allowance.ts';
import { closeRun } from '../../../engine/slices/runs.ts';
import { sessionOfWriter } from '../../../engine/slices/session.ts';
import { redoOrders } from '../../../engine/state/redos.ts';
import { openEngineStore } from '../../../engine/state/store.ts';
import type { JobRecord } from '../../../plan/job.ts';
import type { Turn } from '../../../state/store.ts';
import { isReplaceable } from '../../../upkeep/reusable-jobs.ts';
import type { ReuseTarget } from '../../../upkeep/reuse.ts';
import type { CheckedRun, Runner } from '../../run/stages.ts';
import { planOnEngine, type RegisteredRun } from './begin.ts';
import { coordinate } from './coordinate.ts';
import { continueOlder, findOnEngine } from './find.ts';
import { type LedRun, lockOnEngine } from './lock.ts';

/** Runs a pipeline on all workers of an engine (`promptpress run FILE --engine`): this process leads the run and works on it too. */
export const engineRunner: Runner<LedRun, RegisteredRun> = {
  lock: lockOnEngine,
  plan: planOnEngine,
  orders: ordersOnEngine,
  taker: takerOnEngine,
  work: coordinate,
};

async function ordersOnEngine(checked: CheckedRun, planned: RegisteredRun) {
  const { engine, run, missing, spec } = planned;
  const { io } = checked.context;
  if (missing !== undefined) io.err(`${await continueOlder(planned, missing, checked)}\n`);
  const found = checked.flags['in-doubt'] === 'find' ? await findOnEngine(planned, checked) : undefined;
  if (found !== undefined) io.err(`${found}\n`);
  // Workers have read the old orders, so they must stop before the new ones apply.
  if (!planned.goesOn && spec.redo !== undefined) await closeRun(engine.pool, run, planned.lease.epoch, true);
  return redoOrders(engine.pool, run);
}

/** Opens the state of a run for jobs of other run directories; workers may work on the run meanwhile. */
async function takerOnEngine(
  { interrupts: { leave } }: CheckedRun,
  { engine: { pool, clock }, run, plan }: RegisteredRun,
): Promise<ReuseTarget> {
  const session = await sessionOfWriter(pool, 'reuse');
  const allowance = new RunAllowance({}, clock, () => {});
  const budget = { worker: String(session), charge: (record: JobRecord) => allowance.chargeOf(record) };
  const store = await openEngineStore(pool, { run, session, clock, budget, signal: leave });
  const commit = async ({ records, attempts }: Turn): Promise<void> => {
    await store.others.read(records.map(({ key }) => key));
    // A worker may have begun the job since it was looked up.
    await store.commit({ records: records.filter(({ key }) => isReplaceable(store.get(key))), attempts });
  };
  return { plan, state: { ...store, commit } };
}
