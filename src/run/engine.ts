import pLimit from 'p-limit';
import type { Cell, Selection } from '../plan/cell.ts';
import { StateError } from '../state/store.ts';
import { Effects, failureIn, isBrokenOff, outcomeOf } from './effects/execute.ts';
import type { RunEnd, RunEvent, RunListener } from './events.ts';
import { InFlight } from './in-flight.ts';
import { backoffMs } from './machine/retry/backoff.ts';
import type { RunControl, RunPlan, RunPorts, RunSettings } from './ports.ts';
import { DiskRoom } from './resources/disk-room.ts';
import { everyMinute } from './resources/memory.ts';
import { type Effect, isPaid, type RunCommit, type RunInput, routeOf } from './scheduler/commit.ts';
import type { Scheduler } from './scheduler/scheduler.ts';

/** How many cells are read from the plan at a time; between two batches everything else gets its turn. */
const batchSize = 64;

/** Why a run comes to its end. */
type EngineExit =
  /** All that it has come to is durable. */
  | { readonly kind: 'settled'; readonly end: RunEnd }
  /** It was told to leave at once. */
  | { readonly kind: 'left'; readonly end: RunEnd }
  /** What it has come to could not be made durable. */
  | { readonly kind: 'failed'; readonly end: RunEnd }
  | { readonly kind: 'bug'; readonly bug: unknown };

/** How a run ends whose state cannot be written. @throws what is no failure of the disk */
function diskEnd(error: unknown): Extract<RunEnd, { kind: 'disk' }> {
  if (!(error instanceof StateError)) throw error;
  return { kind: 'disk', code: error.code, message: error.message };
}

/**
 * Feeds a scheduler, makes each of its turns durable as one transaction, counts what of it costs, then sends what the turn asks
 * for.
 */
export class Engine {
  readonly #retry: RunSettings['retry'];
  readonly #ports: RunPorts;
  readonly #scheduler: Scheduler;
  readonly #listener: RunListener;
  readonly #disk: DiskRoom | undefined;
  readonly #cells: AsyncIterator<Cell>;
  /** The scheduler never asks for more at once; here it is a fact of the process, not of arithmetic. */
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #effects: Effects;
  readonly #inFlight = new InFlight((bug) => this.#finish?.({ kind: 'bug', bug }));
  listenerError: unknown;
  #turnIsDue = false;
  /** How often the turn at hand could not be made durable. */
  #tries = 0;
  /** It waits for the next try. */
  #rests = false;
  /** Nothing is sent any more; what is paid is still heard. */
  #hearsOut = false;
  #readingCells = false;
  #cancelAlarm: (() => void) | undefined;
  #finish: ((outcome: EngineExit) => void) | undefined;

  constructor(
    plan: RunPlan,
    selection: Selection,
    settings: RunSettings,
    ports: RunPorts,
    scheduler: Scheduler,
    listener: RunListener,
  ) {
    this.#retry = settings.retry;
    this.#ports = ports;
    this.#scheduler = scheduler;
    this.#listener = listener;
    this.#disk = ports.disk && new DiskRoom(ports.disk, (event) => this.#emit(event));
    this.#cells = plan.cells(selection)[Symbol.asyncIterator]();
    this.#effects = new Effects(ports, settings);
    this.#limit = pLimit({ concurrency: settings.limits.requests, rejectOnClear: true });
  }

  async run(control: RunControl): Promise<RunEnd> {
    const { store, clock } = this.#ports;
    const drain = (): void => this.#take({ type: 'drain', end: { kind: 'interrupted', forced: false } });
    const leave = (): void => this.#finish?.({ kind: 'left', end: { kind: 'interrupted', forced: true } });
    const outcome = new Promise<EngineExit>((resolve) => {
      this.#finish = resolve;
    });
    control.drain.addEventListener('abort', drain, { once: true });
    control.leave.addEventListener('abort', leave, { once: true });
    const unwatch = this.#watchMachine();
    try {
      this.#emit({ type: 'run:start', at: clock.now() });
      this.#disk?.look();
      if (control.leave.aborted) leave();
      else {
        this.#take({ type: 'adopt', records: store.unfinished() });
        if (control.drain.aborted) drain();
      }
      const end = await this.#wayOut(await outcome, control.leave);
      this.#emit({ type: 'run:end', end });
      return end;
    } finally {
      this.#finish = undefined;
      control.drain.removeEventListener('abort', drain);
      control.leave.removeEventListener('abort', leave);
      this.#cancelAlarm?.();
      unwatch();
      await this.#inFlight.stop();
      await this.#cells.return?.();
    }
  }

