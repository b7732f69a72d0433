import pLimit from 'p-limit';
import type { Cell, Selection } from '../plan/cell.ts';
import type { JobRecord } from '../plan/job.ts';
import type { RecordLookup, Slot } from '../plan/slot.ts';
import { StateError, type Turn } from '../state/store.ts';
import { Errands, failureIn, isBrokenOff, outcomeOf } from './errands.ts';
import type { RunEnd, RunEvent, RunListener } from './event.ts';
import { everyMinute } from './memory.ts';
import type { RunControl, RunPorts, RunReport, RunSettings } from './ports.ts';
import { Scheduler } from './scheduler.ts';
import { type Errand, type RunInput, routeOf } from './turn.ts';

/** How many cells are read from the plan at a time; between two batches everything else gets its turn. */
const batchSize = 64;

/** What a run needs of a plan. */
export interface RunPlan {
  /** The chosen cells, lazily, in order. */
  cells(selection: Selection): AsyncIterable<Cell>;
  resolve(cell: Cell, lookup: RecordLookup): readonly Slot[];
  /** Names of the steps that may run; absent: all. */
  readonly steps?: ReadonlySet<string>;
  /** Price of one submission, where known. */
  price(record: JobRecord): number | undefined;
}

/**
 * Carries out a plan, or goes on with it: feeds the scheduler, makes each turn durable as one transaction, then sends
 * what the turn asked for. Resolves when nothing is left to do, when it must stop, or when it is told to.
 *
 * @throws Error beginning `Internal error:` for a bug; a failing disk or service is a `RunEnd`
 */
export async function runPlan(
  plan: RunPlan,
  selection: Selection,
  settings: RunSettings,
  ports: RunPorts,
  control: RunControl,
  listener: RunListener,
): Promise<RunReport> {
  const { store, clock } = ports;
  const startedAt = clock.now();
  const { attempts, cost, tokens } = store.totals();
  const scheduler = new Scheduler({
    settings,
    startedAt,
    random: ports.random,
    resolve: (cell, lookup) => plan.resolve(cell, lookup),
    lookup: (key) => store.get(key),
    price: (record) => plan.price(record),
    spent: { attempts, cost, tokens },
    ...(plan.steps === undefined ? {} : { steps: plan.steps }),
  });
  const engine = new Engine(plan, selection, settings, ports, scheduler, listener);
  const end = await engine.run(control);
  const { listenerError } = engine;
  return {
    end,
    submits: scheduler.submits,
    tokens: scheduler.tokens,
    startedAt,
    finishedAt: clock.now(),
    ...(listenerError === undefined ? {} : { listenerError }),
  };
}

class Engine {
  readonly #ports: RunPorts;
  readonly #scheduler: Scheduler;
  readonly #listener: RunListener;
  readonly #cells: AsyncIterator<Cell>;
  /** Aborts every request when the run leaves at once. */
  readonly #leaving = new AbortController();
  /** The scheduler never asks for more at once; here it is a fact of the process, not of arithmetic. */
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #errands: Errands;
  readonly #underWay = new Set<Promise<void>>();
  listenerError: unknown;
  #turnIsDue = false;
  #readingCells = false;
  #cancelAlarm: (() => void) | undefined;
  #finish: ((outcome: { readonly end: RunEnd } | { readonly bug: unknown }) => void) | undefined;

  constructor(
    plan: RunPlan,
    selection: Selection,
    settings: RunSettings,
    ports: RunPorts,
    scheduler: Scheduler,
    listener: RunListener,
  ) {
    this.#ports = ports;
    this.#scheduler = scheduler;
    this.#listener = listener;
    this.#cells = plan.cells(selection)[Symbol.asyncIterator]();
    this.#errands = new Errands(ports, settings);
    this.#limit = pLimit({ concurrency: settings.limits.requests, rejectOnClear: true });
  }

  async run(control: RunControl): Promise<RunEnd> {
    const { store, clock } = this.#ports;
    const drain = (): void => this.#take({ type: 'drain', end: { kind: 'interrupted', forced: false } });
    const leave = (): void => this.#finish?.({ end: { kind: 'interrupted', forced: true } });
    const outcome = new Promise<{ readonly end: RunEnd } | { readonly bug: unknown }>((resolve) => {
      this.#finish = resolve;
    });
    control.drain.addEventListener('abort', drain, { once: true });
    control.leave.addEventListener('abort', leave, { once: true });
    const unwatch = this.#watchMemory();
    try {
      this.#emit({ type: 'run:start', at: clock.now() });
      if (control.leave.aborted) leave();
      else {
        this.#take({ type: 'adopt', records: store.unfinished() });
        if (control.drain.aborted) drain();
      }
      const result = await outcome;
      if ('bug' in result) throw result.bug;
      const { end } = result;
      const last = end.kind === 'interrupted' && end.forced ? await this.#keepAnswers(end) : end;
      this.#emit({ type: 'run:end', end: last });
      return last;
    } finally {
      this.#finish = undefined;
      control.drain.removeEventListener('abort', drain);
      control.leave.removeEventListener('abort', leave);
      this.#cancelAlarm?.();
      unwatch();
      await this.#stopWork();
      await this.#cells.return?.();
    }
  }

