import type { Selection } from '../plan/cell.ts';
import type { JobRecord } from '../plan/job.ts';
import type { Clock } from '../run/clock.ts';
import { maxFailuresCode, type RunEnd, type RunEvent, type RunListener } from '../run/events.ts';
import type { RunControl, RunPlan, RunPorts, RunReport, RunSettings, ServiceAddress } from '../run/ports.ts';
import { runPlan } from '../run/run.ts';
import { ClosedKinds } from './limits/closed-kinds.ts';
import { KnownService } from './limits/known-service.ts';
import { boundsOf, type Charge } from './limits/run-allowance.ts';
import { EngineLimits } from './limits/shared-limits.ts';
import type { EngineAddress } from './postgres/address.ts';
import type { EnginePool } from './postgres/pool.ts';
import type { SliceQueue } from './queue/queue.ts';
import { engineSchema } from './schema.ts';
import { RunCare } from './slices/dead-sessions.ts';
import { untilDone } from './slices/feeder.ts';
import { endLacked } from './slices/lacks.ts';
import type { ReceivedFile } from './slices/received-file.ts';
import { RunWatch } from './slices/run-watch.ts';
import { stopRun, type TalliedWork, tellWork } from './slices/runs.ts';
import { beginSession, every } from './slices/session.ts';
import { type SliceImages, SliceSource } from './slices/source.ts';
import { WorkerSlots } from './slots.ts';
import { type EngineStore, openEngineStore } from './state/store.ts';

/** An engine, with the means by which a process reaches it. */
export interface Engine {
  readonly address: EngineAddress;
  readonly pool: EnginePool;
  readonly clock: Clock;
  /** Keeps results on disk while the engine is unavailable. Absent: they are kept in memory only. */
  readonly received?: ReceivedFile;
}

/** Interval of the search for results of dead processes, ms. */
const sweepMs = 2000;

