import pLimit from 'p-limit';
import type { Selection } from '../plan/cell.ts';
import type { Committed, Turn } from '../state/store.ts';
import {
  type CommitResult,
  CommitTries,
  CommitWriter,
  type DiskEnd,
  diskEnd,
  isFailure,
} from './commit-writer.ts';
import { Effects } from './effects/execute.ts';
import { InFlight } from './effects/in-flight.ts';
import type { RunEnd, RunEvent, RunListener } from './events.ts';
import { factOfCall } from './machine/late-answer.ts';
import { factOf, submissionOf } from './machine/search/late-fact.ts';
import type { CellSource, RunControl, RunPlan, RunPorts, RunSettings } from './ports.ts';
import { CommitTurn } from './resources/commit-turn.ts';
import { DiskSpace } from './resources/disk-space.ts';
import { drained, type EngineExit, watchControl } from './resources/exit.ts';
import { watchMachine } from './resources/memory.ts';
import { PeerResults } from './resources/peer-results.ts';
import { planCells } from './run-plan.ts';
import { type Effect, isPaid, type RunCommit, type RunInput, routeOf } from './scheduler/commit.ts';
import type { Scheduler } from './scheduler/scheduler.ts';
import { watchSource } from './scheduler/slices/watch.ts';

/** Number of cells read from the plan at a time. */
const batchSize = 64;

/** Longest time that one input may keep the process busy with cells, ms. After it other work gets its turn. */
const longMs = 50;

/**
 * The main loop of a run: passes inputs to a scheduler, makes its decisions durable one commit at a time, then runs the effects of that
 * commit. Decisions made during a commit become part of the next one.
 */