  /** @returns what ends the watch */
  #watchMemory(): () => void {
    const { memory, clock } = this.#ports;
    if (memory === undefined) return () => undefined;
    return everyMinute(clock, () =>
      this.#guard(() => {
        const { requests, held } = this.#scheduler;
        this.#emit({ type: 'run:memory', requests, ...held, ...memory() });
      }),
    );
  }

  /** Nothing may write to the run directory once its owner has let go of it. */
  async #stopWork(): Promise<void> {
    this.#leaving.abort();
    await Promise.allSettled(this.#underWay);
  }

  /** Leaves at once, but not without what has been heard: a task whose id is known is not in doubt. */
  async #keepAnswers(end: RunEnd): Promise<RunEnd> {
    await this.#stopWork();
    const { records, attempts, errands } = this.#scheduler.takeTurn();
    const unsent = new Set(
      errands
        .filter(({ send: { kind } }) => kind === 'submit' || kind === 'modal' || kind === 'ask')
        .map(({ job }) => job.record.key),
    );
    return this.#commit({ records: records.filter(({ key }) => !unsent.has(key)), attempts }) ?? end;
  }

  /** Makes a turn durable. @returns why the run must end, where the disk fails */
  #commit(turn: Turn): RunEnd | undefined {
    try {
      if (turn.records.length > 0 || turn.attempts.length > 0) this.#ports.store.commit(turn);
      return undefined;
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      return { kind: 'disk', code: error.code, message: error.message };
    }
  }

  /** Feeds the scheduler; the turn it makes is carried out once, after everything that happens in this event-loop turn. */
  #take(input: RunInput): void {
    if (this.#finish === undefined) return;
    this.#guard(() => this.#scheduler.handle(input, this.#ports.clock.now()));
    if (this.#turnIsDue) return;
    this.#turnIsDue = true;
    setImmediate(() => {
      this.#turnIsDue = false;
      this.#guard(() => this.#turn());
    });
  }

  #turn(): void {
    if (this.#finish === undefined || this.#leaving.signal.aborted) return;
    const { records, attempts, errands, events } = this.#scheduler.takeTurn();
    // Nothing of a turn that could not be made durable leaves.
    const failed = this.#commit({ records, attempts });
    if (failed !== undefined) return this.#finish({ end: failed });
    for (const event of events) this.#emit(event);
    for (const errand of errands) this.#carryOut(errand);
    const end = this.#scheduler.ended;
    if (end !== undefined) return this.#finish({ end });
    this.#setAlarm();
    if (this.#scheduler.wantsCells && !this.#readingCells) this.#track(this.#readCells());
  }

  #setAlarm(): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = undefined;
    const at = this.#scheduler.nextWakeAt();
    if (at !== undefined) this.#cancelAlarm = this.#ports.clock.at(at, () => this.#take({ type: 'tick' }));
  }

  async #readCells(): Promise<void> {
    this.#readingCells = true;
    const cells: Cell[] = [];
    let last = false;
    while (cells.length < batchSize && !last && !this.#leaving.signal.aborted) {
      const next = await this.#cells.next();
      if (next.done) last = true;
      else cells.push(next.value);
    }
    this.#readingCells = false;
    this.#take({ type: 'cells', cells, last });
  }

  #carryOut(errand: Errand): void {
    this.#track(
      this.#limit(async () => {
        const { clock } = this.#ports;
        const sentAt = clock.now();
        const input = await this.#errands.carryOut(errand, this.#leaving.signal);
        const failure = failureIn(input);
        if (failure !== undefined && isBrokenOff(input, failure)) return;
        this.#emit({
          type: 'request:end',
          route: routeOf[errand.send.kind],
          key: errand.job.record.key,
          ms: clock.now() - sentAt,
          outcome: outcomeOf(input),
          ...(failure === undefined ? {} : { message: failure.message }),
        });
        this.#take(input);
      }),
    );
  }

  /** Keeps hold of work under way; an exception in it is a bug and ends the run, never silently. */
  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#finish?.({ bug: error }))
      .finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#finish?.({ bug: error });
    }
  }

  /** A listener that throws changes nothing about the run; its first error is in the report. */
  #emit(event: RunEvent): void {
    try {
      this.#listener(event);
    } catch (error) {
      this.listenerError ??= error;
    }
  }
}
