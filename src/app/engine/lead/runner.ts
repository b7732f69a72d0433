import { closeRun } from '../../../engine/slices/runs.ts';
import { redoOrders } from '../../../engine/state/redos.ts';
import { serviceWords } from '../../../report/text/plan-text.ts';
import { sumsOf } from '../../../results/sums.ts';
import type { BegunWork, Runner } from '../../run/runner.ts';
import { openEngine } from '../../service/engine/connect.ts';
import { type BegunOnEngine, beginOnEngine } from './begin.ts';
import { coordinate } from './coordinate.ts';
import { continueOlder, findOnEngine } from './find.ts';
import { holdOnEngine, type OpeningOnEngine } from './hold.ts';
import type { SeenOnEngine } from './view.ts';

/** PostgreSQL connections of a coordinator, whether or not it works too; its queue opens one more. */
const connections = 2;

/** Runs a pipeline on all workers of an engine (`promptpress run FILE --engine`): this process leads the run and works on it too. */
export const engineRunner: Runner = {
  async hold(opening) {
    const { service, flags, interrupts, output, disposables, context } = opening;
    const { baseUrl } = service;
    if (baseUrl === undefined) throw new Error('Internal error: a run on an engine has a service.');
    const say = (text: string): void => output.warn(`${text}\n`);
    const waits = { signal: interrupts.drain, say };
    const use = { as: 'run', name: 'run', connections, waits } as const;
    const engine = await openEngine(flags.engine, use, disposables, context);
    const reached = { ...opening, service: { ...service, baseUrl }, engine };
    const held = await holdOnEngine(reached);
    const { startedAt, shown } = held;
    const { reader } = held.state;
    const seen: SeenOnEngine = { totals: await reader.totals(), workersStatus: undefined };
    return {
      startedAt,
      reader,
      engine: shown,
      totals: () => sumsOf(seen.totals, []),
      workersStatus: () => seen.workersStatus,
      begin: async (wish) => workOf(await beginOnEngine(reached, held, wish), reached, seen),
    };
  },
};

function workOf(begun: BegunOnEngine, opening: OpeningOnEngine, seen: SeenOnEngine): BegunWork {
  const { engine, run, shown, spec, missing } = begun;
  const { service, flags, context } = opening;
  const { origin } = spec.service;
  return {
    run: begun,
    settings: begun.settings,
    origin,
    reached: [`Service: ${serviceWords(service.id, origin)}`, `Engine: ${shown}`],
    orders: async () => {
      if (missing !== undefined) context.io.err(`${await continueOlder(begun, missing, opening)}\n`);
      const found = flags['in-doubt'] === 'find' ? await findOnEngine(begun, opening) : undefined;
      if (found !== undefined) context.io.err(`${found}\n`);
      // Workers have read the old orders, so they must stop before the new ones apply.
      if (!begun.goesOn && spec.redo !== undefined) await closeRun(engine.pool, run, begun.hold.epoch, true);
      return redoOrders(engine.pool, run);
    },
    work: (metrics) => coordinate(begun, opening, seen, metrics),
  };
}
