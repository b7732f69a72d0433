import pLimit from 'p-limit';
import type { Cell, Selection } from '../plan/cell.ts';
import type { JobRecord } from '../plan/job.ts';
import type { Turn } from '../state/store.ts';
import { type CommitFailure, CommitWriter, type DiskEnd, diskEnd } from './commit-writer.ts';
import { Effects } from './effects/execute.ts';
import { InFlight } from './effects/in-flight.ts';
import type { RunEnd, RunEvent, RunListener } from './events.ts';
import { backoffMs } from './machine/retry/backoff.ts';
import type { RunControl, RunPlan, RunPorts, RunSettings } from './ports.ts';
import { CommitTurn } from './resources/commit-turn.ts';
import { DiskRoom } from './resources/disk-room.ts';
import { everyMinute } from './resources/memory.ts';
import { nextCells } from './run-plan.ts';
import { type Effect, isPaid, type RunCommit, type RunInput, routeOf } from './scheduler/commit.ts';
import type { Scheduler } from './scheduler/scheduler.ts';

/** How many cells are read from the plan at a time; between two batches everything else gets its turn. */
const batchSize = 64;

/** Why a run comes to its end. */
type EngineExit =
  /** Everything that was decided is durable. */
  | { readonly kind: 'settled'; readonly end: RunEnd }
  /** The user ended the run at once. */
  | { readonly kind: 'left'; readonly end: RunEnd }
  /** A commit could not be made durable. */
  | { readonly kind: 'failed'; readonly end: RunEnd }
  | { readonly kind: 'bug'; readonly bug: unknown };

/**
 * Feeds a scheduler, makes its decisions durable, one commit at a time, then carries out the effects of that commit. Decisions
 * made while a commit is being written are part of the next one.
 */
export class Engine {
  readonly #retry: RunSettings['retry'];
  readonly #ports: RunPorts;
  readonly #scheduler: Scheduler;
  readonly #listener: RunListener;
  readonly #disk: DiskRoom | undefined;
  readonly #cells: AsyncIterator<Cell>;
  /** The scheduler never sends more at once; this limit enforces that for the process. */
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #effects: Effects;
  readonly #writer: CommitWriter;
  readonly #inFlight = new InFlight((bug) => this.#end({ kind: 'bug', bug }));
  listenerError: unknown;
  readonly #turn: CommitTurn;
  /** The commit that a store is making durable; undefined: none, or the store was done when it returned. */
  #writing: Promise<void> | undefined;
  /** How often the commit at hand could not be made durable, and whether the engine waits for the next try. */
  #tries = 0;
  #rests = false;
  /** True once the run has a reason to end: it sends nothing more. */
  #isEnding = false;
  #readingCells = false;
  #cancelAlarm: (() => void) | undefined;
  #resolveExit: ((exit: EngineExit) => void) | undefined;

