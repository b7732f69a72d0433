import type { JobError, JobRecord } from '../plan/job.ts';
import { isTextRequest } from '../plan/job-request.ts';
import { promptAbove } from '../plan/nearest-prompt.ts';
import type { RecordLookup } from '../plan/slot.ts';
import { unheard } from './ask.ts';
import { Desk } from './desk.ts';
import { Ending, failedFast, lasted, mayBeLeft } from './ending.ts';
import type { Route, RunEnd } from './event.ts';
import { Grants, isPoll } from './grants.ts';
import { heardOf, noteOnRoute, type OneAnswer, type OnRoute, putsOff } from './heard.ts';
import { Intake, type IntakeHost, type IntakeOptions } from './intake.ts';
import type { AskAnswer, Job, JobContext, JobEvent } from './job.ts';
import { Lessons } from './lessons.ts';
import { step } from './machine.ts';
import { Purse, type Spent } from './purse.ts';
import { durableForm } from './redo.ts';
import { isLookedInto } from './refused-click.ts';
import { adopt, interrupted, mayRetry, retryOf, waitsForParent } from './revive.ts';
import { Together, type TogetherHost } from './together.ts';
import { isPaid, Outbox, type RunInput, type RunTurn, routeOf } from './turn.ts';
import { tokensTaken, usageOf } from './usage.ts';
import { isKnown, type Tally, timesInVain } from './vain.ts';
import { Stillness } from './waiting.ts';

export interface SchedulerOptions extends IntakeOptions {
  readonly random: () => number;
  /** What is durable. */
  readonly lookup: RecordLookup;
  readonly price: (record: JobRecord) => number | undefined;
  /** Over the directory's life until now. */
  readonly spent: Spent;
}

