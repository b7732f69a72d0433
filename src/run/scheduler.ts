import type { Cell } from '../plan/cell.ts';
import type { JobRecord } from '../plan/job.ts';
import type { RecordLookup, Slot } from '../plan/slot.ts';
import { Desk } from './desk.ts';
import type { Route, RunEnd } from './event.ts';
import { Frontier, type OpenCell } from './frontier.ts';
import type { Job, JobContext, JobEvent } from './job.ts';
import { step } from './machine.ts';
import { PollPace, paceOf } from './pace.ts';
import type { RunSettings } from './ports.ts';
import { Purse } from './purse.ts';
import { adopt, interrupted, jobForSlot, mayRetry, retryOf, waitsForParent } from './revive.ts';
import { type Reading, readFetch, readSave, readSubmit } from './signals.ts';
import { routeOrder } from './traffic.ts';
import { Outbox, type RunInput, type RunTurn, routeOf } from './turn.ts';
import { quietMs, whatIsWaitedFor } from './waiting.ts';

export interface SchedulerOptions {
  readonly settings: RunSettings;
  readonly startedAt: number;
  readonly random: () => number;
  readonly resolve: (cell: Cell, lookup: RecordLookup) => readonly Slot[];
  /** What is durable. */
  readonly lookup: RecordLookup;
  /** `--only`: names of the steps that may run; absent: all. */
  readonly steps?: ReadonlySet<string>;
  readonly price: (record: JobRecord) => number | undefined;
  /** Over the directory's life until now. */
  readonly spent: { readonly attempts: number; readonly cost: number };
}

