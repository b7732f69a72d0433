import type { RunEnd } from '../events.ts';
import { Purse, type Spent } from '../limits/budget.ts';
import { Lessons } from '../limits/estimators.ts';
import type { AskAnswer } from '../machine/job.ts';
import { isLookedInto } from '../machine/retry/button-freshness.ts';
import { isKnown, timesInVain } from '../machine/retry/deferrals.ts';
import { tokensTaken, usageOf } from '../machine/text-call.ts';
import { isPaid, Outbox, type RunInput, type RunTurn, routeOf } from './commit.ts';
import { Grants, isPoll } from './dispatch.ts';
import { Clerk, type ClerkOptions } from './job-runner.ts';
import { Desk } from './jobs/active-jobs.ts';
import { Ending, lasted, mayBeLeft } from './lifecycle.ts';
import { withinPatience } from './routes/asked-wait.ts';
import { readOnServingRoute } from './routes/load-shed.ts';
import { heardOf, noteOnRoute, type OneAnswer, type OnRoute, putsOff } from './routes/outcome.ts';
import { Stillness } from './stall.ts';

/** Who comes so late to a moment at which it was to wake has slept, ms. */
const asleepMs = 60_000;

export interface SchedulerOptions extends ClerkOptions {
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
  readonly #grants: Grants;
  readonly #clerk: Clerk;
  readonly #lessons: Lessons;
  readonly #purse: Purse;
  readonly #outbox = new Outbox();
  readonly #stillness: Stillness;
  readonly #ending = new Ending();
  /** When it has lasted as long as it may. */
  readonly #lastsUntil: number | undefined;
  #now: number;
  /** Since when it has looked at what is under way without a gap, Unix ms. */
  #watchedSince: number;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#now = options.startedAt;
    this.#watchedSince = options.startedAt;
    const { maxDurationMs } = options.settings;
    this.#lastsUntil = maxDurationMs === undefined ? undefined : options.startedAt + maxDurationMs;
    this.#stillness = new Stillness(options.startedAt);
    this.#lessons = new Lessons(options.settings, options.price);
    const { tariff } = this.#lessons;
    this.#desk = new Desk(options.settings, options.random, ({ record }) => tariff.tokens(record));
    this.#purse = new Purse(options.settings, tariff, options.spent);
    this.#grants = new Grants(this.#desk, this.#purse);
    this.#clerk = new Clerk(options, {
      now: () => this.#now,
      watchedSince: () => this.#watchedSince,
      desk: this.#desk,
      grants: this.#grants,
      lessons: this.#lessons,
      purse: this.#purse,
      outbox: this.#outbox,
      stillness: this.#stillness,
      ending: this.#ending,
      drain: (end) => this.#drain(end),
      noteOnRoute: (heard) => this.#noteOnRoute(heard),
    });
  }

  /** Takes in what happened at `now` (Unix ms) and decides what follows. */
  handle(input: RunInput, now: number): void {
    this.#noteSleep(now);
    this.#now = now;
    this.#take(input);
    this.#ring();
    this.#clerk.intake.open();
    this.#grant();
  }

  /** Number of this run. */
  get invocation(): number {
    return this.#options.invocation;
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
    return !this.#ending.hasBegun && this.#clerk.intake.wantsCells;
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
      isDone: this.#clerk.intake.isDone,
      isWhole: this.#clerk.intake.isWhole,
    });
  }

  /** Submissions and text calls of this invocation. */
  get submits(): number {
    return this.#purse.submits;
  }

  /** Finished jobs that the user wanted made anew, and of which nothing came. */
  get redosFailed(): number {
    return this.#clerk.redosFailed;
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
    return { jobs: this.#desk.size, cells: this.#clerk.intake.size };
  }

  /** A machine that sleeps, or a process that is stopped, misses the moments at which it was to wake. */
  #noteSleep(now: number): void {
    if (now - this.#now < asleepMs) return;
    const due = this.nextWakeAt();
    if (due === undefined || now - due < asleepMs) return;
    this.#watchedSince = now;
    const minutes = Math.round((now - due) / 60_000);
    this.#outbox.emit({
      type: 'run:notice',
      code: 'run.slept',
      message: `The run stood still for ${minutes} min: the machine slept, or the process was stopped. That time counts for no task (timeouts.task).`,
    });
  }

  #take(given: RunInput): void {
    const input = withinPatience(given, this.#options.settings.retry.patienceMs);
    switch (input.type) {
      case 'adopt':
        for (const record of input.records) this.#clerk.adopt(record);
        return;
      case 'cells':
        return this.#clerk.intake.give(input.cells, input.last);
      case 'asked':
        this.#count(input.key, input.answer);
        return this.#answered(input);
      case 'submitted':
      case 'unread':
      case 'masked':
      case 'fetched':
      case 'searched':
      case 'saved':
        return this.#answered(input);
      case 'listed':
        return this.#clerk.together.heard(input);
      case 'tick':
        return;
      case 'drain':
        return this.#drain(input.end);
      case 'halt':
        return this.#stopSending(input);
    }
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
    const { traffic } = this.#desk;
    const said = heardOf(input);
    traffic.answered(said.route);
    const isServing = traffic.lanes[said.route].route.isServing(this.#now);
    const shed = isServing ? heardOf(readOnServingRoute(input)) : said;
    // A text call that is shed slows its route down too, and still is one of its tries: that a model is overloaded may not pass.
    const heard = input.type === 'asked' ? { ...shed, event: said.event } : shed;
    const job = this.#desk.get(input.key);
    const isOpen =
      input.type === 'submitted' &&
      job !== undefined &&
      isLookedInto(job, input.answer, this.#options.settings.retry.attempts);
    // What is about one job alone slows down nobody else, and what is looked into says nothing yet.
    if (!isOpen && (!putsOff(heard) || !isKnown(job, heard.route, this.#clerk.tally(heard.route)))) {
      this.#noteOnRoute({ ...heard, isFirst: job !== undefined && timesInVain(job, heard.route) === 0 });
      if (input.type === 'submitted' && input.answer.ok)
        this.#desk.pressure.note(input.answer.value, this.#desk.held);
    }
    // Given up while its answer was under way; nothing durable depends on a fetch or a download.
    if (job !== undefined) this.#clerk.advance(job, heard.event);
  }

  #ring(): void {
    if (this.#ending.isHalted) return;
    for (;;) {
      const job = this.#desk.alarms.takeDue(this.#now);
      if (job === undefined) break;
      this.#clerk.advance(job, { type: 'elapsed' });
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
      else if (this.#clerk.together.isOn && isPoll(grant.job)) this.#clerk.together.look(grant.job);
      else this.#clerk.advance(grant.job, { type: 'granted' });
    }
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
      this.#clerk.advance(this.#desk.get(job.record.key) ?? job, { type: 'unsent' });
    }
  }

  /** Forgets what has not begun. */
  #letGo(end: RunEnd): void {
    this.#clerk.intake.forget();
    for (const job of this.#desk.all())
      if (mayBeLeft(job) && job.want.kind !== 'answer') this.#clerk.giveUp(job);
    this.#outbox.emit({ type: 'run:stopping', end, tasks: this.#desk.inFlight });
  }
}