/**
 * Decides what runs when. It is a reducer: inputs come in through `handle`, what must be done goes out through
 * `takeTurn`, and nothing in it waits, reads a clock or knows a promise. Its memory is bounded by the limits, not by
 * the matrix: cells are opened only while there is room for their first task.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #desk: Desk;
  readonly #intake: Intake;
  readonly #grants: Grants;
  readonly #together: Together;
  readonly #lessons: Lessons;
  readonly #purse: Purse;
  readonly #outbox = new Outbox();
  readonly #stillness: Stillness;
  readonly #ending = new Ending();
  readonly #lookup: RecordLookup;
  /** When it has lasted as long as it may. */
  readonly #lastsUntil: number | undefined;
  #now: number;
  #redosFailed = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#now = options.startedAt;
    const { maxDurationMs } = options.settings;
    this.#lastsUntil = maxDurationMs === undefined ? undefined : options.startedAt + maxDurationMs;
    this.#stillness = new Stillness(options.startedAt);
    this.#lessons = new Lessons(options.settings, options.price, options.startedAt);
    const { tariff } = this.#lessons;
    this.#desk = new Desk(options.settings, options.random, ({ record }) => tariff.tokens(record));
    this.#purse = new Purse(options.settings, tariff, options.spent);
    this.#grants = new Grants(this.#desk, this.#purse);
    this.#together = new Together(
      options.settings.poll,
      this.#desk,
      this.#grants,
      this.#outbox,
      this.#togetherHost(),
    );
    this.#lookup = (key) => this.#desk.get(key)?.record ?? this.#outbox.record(key) ?? options.lookup(key);
    this.#intake = new Intake(options, this.#desk, this.#host());
  }

  /** Takes in what happened at `now` (Unix ms) and decides what follows. */
  handle(input: RunInput, now: number): void {
    this.#now = now;
    this.#take(input);
    this.#ring();
    this.#intake.open();
    this.#grant();
  }

  /** Hands over what has gathered since the last call. */
  takeTurn(): RunTurn {
    return this.#outbox.take();
  }

  /** A turn could not be made durable: it is part of the next one. */
  giveBack(turn: RunTurn): void {
    this.#outbox.giveBack(turn);
  }

  /** True when it could open more cells than it has been given. */
  get wantsCells(): boolean {
    return !this.#ending.hasBegun && this.#intake.wantsCells;
  }

  /** When to call `tick` if nothing happens before; undefined: only an answer or a cell moves the run on. */
  nextWakeAt(): number | undefined {
    if (this.#ending.isHalted) return undefined;
    const moments = [this.#desk.alarms.nextAt(), this.#desk.traffic.nextAt(this.#now)];
    if (this.#desk.size > 0) moments.push(this.#stillness.nextAt);
    if (!this.#ending.hasBegun) moments.push(this.#lastsUntil);
    return moments.reduce(
      (least, at) => (at !== undefined && (least === undefined || at < least) ? at : least),
      undefined,
    );
  }

  /** How the run ended, once it has. */
  get ended(): RunEnd | undefined {
    return this.#ending.reached({
      requests: this.#desk.traffic.underWay,
      jobs: this.#desk.size,
      isDone: this.#intake.isDone,
    });
  }

  /** Submissions and text calls of this invocation. */
  get submits(): number {
    return this.#purse.submits;
  }

  /** Finished jobs that the user wanted made anew, and of which nothing came. */
  get redosFailed(): number {
    return this.#redosFailed;
  }

  /** Tokens of the answers that came in this invocation. */
  get tokens(): number {
    return this.#purse.tokens;
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
    return { jobs: this.#desk.size, cells: this.#intake.size };
  }

  #take(input: RunInput): void {
    switch (input.type) {
      case 'adopt':
        for (const record of input.records) this.#adopt(record);
        return;
      case 'cells':
        return this.#intake.give(input.cells, input.last);
      case 'asked':
        this.#count(input.key, input.answer);
        return this.#answered(input);
      case 'submitted':
      case 'unread':
      case 'masked':
      case 'fetched':
      case 'saved':
        return this.#answered(input);
      case 'listed':
        return this.#together.heard(input);
      case 'tick':
        return;
      case 'drain':
        return this.#drain(input.end);
      case 'halt':
        return this.#stopSending(input);
    }
  }

  /** What takes up the jobs of the cells that are opened. */
  #host(): IntakeHost {
    return {
      now: () => this.#now,
      isEnding: () => this.#ending.hasBegun,
      lookup: this.#lookup,
      put: (before, job) => this.#put(before, job),
      emit: (event) => this.#outbox.emit(event),
    };
  }

  /** What looks that go together are made with. */
  #togetherHost(): TogetherHost {
    return {
      now: () => this.#now,
      context: () => this.#context(),
      put: (before, job) => this.#put(before, job),
      advance: (job, event) => this.#advance(job, event),
      noteOnRoute: (heard) => this.#noteOnRoute(heard),
    };
  }

  #adopt(record: JobRecord): void {
    // What waits for its answer is left to the cells that ask for it.
    if (record.status === 'modal') return;
    // A modal that was under way is looked for on its task before anything is called in doubt.
    if (record.status !== 'submitting' || record.modal !== undefined)
      return this.#put(undefined, adopt(record, Number.MAX_SAFE_INTEGER, this.#intake.taskOf(record.parent)));
    const left = isTextRequest(record.request)
      ? unheard(record)
      : interrupted(record, this.#options.startedAt, this.#options.price(record));
    this.#purse.note(record, left);
    this.#outbox.write(durableForm(left));
    this.#outbox.tell(record, left);
  }

  /** Takes note of the tokens of an answer, also of one that nobody waits for any more. */
  #count(key: string, answer: AskAnswer): void {
    const usage = usageOf(answer);
    const record = this.#desk.get(key)?.record;
    this.#desk.traffic.tokens.settle(key, tokensTaken(answer), this.#now);
    if (answer.kind === 'answered' && usage !== undefined && record !== undefined)
      this.#lessons.noteAnswer(record, usage);
  }

  #noteOnRoute(heard: OnRoute): void {
    const end = noteOnRoute(heard, this.#desk.traffic, this.#now, (event) => this.#outbox.emit(event));
    if (end !== undefined) this.#halt(end);
  }

  #answered(input: OneAnswer): void {
    const heard = heardOf(input);
    const { traffic } = this.#desk;
    traffic.answered(heard.route);
    const job = this.#desk.get(input.key);
    const isOpen =
      input.type === 'submitted' &&
      job !== undefined &&
      isLookedInto(job, input.answer, this.#options.settings.retry.attempts);
    // What is about one job alone slows down nobody else, and what is looked into says nothing yet.
    if (!isOpen && (!putsOff(heard) || !isKnown(job, heard.route, this.#tally(heard.route)))) {
      this.#noteOnRoute({ ...heard, isFirst: job !== undefined && timesInVain(job, heard.route) === 0 });
      if (input.type === 'submitted' && input.answer.ok)
        this.#desk.pressure.note(input.answer.value, this.#desk.held);
    }
    // Given up while its answer was under way; nothing durable depends on a fetch or a download.
    if (job !== undefined) this.#advance(job, heard.event);
  }

  #ring(): void {
    if (this.#ending.isHalted) return;
    for (;;) {
      const job = this.#desk.alarms.takeDue(this.#now);
      if (job === undefined) break;
      this.#advance(job, { type: 'elapsed' });
    }
    if (this.#lastsUntil !== undefined && this.#now >= this.#lastsUntil) this.#drain(lasted);
    const notice = this.#stillness.notice(this.#desk, this.#now);
    if (notice !== undefined) this.#outbox.emit(notice);
  }

  #grant(): void {
    while (!this.#ending.isHalted) {
      const grant = this.#grants.next(this.#now, !this.#ending.hasBegun);
      if (grant === undefined) return;
      if ('end' in grant) this.#drain(grant.end);
      else if (this.#together.isOn && isPoll(grant.job)) this.#together.look(grant.job);
      else this.#advance(grant.job, { type: 'granted' });
    }
  }

  readonly #tally = (route: Route): Tally => this.#desk.traffic.lanes[route].route.tally;

  #context(): JobContext {
    const { settings, random, price, startedAt } = this.#options;
    return {
      now: this.#now,
      startedAt,
      random,
      retry: settings.retry,
      taskMs: settings.timeouts.taskMs,
      speed: settings.speed,
      retryInDoubt: settings.inDoubt === 'retry',
      price,
      answerPrice: this.#lessons.tariff.answerPrice,
      promptAbove: (record) => promptAbove(record, this.#lookup),
      tally: this.#tally,
      pollMaxMs: settings.poll.maxMs,
      pollInMs: (record, elapsedMs) => this.#together.dueInMs(this.#lessons.pollInMs(record, elapsedMs)),
    };
  }

  #advance(job: Job, event: JobEvent): void {
    const { job: next, send, attempt, inVain, refusal } = step(job, event, this.#context());
    if (attempt !== undefined) this.#outbox.attempt(attempt);
    if (inVain !== undefined) this.#redoFailed(next.record, inVain);
    this.#lessons.noteTask(job.record, next.record, this.#now);
    this.#put(job, next);
    if (refusal !== undefined)
      this.#noteOnRoute({
        route: 'submit',
        reading: { signal: { kind: 'refused', words: refusal } },
        isFirst: false,
      });
    if (send === undefined) return;
    if (send.kind === 'ask')
      this.#desk.traffic.tokens.take(job.record.key, this.#lessons.tariff.tokens(job.record), this.#now);
    this.#desk.traffic.sent(routeOf[send.kind], this.#now);
    this.#outbox.send({ job: next, send });
  }

  /** Replaces a job's state: notes what must become durable, and lines it up for what it wants. */
  #put(before: Job | undefined, job: Job): void {
    const { record, want } = job;
    this.#desk.put(job);
    if (before !== undefined) this.#purse.note(before.record, record);
    // A job that is only taken up needs no record: the plan and what is durable give it again.
    if (before !== undefined && before.record !== record) this.#outbox.write(durableForm(record));
    if (before?.record.status !== record.status) {
      this.#outbox.tell(before?.record, record);
      this.#stillness.moved(this.#now);
    }
    if (want === before?.want) return;
    const wasAhead = before?.record.status === 'running' || before?.record.status === 'modal';
    if (wasAhead && record.status === 'pending' && this.#isOutOfPlace(job)) return this.#putBack(job);
    // A modal that an earlier run opened, or answered in vain: its prompt may be edited, its cell not be planned any more.
    if (record.status === 'modal' && !this.#intake.isAwaited(record.key) && before !== undefined)
      return this.#putBack(job);
    this.#desk.lineUp(job);
    if (want.kind === 'answer') return;
    if (want.kind === 'nothing') return this.#settled(job);
    if (this.#ending.hasBegun && mayBeLeft(job)) return this.#giveUp(job);
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
    if (lastLook && record.status === 'failed' && mayRetry(record, settings) && !this.#ending.hasBegun) {
      const again = retryOf(record, depth, this.#intake.taskOf(record.parent));
      if (!waitsForParent(again)) return this.#put(undefined, again);
    }
    if (settings.failFast && !lastLook && this.#intake.isFailure(record)) this.#drain(failedFast(record));
    this.#intake.release(record.key);
  }

  /**
   * True for a job of an earlier run that is to be submitted anew while no open cell asks for it, while what it comes from is being
   * made or brought in anew, or while what it presses is not what it pressed.
   */
  #isOutOfPlace({ record: { key, parent }, parentTaskId }: Job): boolean {
    if (!this.#intake.isAwaited(key)) return true;
    if (parent !== undefined && this.#lookup(parent)?.status !== 'done') return true;
    return this.#intake.taskOf(parent) !== parentTaskId;
  }

  /** Leaves it to the cells that ask for it, to be taken up when it can begin: nothing is paid that is not planned. */
  #putBack(job: Job): void {
    const { former, error, status } = job.record;
    if (status === 'pending' && former !== undefined && error !== undefined)
      this.#redoFailed(job.record, error);
    this.#desk.drop(job.record.key);
    this.#intake.release(job.record.key);
  }

  /** The user asked for another result and there is none: a run that is otherwise well is not. */
  #redoFailed({ key, origin: { step: name, cell } }: JobRecord, { code, message }: JobError): void {
    this.#redosFailed += 1;
    this.#outbox.emit({
      type: 'run:notice',
      code: 'redo.failed',
      message: `--redo ${key}: ${name} in cell ${cell} was not made anew, and stays as it was (${code}): ${message}`,
    });
  }

  /** Leaves a job that has not been submitted to a later run. */
  #giveUp(job: Job): void {
    this.#desk.drop(job.record.key);
    this.#intake.giveUp(job.record.key);
  }

  #drain(end: RunEnd): void {
    if (this.#ending.drain(end)) this.#letGo(end);
  }

  #halt(end: RunEnd): void {
    if (this.#ending.halt(end)) this.#letGo(end);
  }

  #stopSending({ end, unsent }: Extract<RunInput, { type: 'halt' }>): void {
    this.#halt(end);
    // A look or a download leaves nothing in the record.
    for (const { job, send } of unsent.filter(isPaid)) {
      this.#desk.traffic.answered(routeOf[send.kind]);
      this.#advance(this.#desk.get(job.record.key) ?? job, { type: 'unsent' });
    }
  }

  /** Forgets what has not begun. */
  #letGo(end: RunEnd): void {
    this.#intake.forget();
    for (const job of this.#desk.all()) if (mayBeLeft(job) && job.want.kind !== 'answer') this.#giveUp(job);
    this.#outbox.emit({ type: 'run:stopping', end, tasks: this.#desk.inFlight });
  }
}