/** The work of a worker for one run. */
export interface Work {
  readonly run: number;
  readonly invocation: number;
  /** Name shown with its sessions. */
  readonly name: string;
  readonly leaseMs: number;
  readonly queue: SliceQueue;
  readonly plan: Omit<RunPlan, 'cells'>;
  readonly selection: Selection;
  readonly settings: RunSettings;
  /** The gateway and the account there: all runs with the same name share its limits. */
  readonly service: string;
  /** The service address of the requests. Absent: what others know of it is not read. */
  readonly address?: ServiceAddress;
  /** False where all steps are text calls, which need no task slot; absent: true. */
  readonly makesTasks?: boolean;
  /** The images of requests, where their facts have to be loaded. */
  readonly images?: SliceImages;
  /** Task slots of this process, in all runs that it works on; absent: limited only by the limits of the run. */
  readonly slots?: WorkerSlots;
  /** True where the worker ends once all slices are done, and does not wait for more. */
  readonly once?: boolean;
  /** True where its Ctrl-C ends the whole run, not only this worker. */
  readonly endsRun?: boolean;
  /** Whether nothing new is sent, so that no more slices are taken. */
  readonly isHeldBack?: () => boolean;
  /** Returns everything that the run needs besides its state. */
  ports(
    store: EngineStore,
  ):
    | Omit<RunPorts, 'store' | 'cells' | 'clock' | 'random' | 'shared' | 'fence' | 'resultLog'>
    | Promise<Omit<RunPorts, 'store' | 'cells' | 'clock' | 'random' | 'shared' | 'fence' | 'resultLog'>>;
  /** Rejects an engine with a state older than the run, before each session: it may have been restored. @throws StateError */
  readonly checkAge?: () => Promise<void>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * Works on the slices of one run until the run ends. A worker that others considered dead begins a new session: its slices are theirs.
 *
 * Waits while the engine is unavailable, full or read-only; `pool.troubles` reports that.
 *
 * @throws EngineError at the start; `engine.lost` where the failure of the engine does not pass; Error beginning `Internal error:` for a
 * bug
 */
export async function workOn(
  engine: Engine,
  work: Work,
  control: RunControl,
  listener: RunListener,
): Promise<RunReport> {
  const { pool, clock, received } = engine;
  const { run, invocation } = work;
  const { maxFailures } = work.settings;
  const known = work.address && new KnownService({ pool, run }, work.address);
  const closings = new ClosedKinds({ pool, run, invocation });
  const over = new AbortController();
  const stop = (end: RunEnd): Promise<void | undefined> =>
    untilDone(
      () => stopRun(pool, run, invocation, end),
      clock,
      AbortSignal.any([control.leave, over.signal]),
    );
  let tooMany: Promise<unknown> | undefined;
  const watch = new RunWatch(pool, clock, run, invocation, {
    schema: engineSchema.version,
    onLook: ({ failures, known: seen, closed }) => {
      known?.onLook(seen);
      closings.onLook(closed);
      if (maxFailures !== undefined && failures >= maxFailures) tooMany ??= stop(tooManyInAll(maxFailures));
    },
  });
  const care = new RunCare({ pool, clock, queue: work.queue }, run, work.name, () =>
    endLacked(pool, run, invocation, work.settings.retry.patienceMs),
  );
  const stopSweeping = every(clock, sweepMs, async () => received?.sweep(pool));
  try {
    failIfLost(pool);
    await watch.look();
    await received?.sweep(pool);
    for (;;) {
      await work.checkAge?.();
      const { report, isDead } = await oneSession(
        engine,
        work,
        { watch, stop, known, closings },
        control,
        listener,
      );
      failIfLost(pool);
      if (!isDead || control.drain.aborted || watch.isOver) return report;
    }
  } finally {
    await stopSweeping();
    await care.stop();
    await watch.stop();
    await known?.stop();
    over.abort();
    await tooMany;
    await work.queue.leave(run).catch(() => undefined);
  }
}

/** Throws the failure of an engine that does not pass, if any. @throws StateError */
function failIfLost({ troubles: { lost } }: EnginePool): void {
  if (lost !== undefined) throw lost;
}

async function oneSession(
  { pool, clock, received }: Engine,
  work: Work,
  {
    watch,
    stop,
    known,
    closings,
  }: {
    readonly watch: RunWatch;
    readonly stop: (end: RunEnd) => Promise<unknown>;
    readonly known: KnownService | undefined;
    readonly closings: ClosedKinds;
  },
  control: RunControl,
  listener: RunListener,
): Promise<{ readonly report: RunReport; readonly isDead: boolean }> {
  const { run, queue, plan, settings, leaseMs, once = false, slots = new WorkerSlots() } = work;
  const session = await beginSession({ pool, clock }, run, work);
  received?.begin(session);
  let limits: EngineLimits | undefined;
  let stopTelling: (() => Promise<void>) | undefined;
  try {
    const worker = String(session.session);
    closings.begin(session.session);
    const shared = new EngineLimits(
      { service: work.service, session },
      {
        limits: settings.limits,
        bounds: boundsOf(settings.budget, settings.maxSubmits),
        makesTasks: work.makesTasks ?? true,
        leaseMs,
      },
      { clock, random: work.random },
    );
    limits = shared;
    for (const reported of [closings, known])
      if (reported !== undefined) reported.onMore = () => shared.tellMore();
    const budget = {
      worker,
      charge: (record: JobRecord) => shared.allowance.chargeOf(record),
      takeOver: (record: JobRecord, charged: Charge) => shared.allowance.takeOver(record, charged),
    };
    const store = await openEngineStore(pool, {
      run,
      session: session.session,
      clock,
      budget,
      // A worker that must leave at once does not wait for the engine.
      patienceMs: Number.POSITIVE_INFINITY,
      signal: control.leave,
      ...(settings.timeouts.textMs === undefined ? {} : { textMs: settings.timeouts.textMs }),
      ...(settings.acceptedFailures && { acceptedFailures: settings.acceptedFailures }),
    });
    const ports = await work.ports(store);
    const source = new SliceSource(
      { pool, queue, store, clock },
      {
        run,
        session,
        leaseMs,
        plan,
        ...(work.images === undefined ? {} : { images: work.images }),
        onLacked: (path) =>
          listener({
            type: 'run:notice',
            code: 'input.differs',
            message: `${JSON.stringify(path)} is missing on this machine, or differs from the file of the run: cells that show it are left to other workers, until the coordinator has copied it into the place of the run.`,
          }),
        isOver: () => watch.isOver || (once && watch.status?.fed === true && watch.status.waiting === 0),
        ...(shared.taskSlots === undefined ? {} : { lackedSlotMs: () => shared.taskSlots?.lackedMs }),
        ...(work.isHeldBack && { isHeldBack: work.isHeldBack }),
        onHeld: (slices) => shared.taskSlots?.noteSlices(slices),
        beforeEnd: () => closings.reported(),
      },
    );
    const stopping: Promise<unknown>[] = [];
    const tally = new Tally();
    const tell = (): Promise<void> =>
      tally.tell((done) =>
        tellWork(pool, { run, invocation: work.invocation, session: session.session }, done),
      );
    stopTelling = every(clock, tellMs, tell);
    const onEvent = (event: RunEvent): void => {
      tally.take(event);
      // Only a signal and its own disk end one worker alone.
      if (
        event.type === 'run:stopping' &&
        (work.endsRun === true || !['interrupted', 'disk'].includes(event.end.kind))
      )
        stopping.push(stop(event.end));
      shared.listener(event);
      listener(event);
    };
    const report = await runPlan(
      { ...plan, cells: noCells, resolve: (cell, lookup, isOwn) => source.resolve(cell, lookup, isOwn) },
      work.selection,
      // Spending is limited for all workers together.
      ownSettings(settings, watch.status?.lastedMs ?? 0, slots),
      {
        ...ports,
        store,
        cells: source,
        clock,
        ...(work.address && { address: work.address }),
        shared: slots.within(
          Object.assign(shared, known && { served: known.served, kinds: known.kinds }, { closings }),
        ),
        fence: session.fence,
        ...(received && { resultLog: received.ofRun(run, store.unwritten) }),
        random: work.random,
      },
      { ...control, onEnd: watch.onEnd },
      onEvent,
    );
    await Promise.all(stopping);
    await stopTelling();
    // Only counters: the last ones are lost if the engine is unavailable.
    await tell().catch(() => undefined);
    return { report, isDead: source.isDead };
  } finally {
    await stopTelling?.();
    await closings.reported().catch(() => undefined);
    if (limits?.taskSlots !== undefined) slots.leave(limits.taskSlots);
    await limits?.stop().catch(() => undefined);
    // A worker that cannot report its end is found to be gone.
    await session.end().then(
      () => received?.end(session),
      () => undefined,
    );
  }
}

/** Interval at which a worker reports totals that no record contains, ms. */
const tellMs = 5000;

/** Totals of a worker's results that no record contains. */
class Tally {
  #done: TalliedWork = { redosFailed: 0, gridsCut: 0, timedOutAgain: 0 };
  #reported = this.#done;