export class Engine {
  readonly #ports: RunPorts;
  readonly #scheduler: Scheduler;
  readonly #listener: RunListener;
  readonly #disk: DiskSpace | undefined;
  readonly #source: CellSource;
  readonly #peerResults: PeerResults | undefined;
  /** The scheduler never sends more at once; this limit enforces it for the whole process. */
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #effects: Effects;
  readonly #writer: CommitWriter;
  readonly #inFlight = new InFlight((bug) => this.#end({ kind: 'bug', bug }));
  listenerError: unknown;
  readonly #turn: CommitTurn;
  /** The commit being written by the store; undefined where there is none, or where the store finished synchronously. */
  #writing: Promise<void> | undefined;
  readonly #tries: CommitTries;
  /** True once the run has a reason to end: it sends nothing more. */
  #isEnding = false;
  #lastLogged = 0;
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
    this.#tries = new CommitTries(ports.clock, settings.retry);
    this.#ports = ports;
    this.#scheduler = scheduler;
    this.#listener = listener;
    this.#disk = ports.disk && new DiskSpace(ports.disk, (event) => this.#emit(event));
    this.#source = ports.cells ?? planCells(plan, selection);
    this.#peerResults =
      ports.store.others &&
      new PeerResults(
        ports.store.others,
        ports.clock,
        () => scheduler.awaited,
        (work) => this.#inFlight.begin('free', work),
        (lateFacts) => this.#accept({ type: 'peer-results', lateFacts }),
      );
    this.#effects = new Effects(ports, settings, (route, at) => scheduler.onLeft(route, at));
    this.#writer = new CommitWriter(ports.store, scheduler, (records) => this.#disk?.note(records), facts);
    this.#turn = new CommitTurn(
      ports.clock,
      () => this.#guard(() => this.#commit()),
      () => this.#inFlight.count,
    );
    this.#limit = pLimit({ concurrency: settings.limits.requests, rejectOnClear: true });
  }

  async run(control: RunControl): Promise<RunEnd> {
    const { store, clock, shared, results } = this.#ports;
    const drain = (end: RunEnd): void => this.#accept({ type: 'drain', end });
    const leave = (): void => this.#end({ kind: 'left', end: { kind: 'interrupted', forced: true } });
    const exit = new Promise<EngineExit>((resolve) => {
      this.#resolveExit = resolve;
    });
    const watches = [
      watchMachine(
        this.#ports,
        this.#disk,
        this.#scheduler,
        (event) => this.#emit(event),
        (work) => this.#guard(work),
      ),
      shared?.onMore?.(() => this.#accept({ type: 'refilled' })),
      results?.onAway((why) => this.#accept({ type: 'away', why })),
      watchControl(control, drain, leave),
      watchSource(this.#source, (input) => this.#accept(input)),
      () => this.#peerResults?.end(),
    ];
    try {
      this.#emit({ type: 'run:start', at: clock.now() });
      this.#disk?.look();
      if (control.leave.aborted) leave();
      else {
        // With several workers, unfinished records come with their slice.
        this.#accept({ type: 'adopt', records: store.others ? [] : store.unfinished() });
        if (control.drain.aborted) drain(drained);
      }
      const end = await this.#endAs(await exit, control.leave);
      this.#emit({ type: 'run:end', end });
      return end;
    } finally {
      this.#resolveExit = undefined;
      this.#cancelAlarm?.();
      this.#turn.end();
      for (const unwatch of watches) unwatch?.();
      await this.#inFlight.stop();
      await this.#source.close?.();
    }
  }

  #end(exit: EngineExit): void {
    this.#isEnding = true;
    this.#resolveExit?.(exit);
  }

  /** Ends all requests and makes their results durable. @returns how the run ended @throws a bug that ended the run */
  async #endAs(exit: EngineExit, leave: AbortSignal): Promise<RunEnd> {
    // Nothing is decided about the current commit until it has succeeded or failed.
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
        // The first bug is thrown; a failure caused by it would add nothing.
        await this.#writeLast().catch(() => undefined);
        throw exit.bug;
    }
  }

  /**
   * Waits for the paid requests after a disk failure or a bug, and sends nothing more. A task whose id is known is not in doubt, and the
   * failure may have passed by then. A second signal ends the wait.
   */
  async #awaitPaid(end: RunEnd, leave: AbortSignal): Promise<void> {
    this.#cancelAlarm?.();
    this.#halt(end);
    this.#guard(() => this.#emitDecided());
    // Earlier answers become durable first, because the remaining requests may take long.
    await this.#writeLast().catch(() => undefined);
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

  /** Emits the events of the open commit, but keeps its records and effects. */
  #emitDecided(): void {
    const { events, ...commit } = this.#scheduler.takeCommit();
    this.#scheduler.requeue({ ...commit, events: [] });
    for (const event of events) this.#emit(event);
  }

  /** Emits the last decisions and writes them. @returns the disk failure; undefined where the commit is durable */
  async #writeLast(): Promise<DiskEnd | undefined> {
    const commit = this.#scheduler.takeCommit();
    const logged = this.#lastLogged;
    const written = await this.#writer.write(commit);
    if (!isFailure(written)) this.#reportDurable(written, logged);
    // The end of the run reports that it stops, so `run:stopping` is not emitted.
    for (const event of commit.events) if (event.type !== 'run:stopping') this.#emit(event);
    if (isFailure(written)) {
      this.#scheduler.requeue({ ...written.left, events: [] });
      return diskEnd(written.error);
    }
    this.#scheduler.onDurable(commit, written);
    // Results for slices that other workers took over are saved in one more commit.
    return written !== undefined && written.lost.size > 0 ? await this.#writeLast() : undefined;
  }

  /** Passes an input to the scheduler. All decisions of one turn of the event loop become one commit. */
  #accept(input: RunInput): void {
    if (this.#resolveExit === undefined) return;
    const { clock } = this.#ports;
    const now = clock.now();
    this.#guard(() => this.#scheduler.handle(input, now, () => clock.now() - now >= longMs));
    this.#turn.onInput();
  }

  #commit(): void {
    if (this.#resolveExit === undefined || this.#inFlight.isOver) return;
    if (this.#tries.rests || this.#writing !== undefined) return;
    if (this.#isEnding) return this.#emitDecided();
    const commit = this.#scheduler.takeCommit();
    const logged = this.#lastLogged;
    const result = this.#turn.measure(() => this.#writer.write(commit));
    if (!(result instanceof Promise)) return this.#onWritten(commit, result);
    const settle = (written: CommitResult): void => {
      this.#writing = undefined;
      this.#guard(() => {
        if (!isFailure(written)) this.#reportDurable(written, logged);
        this.#onWritten(commit, written);
      });
    };
    this.#writing = result.then(settle, (error: unknown) => settle({ error, left: commit }));
  }

  #onWritten(taken: RunCommit, written: CommitResult): void {
    if (isFailure(written)) {
      // A commit that is not durable sends nothing.
      this.#scheduler.requeue(written.left);
      return this.#onWriteFailed(diskEnd(written.error));
    }
    const commit = this.#scheduler.onDurable(taken, written);
    this.#tries.succeeded();
    for (const event of commit.events) this.#emitDurable(event);
    // The run ended while the commit was written: its effects are not sent.
    if (this.#isEnding) return this.#scheduler.requeue({ ...commit, records: [], attempts: [], events: [] });
    for (const effect of commit.effects) this.#carryOut(effect);
    const end = this.#scheduler.ended;
    if (end !== undefined) return this.#end({ kind: 'settled', end });
    if (this.#scheduler.hasDecided) this.#turn.soon();
    this.#setAlarm();
    this.#peerResults?.arm();
    if (this.#scheduler.wantsCells && !this.#readingCells) this.#readCells();
  }

  #onWriteFailed(end: DiskEnd): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = this.#tries.restAfter(end, () => this.#guard(() => this.#commit()));
    if (this.#cancelAlarm === undefined) this.#end({ kind: 'failed', end });
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
      const batch = await this.#source.next(batchSize, signal);
      if (signal.aborted) return;
      this.#readingCells = false;
      this.#accept({ type: 'cells', ...batch });
    });
  }

  #carryOut(effect: Effect): void {
    this.#inFlight.begin(isPaid(effect) ? 'paid' : 'free', async (signal) => {
      const work = async (): Promise<void> => {
        const result = await this.#effects.carryOut(effect, signal);
        if (result === undefined) return;
        const { input } = result;
        this.#emit(result.event);
        this.#logResult(effect, input);
        this.#accept(effect.job.lease === undefined ? input : { type: 'result', effect, input });
      };
      // Local work is not a request and does not count against the limit.
      await (routeOf[effect.send.kind] === undefined ? work() : this.#limit(work));
    });
  }

  /** Logs the result of a paid request at once, because the state may be unreachable later. */
  #logResult({ job }: Effect, input: RunInput): void {
    const { resultLog } = this.#ports;
    const submission = submissionOf(job.record);
    if (resultLog === undefined || submission === undefined) return;
    const fact =
      input.type === 'asked'
        ? factOfCall(submission, input.result)
        : input.type === 'submitted' && job.record.modal === undefined
          ? factOf(submission, input.result)
          : undefined;
    if (fact !== undefined) this.#lastLogged = resultLog.note(fact);
  }

  /** Reports the results up to `upTo` as durable, unless others have taken over a part of the commit: the next commit writes those. */
  #reportDurable(written: Committed | undefined, upTo: number): void {
    if ((written?.refused.size ?? 0) + (written?.lost.size ?? 0) === 0) this.#ports.resultLog?.durable(upTo);
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (bug) {
      this.#end({ kind: 'bug', bug });
    }
  }

  /** Emits an event of a durable commit. The source learns here that a slice has ended. */
  #emitDurable(event: RunEvent): void {
    if (event.type === 'slice:end') this.#source.end?.(event, event.how);
    this.#emit(event);
  }

  /** An error thrown by a listener does not change the run; the first one is in the report. */
  #emit(event: RunEvent): void {
    try {
      this.#listener(event);
    } catch (error) {
      this.listenerError ??= error;
    }
  }
}
