import type { Cell } from '../plan/cell.ts';
import { maxDurationCode, type RunEnd } from '../run/events.ts';
import type { RunControl } from '../run/ports.ts';
import { endByClosedKinds } from './limits/closed-kinds.ts';
import type { Bounds } from './limits/run-allowance.ts';
import type { EnginePool } from './postgres/pool.ts';
import type { SliceQueue } from './queue/queue.ts';
import { Refeeder } from './queue/refeed.ts';
import { engineSchema } from './schema.ts';
import { DeadSessions } from './slices/dead-sessions.ts';
import type { Grouping } from './slices/deal.ts';
import { feed, pause, untilDone } from './slices/feeder.ts';
import { endLacked } from './slices/lacks.ts';
import { LateFacts } from './slices/late-facts.ts';
import { leadElsewhere, leaseRun, type RunLease } from './slices/lead-lease.ts';
import { RunWatch } from './slices/run-watch.ts';
import { beginInvocation, endRun, stopRun } from './slices/runs.ts';
import { every, liveSessions } from './slices/session.ts';
import type { Engine } from './worker.ts';

/** A run, as its coordinator needs it. */
export interface LedRun {
  readonly run: number;
  readonly name: string;
  /** Description of the run for its workers, as text. */
  readonly spec: string;
  readonly queue: SliceQueue;
  /** Returns the selected cells, by ascending number. */
  cells(invocation: number): AsyncIterable<Cell>;
  /** Largest number of cells in a slice. */
  readonly size: number;
  /** How the steps of the plan group its cells; absent: they do not. */
  readonly groupings?: readonly Grouping[];
  /** Number of tasks that all workers together may have in flight. */
  readonly slots: number;
  /** Spending limits of all workers together. */
  readonly bounds?: Bounds;
  /** The coordinator lease from `leaseRun`; absent: taken at the start and released at the end. */
  readonly lease?: RunLease;
  /** How long to wait for a file that no worker has, ms. */
  readonly patienceMs: number;
  /** The image files of its cells; absent where they have none. */
  readonly files?: {
    /** Answers workers that ask for files or lack them. */
    serve(): Promise<void>;
    /** Deletes the copies of the files, once no worker needs them. */
    clear(): Promise<void>;
  };
  /** Returns once all cells are fed. Workers do the rest, and the same command continues the run. */
  readonly detach?: boolean;
}

/** Interval at which the coordinator checks whether the run has ended, ms. */
const lookMs = 250;
/** Interval of the search for dead workers and late facts, ms. */
const careMs = 2000;
/** Interval at which workers that lack files are answered, ms. */
const serveMs = 1000;

/** The result of leading a run. */
export interface LedEnd {
  /** Undefined where the run was left to the workers. */
  readonly end?: RunEnd;
}

/** Returns how a run has ended. Where everything was done before its workers stopped, the maximum duration does not count. */
function endOf({ status }: RunWatch): RunEnd {
  const { end, fed = false, waiting = 0 } = status ?? {};
  const isWhole = end?.kind === 'budget' && end.code === maxDurationCode && fed && waiting === 0;
  return end === undefined || isWhole ? { kind: 'complete' } : end;
}

/** Returns how a run has ended in which only work of closed or left kinds remains. */
async function withClosedKinds(
  { pool, clock }: Engine,
  run: number,
  { status }: RunWatch,
  { leave }: RunControl,
): Promise<RunEnd> {
  const { invocation = 0 } = status ?? {};
  const end = await untilDone(() => endByClosedKinds({ pool, run, invocation }), clock, leave);
  return end ?? { kind: 'complete' };
}

/**
 * Leads a run: registers its cells as slices, feeds lost slices to the queue again, and waits for its end. One process leads a run at a
 * time; if it dies, the workers continue, and the same command takes the run up again.
 *
 * @param working the work of this process itself for the run, once the invocation is known
 * @throws StateError `state.locked` where another process leads the run; EngineError; any error of reading the cells
 */