/**
 * Decides what runs when. It is a reducer: inputs come in through `handle`, what must be done goes out through
 * `takeTurn`, and nothing in it waits, reads a clock or knows a promise. Its memory is bounded by the limits, not by
 * the matrix: cells are opened only while there is room for their first task.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #desk: Desk;
  readonly #frontier = new Frontier();
  readonly #pace: PollPace;
  readonly #purse: Purse;
  readonly #outbox = new Outbox();
  readonly #lookup: RecordLookup;
  #incoming: Cell[] = [];
  #noMoreCells = false;
  /** When a job changed last, and when it is time to say what is waited for. */
  #changedAt: number;
  #speakAt: number;
  /** Set by the first cause to end early. */
  #end: RunEnd | undefined;
  /** Nothing is sent any more, not even for what is in flight. */
  #halted = false;
  #now: number;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#now = options.startedAt;
    this.#changedAt = options.startedAt;
    this.#speakAt = options.startedAt + quietMs;
    this.#desk = new Desk(options.settings, options.random);
    this.#pace = new PollPace(options.settings.poll);
    this.#purse = new Purse(options.settings, options.price, options.spent);
    this.#lookup = (key) => this.#desk.get(key)?.record ?? this.#outbox.record(key) ?? options.lookup(key);
  }

  /** Takes in what happened at `now` (Unix ms) and decides what follows. */
  handle(input: RunInput, now: number): void {
    this.#now = now;
    this.#take(input);
    this.#ring();
    this.#openCells();
    this.#grant();
  }

  /** Hands over what has gathered since the last call. */
  takeTurn(): RunTurn {
    return this.#outbox.take();
  }

  /** True when it could open more cells than it has been given. */
  get wantsCells(): boolean {
    return (
      this.#end === undefined && !this.#noMoreCells && this.#incoming.length === 0 && this.#hasRoomForCell
    );
  }

  get #hasRoomForCell(): boolean {
    return this.#desk.hasRoomForCell && this.#frontier.hasRoom;
  }

  /** When to call `tick` if nothing happens before; undefined: only an answer or a cell moves the run on. */
  nextWakeAt(): number | undefined {
    if (this.#halted) return undefined;
    const { maxDurationMs } = this.#options.settings;
    const moments = [this.#desk.alarms.nextAt(), this.#desk.traffic.nextAt()];
    if (this.#desk.size > 0) moments.push(this.#speakAt);
    if (maxDurationMs !== undefined && this.#end === undefined)
      moments.push(this.#options.startedAt + maxDurationMs);
    return moments.reduce(
      (least, at) => (at !== undefined && (least === undefined || at < least) ? at : least),
      undefined,
    );
  }

  /** How the run ended, once it has. */
  get ended(): RunEnd | undefined {
    if (this.#halted) return this.#desk.traffic.underWay === 0 ? this.#end : undefined;
    if (this.#desk.size > 0) return undefined;
    if (this.#end !== undefined) return this.#end;
    return this.#noMoreCells && this.#incoming.length === 0 ? { kind: 'complete' } : undefined;
  }

  /** Submissions of this invocation. */
  get submits(): number {
    return this.#purse.submits;
  }

  /** Tasks in flight on the service, or about to be. */
  get tasks(): number {
    return this.#desk.rooming;
  }

  /** Requests under way. */
  get requests(): number {
    return this.#desk.traffic.underWay;
  }

  /** Jobs and cells held in memory. */
  get held(): { readonly jobs: number; readonly cells: number } {
    return { jobs: this.#desk.size, cells: this.#frontier.size };
  }

  #take(input: RunInput): void {
    switch (input.type) {
      case 'adopt':
        for (const record of input.records) this.#adopt(record);
        return;
      case 'cells':
        this.#incoming.push(...input.cells);
        this.#noMoreCells = input.last;
        return;
      case 'submitted':
        return this.#answered(
          input.key,
          'submit',
          { type: 'submitted', answer: input.answer },
          readSubmit(input.answer),
        );
      case 'fetched':
        return this.#answered(
          input.key,
          'poll',
          { type: 'fetched', why: input.why, answer: input.answer },
          readFetch(input.answer),
        );
      case 'saved':
        return this.#answered(
          input.key,
          'download',
          { type: 'saved', answer: input.answer },
          readSave(input.answer),
        );
      case 'tick':
        return;
      case 'drain':
        return this.#drain(input.end);
    }
  }

  #adopt(record: JobRecord): void {
    if (record.status !== 'submitting')
      return this.#put(undefined, adopt(record, Number.MAX_SAFE_INTEGER, this.#taskOf(record.parent)));
    const doubtful = interrupted(record, this.#options.startedAt);
    this.#outbox.write(doubtful);
    this.#outbox.tell(record, doubtful);
  }

  #answered(key: string, route: Route, event: JobEvent, reading: Reading): void {
    this.#desk.traffic.answered(route);
    if ('end' in reading) this.#halt(reading.end);
    else {
      const { route: traffic } = this.#desk.traffic.lanes[route];
      const paused = traffic.pausedUntil;
      const rate = traffic.perMinute;
      const stop = traffic.note(reading.signal, this.#now);
      if (traffic.pausedUntil > paused && 'reason' in reading.signal)
        this.#outbox.emit({
          type: 'route:pause',
          route,
          untilMs: traffic.pausedUntil,
          reason: reading.signal.reason,
        });
      if (traffic.perMinute !== undefined && traffic.perMinute !== rate)
        this.#outbox.emit({ type: 'route:rate', route, perMinute: traffic.perMinute });
      if (stop !== undefined) this.#halt({ kind: 'stopped', ...stop });
    }
    const job = this.#desk.get(key);
    // Given up while its answer was under way; nothing durable depends on a fetch or a download.
    if (job !== undefined) this.#advance(job, event);
  }

  #ring(): void {
    if (this.#halted) return;
    for (;;) {
      const job = this.#desk.alarms.takeDue(this.#now);
      if (job === undefined) break;
      this.#advance(job, { type: 'elapsed' });
    }
    const { maxDurationMs } = this.#options.settings;
    if (maxDurationMs !== undefined && this.#now >= this.#options.startedAt + maxDurationMs)
      this.#drain({
        kind: 'budget',
        code: 'run.max-duration',
        message: 'The run has lasted as long as it may (--max-duration).',
      });
    if (this.#desk.size > 0 && this.#now >= this.#speakAt) {
      this.#outbox.emit(whatIsWaitedFor(this.#desk, this.#now - this.#changedAt, this.#now));
      this.#speakAt = this.#now + quietMs;
    }
  }

  #openCells(): void {
    while (this.#end === undefined && this.#incoming.length > 0 && this.#hasRoomForCell) {
      const cell = this.#incoming.shift() as Cell;
      this.#outbox.emit({ type: 'cell:open', cell: cell.number });
      this.#visit(this.#frontier.open(cell));
    }
  }

  /** Looks at a cell afresh: takes up the jobs that can be worked on now, and closes it when there is none. */
  #visit(open: OpenCell): void {
    const { resolve, steps, settings, startedAt } = this.#options;
    const waiting = new Set<string>();
    for (const slot of resolve(open.cell, this.#lookup)) {
      const key = slot.job?.key;
      if (key === undefined || (steps !== undefined && !steps.has(slot.step))) continue;
      const live = this.#desk.get(key);
      if (live !== undefined) {
        if (slot.keep && !live.record.keep)
          this.#put(live, { ...live, record: { ...live.record, keep: true } });
        waiting.add(key);
        continue;
      }
      if (this.#end !== undefined) continue;
      const job = jobForSlot(slot, this.#taskOf(slot.job?.parent), settings, startedAt, this.#now);
      if (job === undefined) continue;
      this.#put(undefined, job);
      waiting.add(key);
    }
    if (waiting.size === 0) this.#close(open);
    else this.#frontier.waitFor(open, waiting);
  }

  #close(open: OpenCell): void {
    this.#frontier.close(open);
    this.#outbox.emit({ type: 'cell:close', cell: open.cell.number });
  }

  /** The finished task of a job: what its buttons are pressed on. */
  #taskOf(key: string | undefined): string | undefined {
    const record = key === undefined ? undefined : this.#lookup(key);
    return record?.status === 'done' ? record.taskId : undefined;
  }

  #grant(): void {
    if (this.#halted) return;
    while (this.#end === undefined && this.#desk.hasRoom) {
      const job = this.#desk.rooms.front();
      if (job === undefined) break;
      this.#desk.rooms.leave();
      this.#advance(job, { type: 'granted' });
    }
    for (const name of routeOrder) this.#grantRoute(name);
  }

  #grantRoute(name: Route): void {
    const { route, line } = this.#desk.traffic.lanes[name];
    while (!this.#halted && this.#desk.traffic.hasRoom(name) && route.nextAt() <= this.#now) {
      const job = line.front();
      if (job === undefined) return;
      if (name === 'submit') {
        const refusal = this.#purse.refusal(job.record);
        if (refusal !== undefined) {
          // What is under way may come back unspent.
          if (this.#desk.traffic.isUnderWay(name)) return this.#desk.traffic.hold(name);
          return this.#drain(refusal);
        }
      }
      line.leave();
      this.#advance(job, { type: 'granted' });
    }
  }

  #context(): JobContext {
    const { settings, random, price } = this.#options;
    return {
      now: this.#now,
      random,
      retry: settings.retry,
      taskMs: settings.timeouts.taskMs,
      speed: settings.speed,
      retryInDoubt: settings.inDoubt === 'retry',
      price,
      pollInMs: (record, elapsedMs) => this.#pace.nextMs(paceOf(record), elapsedMs),
    };
  }

  #advance(job: Job, event: JobEvent): void {
    const { job: next, send, attempt } = step(job, event, this.#context());
    if (attempt !== undefined) this.#outbox.attempt(attempt);
    this.#learn(job.record, next.record);
    this.#put(job, next);
    if (send === undefined) return;
    this.#desk.traffic.sent(routeOf[send.kind], this.#now);
    this.#outbox.send({ job: next, send });
  }

  #learn(before: JobRecord, after: JobRecord): void {
    const { submittedAt } = after;
    if (before.status !== 'running' || (after.status !== 'saving' && after.status !== 'done')) return;
    // Of a task from an earlier run, only how long nobody looked would be learnt.
    if (submittedAt !== undefined && submittedAt >= this.#options.startedAt && submittedAt <= this.#now)
      this.#pace.learn(paceOf(after), this.#now - submittedAt);
  }

  /** Replaces a job's state: notes what must become durable, and lines it up for what it wants. */
  #put(before: Job | undefined, job: Job): void {
    const { record, want } = job;
    this.#desk.put(job);
    if (before !== undefined) this.#purse.note(before.record, record);
    // A job that is only taken up needs no record: the plan and what is durable give it again.
    if (before !== undefined && before.record !== record) this.#outbox.write(record);
    if (before?.record.status !== record.status) {
      this.#outbox.tell(before?.record, record);
      this.#changedAt = this.#now;
      this.#speakAt = this.#now + quietMs;
    }
    if (want === before?.want) return;
    if (before?.record.status === 'running' && record.status === 'pending' && this.#isOutOfPlace(job))
      return this.#putBack(job);
    this.#desk.lineUp(job);
    if (want.kind === 'answer') return;
    if (want.kind === 'nothing') return this.#settled(job);
    if (this.#end !== undefined && mayBeLeft(job)) return this.#giveUp(job);
    if (want.kind === 'wait' && record.error !== undefined && record.status === 'pending')
      this.#outbox.emit({
        type: 'job:retry',
        key: record.key,
        inMs: want.until - this.#now,
        error: record.error,
      });
  }

  #settled(job: Job): void {
    const { record, lastLook, depth } = job;
    const { settings } = this.#options;
    this.#desk.drop(record.key);
    if (lastLook && record.status === 'failed' && mayRetry(record, settings) && this.#end === undefined) {
      const again = retryOf(record, depth, this.#taskOf(record.parent));
      if (!waitsForParent(again)) return this.#put(undefined, again);
    }
    if (settings.failFast && !lastLook && this.#isFailure(record))
      this.#drain({
        kind: 'fail-fast',
        code: record.error?.code ?? 'task.failed',
        message: `${record.origin.step} in cell ${record.origin.cell} failed (--fail-fast): ${record.error?.message ?? ''}`,
      });
    for (const open of this.#frontier.release(record.key)) this.#visit(open);
  }

  /** False for a button that is not there where every slot that asks for it calls it optional. */
  #isFailure({ key, status, error }: JobRecord): boolean {
    if (status !== 'failed' || error?.code !== 'button.missing') return status === 'failed';
    return this.#frontier
      .awaiting(key)
      .some(({ cell }) =>
        this.#options
          .resolve(cell, this.#lookup)
          .some((slot) => slot.job?.key === key && slot.status === 'failed'),
      );
  }

  /**
   * True for a job of an earlier run that is to be submitted anew while no open cell asks for it, or while what it
   * presses is not what it pressed.
   */
  #isOutOfPlace({ record, parentTaskId }: Job): boolean {
    return this.#frontier.awaiting(record.key).length === 0 || this.#taskOf(record.parent) !== parentTaskId;
  }

  /** Leaves it to the cells that ask for it, to be taken up when it can begin: nothing is paid that is not planned. */
  #putBack(job: Job): void {
    this.#desk.drop(job.record.key);
    for (const open of this.#frontier.release(job.record.key)) this.#visit(open);
  }

  /** Leaves a job that has not been submitted to a later run. */
  #giveUp(job: Job): void {
    this.#desk.drop(job.record.key);
    for (const open of this.#frontier.release(job.record.key)) if (open.waiting.size === 0) this.#close(open);
  }

  #drain(end: RunEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#incoming = [];
    for (const job of this.#desk.all()) if (mayBeLeft(job) && job.want.kind !== 'answer') this.#giveUp(job);
    this.#outbox.emit({ type: 'run:stopping', end, tasks: this.#desk.inFlight });
  }

  #halt(end: RunEnd): void {
    if (this.#halted) return;
    this.#end = undefined;
    this.#drain(end);
    this.#halted = true;
  }
}

/** Nothing of it is under way on the service that this run began to watch: a later run takes it up from its record. */
const mayBeLeft = ({ record, want }: Job): boolean => record.status === 'pending' || want.kind === 'room';
