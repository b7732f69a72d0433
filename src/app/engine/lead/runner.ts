import { closeRun } from '../../../engine/slices/runs.ts';
import { redoOrders } from '../../../engine/state/redos.ts';
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