export async function lead(
  engine: Engine,
  led: LedRun,
  control: RunControl,
  working?: (invocation: number) => Promise<unknown>,
): Promise<LedEnd> {
  const { pool, clock } = engine;
  const { run, queue } = led;
  const lease = led.lease ?? (await leaseRun(engine, run, led.name));
  const { epoch } = lease;
  const stop = new AbortController();
  let isEnded = false;
  try {
    const { spec, bounds = {} } = led;
    const { invocation } = await beginInvocation(pool, run, { spec, epoch, bounds });
    const watch = new RunWatch(pool, clock, run, invocation, { schema: engineSchema.version });
    const refeeder = new Refeeder(queue, pool, clock, run);
    const late = new LateFacts(pool, run);
    const dead = new DeadSessions(pool, run);
    const stopCare = every(clock, careMs, async () => {
      await dead.look();
      await late.feed();
      await endLacked(pool, run, invocation, led.patienceMs);
    });
    const stopServing = every(clock, serveMs, async () => led.files?.serve());
    const onDrain = (): void => {
      const end: RunEnd = { kind: 'interrupted', forced: false };
      void untilDone(() => stopRun(pool, run, invocation, end), clock, control.leave);
    };
    control.drain.addEventListener('abort', onDrain);
    const unwatch = watch.onEnd(() => stop.abort());
    try {
      if (control.drain.aborted) onDrain();
      const feeding = feed(
        led.cells(invocation),
        { pool, queue, clock },
        { ...led, invocation, epoch },
        stop.signal,
      );
      const ending =
        led.detach === true ? Promise.resolve(false) : ended(engine, led, epoch, watch, late, control);
      [, isEnded] = await Promise.all([feeding, ending, working?.(invocation)]);
      if (pool.troubles.lost !== undefined) throw pool.troubles.lost;
      if (led.detach === true && !control.drain.aborted) return {};
      // The process that leads the run now reports its end.
      if (isEnded && !(await lease.renew())) throw leadElsewhere(pool, led.name);
      const end = endOf(watch);
      return { end: end.kind === 'complete' ? await withClosedKinds(engine, run, watch, control) : end };
    } finally {
      unwatch();
      control.drain.removeEventListener('abort', onDrain);
      stop.abort();
      await Promise.all([watch.stop(), refeeder.stop(), stopCare(), stopServing()]);
      // Remaining entries in the queue of an ended run are never taken.
      if (isEnded) await queue.remove(run).catch(() => undefined);
      if (isEnded) await led.files?.clear();
    }
  } finally {
    if (led.lease === undefined) await lease.close();
  }
}

/**
 * Waits until everything is done, until every worker has ended after the run was stopped, or until the user stops waiting.
 *
 * @returns whether the run has ended
 */
async function ended(
  { pool, clock }: Engine,
  { run }: LedRun,
  epoch: number,
  watch: RunWatch,
  late: LateFacts,
  { leave }: RunControl,
): Promise<boolean> {
  for (; !leave.aborted && pool.troubles.lost === undefined; await pause(clock, lookMs, leave)) {
    const isOver = await isDone(pool, run, watch, late).catch(() => false);
    if (!isOver) continue;
    const { invocation } = watch.status ?? {};
    if (invocation === undefined) continue;
    const isSaid = await endRun(pool, run, invocation, epoch).then(
      () => true,
      () => false,
    );
    if (isSaid) return true;
  }
  return false;
}

/** Whether no slice is left to do. @throws EngineError */
async function isDone(pool: EnginePool, run: number, watch: RunWatch, late: LateFacts): Promise<boolean> {
  await watch.look();
  const { state, fed, waiting } = watch.status ?? { state: 'open', fed: false, waiting: 0 };
  if (state !== 'open') {
    if ((await liveSessions(pool, run)) > 0) return false;
    // A worker that has left since may have done the rest.
    await watch.look();
    return true;
  }
  return fed && waiting === 0 && !(await late.feed());
}