  /** @returns what ends the watch */
  #watchMachine(): () => void {
    const { memory, disk, clock } = this.#ports;
    if (memory === undefined && disk === undefined) return () => undefined;
    return everyMinute(clock, () =>
      this.#guard(() => {
        this.#disk?.look();
        if (memory === undefined) return;
        const { requests, held } = this.#scheduler;
        this.#emit({ type: 'run:memory', requests, ...held, ...memory() });
      }),
    );
  }

  /** Leaves nothing under way, and nothing that was heard behind. @returns how the run ended @throws what was a bug */
  async #wayOut(outcome: EngineExit, leave: AbortSignal): Promise<RunEnd> {
    switch (outcome.kind) {
      case 'settled':
        return outcome.end;
      case 'left': {
        this.#halt(outcome.end);
        await this.#inFlight.stop();
        return this.#commit(this.#scheduler.takeCommit()) ?? outcome.end;
      }
      case 'failed':
        await this.#hearOut(outcome.end, leave);
        this.#commit(this.#scheduler.takeCommit());
        return outcome.end;
      case 'bug':
        await this.#hearOut({ kind: 'stopped', code: 'internal', message: String(outcome.bug) }, leave);
        // The first bug is told; whether what follows from it fails as well says nothing more.
        this.#guard(() => this.#commit(this.#scheduler.takeCommit()));
        throw outcome.bug;
    }
  }

  /**
   * The disk failed, or we did. Nothing more is sent; but what is paid is waited for, because a task whose id is known is not in
   * doubt, and what failed may have passed by then. A second signal ends the wait.
   */
  async #hearOut(end: RunEnd, leave: AbortSignal): Promise<void> {
    this.#hearsOut = true;
    this.#cancelAlarm?.();
    this.#halt(end);
    this.#guard(() => this.#tell());
    await this.#inFlight.hearPaid(leave);
    await this.#inFlight.stop();
  }

  /** Takes back what was decided and has not left. */
  #halt(end: RunEnd): void {
    this.#guard(() => {
      const turn = this.#scheduler.takeCommit();
      this.#scheduler.requeue({ ...turn, effects: [] });
      this.#scheduler.handle({ type: 'halt', end, unsent: turn.effects }, this.#ports.clock.now());
    });
  }

  /** Says what has happened, and holds on to what of it is not durable. */
  #tell(): void {
    const { events, ...turn } = this.#scheduler.takeCommit();
    this.#scheduler.requeue({ ...turn, events: [] });
    for (const event of events) this.#emit(event);
  }

  /** Makes a turn durable, and counts what of it costs; what could not be done stays with the scheduler. @returns why, where the disk fails */
  #commit(turn: RunCommit): Extract<RunEnd, { kind: 'disk' }> | undefined {
    const { records, attempts, effects } = turn;
    const submits = effects.filter(isPaid).length;
    try {
      if (records.length + attempts.length + submits > 0)
        this.#ports.store.commit({ records, attempts, submits, invocation: this.#scheduler.invocation });
      this.#disk?.note(records);
    } catch (error) {
      this.#scheduler.requeue(turn);
      return diskEnd(error);
    }
    try {
      if (submits > 0) this.#ports.store.countSubmissions();
      return undefined;
    } catch (error) {
      // Its records are durable, its effects have not been carried out.
      this.#scheduler.requeue({ ...turn, records: [], attempts: [] });
      return diskEnd(error);
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
    if (this.#finish === undefined || this.#inFlight.isOver || this.#rests) return;
    if (this.#hearsOut) return this.#tell();
    const turn = this.#scheduler.takeCommit();
    // Nothing of a turn that could not be made durable leaves.
    const failed = this.#commit(turn);
    if (failed !== undefined) return this.#fallBehind(failed);
    this.#tries = 0;
    for (const event of turn.events) this.#emit(event);
    for (const effect of turn.effects) this.#carryOut(effect);
    const end = this.#scheduler.ended;
    if (end !== undefined) return this.#finish({ kind: 'settled', end });
    this.#setAlarm();
    if (this.#scheduler.wantsCells && !this.#readingCells) this.#readCells();
  }

  /** A turn could not be made durable. Another program that holds the file lets go of it sooner or later; a full disk stays full. */
  #fallBehind(end: Extract<RunEnd, { kind: 'disk' }>): void {
    this.#tries += 1;
    this.#cancelAlarm?.();
    if (end.code !== 'state.busy' || this.#tries >= this.#retry.attempts)
      return this.#finish?.({ kind: 'failed', end });
    this.#rests = true;
    const { clock } = this.#ports;
    // One file, and nobody else to come back at the same moment: no jitter.
    const restMs = backoffMs(this.#tries, this.#retry, () => 1);
    this.#cancelAlarm = clock.at(clock.now() + restMs, () => {
      this.#rests = false;
      this.#guard(() => this.#turn());
    });
  }

  #setAlarm(): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = undefined;
    const at = this.#scheduler.nextWakeAt();
    if (at !== undefined) this.#cancelAlarm = this.#ports.clock.at(at, () => this.#take({ type: 'tick' }));
  }

  #readCells(): void {
    this.#readingCells = true;
    this.#inFlight.begin('free', async (signal) => {
      const cells: Cell[] = [];
      let last = false;
      while (cells.length < batchSize && !last && !signal.aborted) {
        const next = await this.#cells.next();
        if (next.done) last = true;
        else cells.push(next.value);
      }
      this.#readingCells = false;
      this.#take({ type: 'cells', cells, last });
    });
  }

  #carryOut(effect: Effect): void {
    this.#inFlight.begin(isPaid(effect) ? 'paid' : 'free', (signal) =>
      this.#limit(async () => {
        const { clock } = this.#ports;
        const sentAt = clock.now();
        const input = await this.#effects.carryOut(effect, signal);
        const failure = failureIn(input);
        if (failure !== undefined && isBrokenOff(input, failure)) return;
        this.#emit({
          type: 'request:end',
          route: routeOf[effect.send.kind],
          key: effect.job.record.key,
          ms: clock.now() - sentAt,
          outcome: outcomeOf(input),
          ...(failure === undefined ? {} : { message: failure.message }),
        });
        this.#take(input);
      }),
    );
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (bug) {
      this.#finish?.({ kind: 'bug', bug });
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