  constructor(
    plan: RunPlan,
    selection: Selection,
    settings: RunSettings,
    ports: RunPorts,
    scheduler: Scheduler,
    listener: RunListener,
    facts: () => Turn['facts'],
  ) {
    this.#retry = settings.retry;
    this.#ports = ports;
    this.#scheduler = scheduler;
    this.#listener = listener;
    this.#disk = ports.disk && new DiskRoom(ports.disk, (event) => this.#emit(event));
    this.#cells = plan.cells(selection)[Symbol.asyncIterator]();
    this.#effects = new Effects(ports, settings);
    const onDurable = (records: readonly JobRecord[]) => this.#disk?.note(records);
    this.#writer = new CommitWriter(ports.store, scheduler, onDurable, facts);
    this.#turn = new CommitTurn(
      ports.clock,
      () => this.#guard(() => this.#commit()),
      () => this.#inFlight.count,
    );
    this.#limit = pLimit({ concurrency: settings.limits.requests, rejectOnClear: true });
  }

  async run(control: RunControl): Promise<RunEnd> {
    const { store, clock, shared } = this.#ports;
    const drain = (): void => this.#accept({ type: 'drain', end: { kind: 'interrupted', forced: false } });
    const leave = (): void => this.#end({ kind: 'left', end: { kind: 'interrupted', forced: true } });
    const exit = new Promise<EngineExit>((resolve) => {
      this.#resolveExit = resolve;
    });
    control.drain.addEventListener('abort', drain, { once: true });
    control.leave.addEventListener('abort', leave, { once: true });
    const watches = [this.#watchMachine(), shared?.onMore?.(() => this.#accept({ type: 'refilled' }))];
    try {
      this.#emit({ type: 'run:start', at: clock.now() });
      this.#disk?.look();
      if (control.leave.aborted) leave();
      else {
        this.#accept({ type: 'adopt', records: store.unfinished() });
        if (control.drain.aborted) drain();
      }
      const end = await this.#endAs(await exit, control.leave);
      this.#emit({ type: 'run:end', end });
      return end;
    } finally {
      this.#resolveExit = undefined;
      control.drain.removeEventListener('abort', drain);
      control.leave.removeEventListener('abort', leave);
      this.#cancelAlarm?.();
      this.#turn.end();
      for (const unwatch of watches) unwatch?.();
      await this.#inFlight.stop();
      await this.#cells.return?.();
    }
  }

  /** @returns what ends the watch */
  #watchMachine(): (() => void) | undefined {
    const { memory, disk, clock } = this.#ports;
    if (memory === undefined && disk === undefined) return undefined;
    return everyMinute(clock, () =>
      this.#guard(() => {
        this.#disk?.look();
        if (memory === undefined) return;
        const { requests, held } = this.#scheduler;
        this.#emit({ type: 'run:memory', requests, ...held, ...memory() });
      }),
    );
  }

  #end(exit: EngineExit): void {
    this.#isEnding = true;
    this.#resolveExit?.(exit);
  }

  /** Ends all requests, and makes their results durable. @returns how the run ended @throws a bug that ended the run */
  async #endAs(exit: EngineExit, leave: AbortSignal): Promise<RunEnd> {
    // A commit that is being written must succeed or fail before anything is decided about it.
    if (this.#writing !== undefined) await this.#writing;
    switch (exit.kind) {
      case 'settled':
        return exit.end;
      case 'left':
        this.#halt(exit.end);
        await this.#inFlight.stop();
        return (await this.#writeLast()) ?? exit.end;
      case 'failed':
        await this.#awaitPaid(exit.end, leave);
        await this.#writeLast();
        return exit.end;
      case 'bug':
        await this.#awaitPaid({ kind: 'stopped', code: 'internal', message: String(exit.bug) }, leave);
        // The first bug is thrown; a failure that follows from it adds nothing.
        await this.#writeLast().catch(() => undefined);
        throw exit.bug;
    }
  }

  /**
   * Waits for the paid requests after a disk failure or a bug, and sends nothing more. A task whose id is known is not in doubt, and
   * the failure may have passed by then. A second signal ends the wait.
   */
  async #awaitPaid(end: RunEnd, leave: AbortSignal): Promise<void> {
    this.#cancelAlarm?.();
    this.#halt(end);
    this.#guard(() => this.#emitDecided());
    await this.#inFlight.awaitPaid(leave);
    await this.#inFlight.stop();
  }

  /** Reverts decisions whose requests were not sent. */
  #halt(end: RunEnd): void {
    this.#guard(() => {
      const commit = this.#scheduler.takeCommit();
      this.#scheduler.requeue({ ...commit, effects: [] });
      this.#scheduler.handle({ type: 'halt', end, unsent: commit.effects }, this.#ports.clock.now());
    });
  }

  /** Emits the events of the open commit, and keeps its records and effects. */
  #emitDecided(): void {
    const { events, ...commit } = this.#scheduler.takeCommit();
    this.#scheduler.requeue({ ...commit, events: [] });
    for (const event of events) this.#emit(event);
  }

  /** Emits what was decided last too. @returns how the disk failed to take the last commit; undefined: the commit is durable */
  async #writeLast(): Promise<DiskEnd | undefined> {
    const commit = this.#scheduler.takeCommit();
    const failure = await this.#writer.write(commit);
    // Nothing is waited for any more: that the run stops is said by its end.
    for (const event of commit.events) if (event.type !== 'run:stopping') this.#emit(event);
    return failure && diskEnd(failure.error);
  }

  /** Feeds the scheduler. Its decisions are committed once, with everything that happens in the turn. */
  #accept(input: RunInput): void {
    if (this.#resolveExit === undefined) return;
    this.#guard(() => this.#scheduler.handle(input, this.#ports.clock.now()));
    this.#turn.onInput();
  }

  #commit(): void {
    if (this.#resolveExit === undefined || this.#inFlight.isOver) return;
    if (this.#rests || this.#writing !== undefined) return;
    if (this.#isEnding) return this.#emitDecided();
    const commit = this.#scheduler.takeCommit();
    const result = this.#turn.measure(() => this.#writer.write(commit));
    if (!(result instanceof Promise)) return this.#onWritten(commit, result);
    const settle = (failure: CommitFailure | undefined): void => {
      this.#writing = undefined;
      this.#guard(() => this.#onWritten(commit, failure));
    };
    this.#writing = result.then(settle, (error: unknown) => settle({ error, left: commit }));
  }

  #onWritten(commit: RunCommit, failure: CommitFailure | undefined): void {
    if (failure !== undefined) {
      // A commit that is not durable sends nothing.
      this.#scheduler.requeue(failure.left);
      return this.#onWriteFailed(diskEnd(failure.error));
    }
    this.#scheduler.onDurable();
    this.#tries = 0;
    for (const event of commit.events) this.#emit(event);
    // The run ended while the commit was written: its effects are not sent.
    if (this.#isEnding) return this.#scheduler.requeue({ ...commit, records: [], attempts: [], events: [] });
    for (const effect of commit.effects) this.#carryOut(effect);
    const end = this.#scheduler.ended;
    if (end !== undefined) return this.#end({ kind: 'settled', end });
    if (this.#scheduler.hasDecided) this.#turn.soon();
    this.#setAlarm();
    if (this.#scheduler.wantsCells && !this.#readingCells) this.#readCells();
  }

  /** Another program that locks the file releases the lock sooner or later; a full disk stays full. */
  #onWriteFailed(end: DiskEnd): void {
    if (this.#isEnding) return;
    this.#tries += 1;
    this.#cancelAlarm?.();
    if (end.code !== 'state.busy' || this.#tries >= this.#retry.attempts)
      return this.#end({ kind: 'failed', end });
    this.#rests = true;
    const { clock } = this.#ports;
    // One file, and nobody else to come back at the same moment: no jitter.
    const restMs = backoffMs(this.#tries, this.#retry, () => 1);
    this.#cancelAlarm = clock.at(clock.now() + restMs, () => {
      this.#rests = false;
      this.#guard(() => this.#commit());
    });
  }

  #setAlarm(): void {
    this.#cancelAlarm?.();
    const at = this.#scheduler.nextWakeAt();
    const tick = (): void => this.#accept({ type: 'tick' });
    this.#cancelAlarm = at === undefined ? undefined : this.#ports.clock.at(at, tick);
  }

  #readCells(): void {
    this.#readingCells = true;
    this.#inFlight.begin('free', async (signal) => {
      const batch = await nextCells(this.#cells, batchSize, signal);
      this.#readingCells = false;
      this.#accept({ type: 'cells', ...batch });
    });
  }

  #carryOut(effect: Effect): void {
    this.#inFlight.begin(isPaid(effect) ? 'paid' : 'free', async (signal) => {
      const work = async (): Promise<void> => {
        const result = await this.#effects.carryOut(effect, signal);
        if (result === undefined) return;
        this.#emit(result.event);
        this.#accept(result.input);
      };
      // What is no request takes no place of one.
      await (routeOf[effect.send.kind] === undefined ? work() : this.#limit(work));
    });
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (bug) {
      this.#end({ kind: 'bug', bug });
    }
  }

  /** A listener that throws does not change the run; its first error is in the report. */
  #emit(event: RunEvent): void {
    try {
      this.#listener(event);
    } catch (error) {
      this.listenerError ??= error;
    }
  }
}