  take(event: RunEvent): void {
    const name = talliedName(event);
    if (name !== undefined) this.#done = { ...this.#done, [name]: this.#done[name] + 1 };
  }

  /** Reports the totals where they have grown. @param to receives the totals @throws any error of `to` */
  async tell(to: (done: TalliedWork) => Promise<void>): Promise<void> {
    const done = this.#done;
    if (done === this.#reported) return;
    await to(done);
    this.#reported = done;
  }
}

function talliedName(event: RunEvent): keyof TalliedWork | undefined {
  if (event.type === 'run:notice' && event.code === 'redo.failed') return 'redosFailed';
  if (event.type === 'grid:cut' && event.error === undefined) return 'gridsCut';
  return event.type === 'job:status' && event.timedOut ? 'timedOutAgain' : undefined;
}

const tooManyInAll = (most: number): RunEnd => ({
  kind: 'fail-fast',
  code: maxFailuresCode,
  message: `${most === 1 ? 'A job has' : `${most} jobs have`} failed in this run (--max-failures), of all workers together.`,
});

/** The cells of a worker come from slices. */
const noCells: RunPlan['cells'] = () => {
  throw new Error('Internal error: a worker has no matrix.');
};

/** @param lastedMs duration of the run so far: a worker that joins later has less time */
const ownSettings = (
  { maxSubmits: _all, maxDurationMs, ...settings }: RunSettings,
  lastedMs: number,
  { most }: WorkerSlots,
): RunSettings => ({
  ...settings,
  ...(maxDurationMs === undefined ? {} : { maxDurationMs: Math.max(1, maxDurationMs - lastedMs) }),
  limits: { ...settings.limits, tasks: Math.min(settings.limits.tasks, most) },
  budget: {},
});
