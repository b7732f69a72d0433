import type { RunEnd } from '../events.ts';
import { BudgetTracker, type Spent } from '../limits/budget.ts';
import { Estimators } from '../limits/estimators.ts';
import type { AskAnswer } from '../machine/job.ts';
import { needsRecheck } from '../machine/retry/button-freshness.ts';
import { deferralCount, isOwnFault } from '../machine/retry/deferrals.ts';
import { tokensTaken, usageOf } from '../machine/text-call.ts';
import { isPaid, Outbox, type RunCommit, type RunInput, routeOf } from './commit.ts';
import { Dispatch, isPoll } from './dispatch.ts';
import { JobRunner, type JobRunnerOptions } from './job-runner.ts';
import { ActiveJobs } from './jobs/active-jobs.ts';
import { lasted, mayBeLeft, RunLifecycle } from './lifecycle.ts';
import { withinPatience } from './routes/asked-wait.ts';
import { readOnServingRoute } from './routes/load-shed.ts';
import { noteRouteOutcome, type OneAnswer, outcomeOf, putsOff, type RouteOutcome } from './routes/outcome.ts';
import { StallDetector } from './stall.ts';

/** Who comes so late to a moment at which it was to wake has slept, ms. */
const asleepMs = 60_000;

export interface SchedulerOptions extends JobRunnerOptions {
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
  readonly #activeJobs: ActiveJobs;
  readonly #dispatch: Dispatch;
  readonly #jobRunner: JobRunner;
  readonly #estimators: Estimators;
  readonly #budgetTracker: BudgetTracker;
  readonly #outbox = new Outbox();
  readonly #stallDetector: StallDetector;
  readonly #lifecycle = new RunLifecycle();
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
    this.#stallDetector = new StallDetector(options.startedAt);
    this.#estimators = new Estimators(options.settings, options.price);
    const { costModel } = this.#estimators;
    this.#activeJobs = new ActiveJobs(options.settings, options.random, ({ record }) =>
      costModel.tokens(record),
    );
    this.#budgetTracker = new BudgetTracker(options.settings, costModel, options.spent);
    this.#dispatch = new Dispatch(this.#activeJobs, this.#budgetTracker);
    this.#jobRunner = new JobRunner(options, {
      now: () => this.#now,
      watchedSince: () => this.#watchedSince,
      activeJobs: this.#activeJobs,
      dispatch: this.#dispatch,
      estimators: this.#estimators,
      budgetTracker: this.#budgetTracker,
      outbox: this.#outbox,
      stallDetector: this.#stallDetector,
      lifecycle: this.#lifecycle,
      drain: (end) => this.#drain(end),
      noteRouteOutcome: (heard) => this.#noteRouteOutcome(heard),
    });
  }

  /** Takes in what happened at `now` (Unix ms) and decides what follows. */
  handle(input: RunInput, now: number): void {
    this.#noteSleep(now);
    this.#now = now;
    this.#take(input);
    this.#ring();
    this.#jobRunner.admission.open();
    this.#grant();
  }

  /** Number of this run. */
  get invocation(): number {
    return this.#options.invocation;
  }

  /** Hands over what has gathered since the last call. */
  takeCommit(): RunCommit {
    return this.#outbox.take();
  }

  /** A turn could not be made durable: it is part of the next one. */
  requeue(turn: RunCommit): void {
    this.#outbox.requeue(turn);
  }

  /** True when it could open more cells than it has been given. */
  get wantsCells(): boolean {
    return !this.#lifecycle.hasBegun && this.#jobRunner.admission.wantsCells;
  }

  /** When to call `tick` if nothing happens before; undefined: only an answer or a cell moves the run on. */
  nextWakeAt(): number | undefined {
    if (this.#lifecycle.isHalted) return undefined;
    const moments = [this.#activeJobs.delayed.nextAt(), this.#activeJobs.routes.nextAt(this.#now)];
    if (this.#activeJobs.size > 0) moments.push(this.#stallDetector.nextAt);
    if (!this.#lifecycle.hasBegun) moments.push(this.#lastsUntil);
    return moments.reduce(
      (least, at) => (at !== undefined && (least === undefined || at < least) ? at : least),
      undefined,
    );
  }

  /** How the run ended, once it has. */
  get ended(): RunEnd | undefined {
    return this.#lifecycle.reached({
      requests: this.#activeJobs.routes.inFlight,
      jobs: this.#activeJobs.size,
      isDone: this.#jobRunner.admission.isDone,
      isWhole: this.#jobRunner.admission.isWhole,
    });
  }

  /** Submissions and text calls of this invocation. */
  get submits(): number {
    return this.#budgetTracker.submits;
  }

  /** Finished jobs that the user wanted made anew, and of which nothing came. */
  get redosFailed(): number {
    return this.#jobRunner.redosFailed;
  }

  /** Tokens of the answers that came in this invocation. */
  get tokens(): number {
    return this.#budgetTracker.tokens;
  }

  /** Tasks in flight on the service, or about to be. */
  get tasks(): number {
    return this.#activeJobs.rooming;
  }

  /** Requests under way. */
  get requests(): number {
    return this.#activeJobs.routes.inFlight;
  }

  /** Jobs and cells held in memory. */
  get held(): { readonly jobs: number; readonly cells: number } {
    return { jobs: this.#activeJobs.size, cells: this.#jobRunner.admission.size };
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
        for (const record of input.records) this.#jobRunner.adopt(record);
        return;
      case 'cells':
        return this.#jobRunner.admission.give(input.cells, input.last);
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
        return this.#jobRunner.batchPoller.heard(input);
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
    const record = this.#activeJobs.get(key)?.record;
    this.#activeJobs.routes.tokens.settle(key, tokensTaken(answer), this.#now);
    if (answer.kind === 'answered' && usage !== undefined && record !== undefined)
      this.#estimators.noteAnswer(record, usage);
  }

  #noteRouteOutcome(heard: RouteOutcome): void {
    const end = noteRouteOutcome(heard, this.#activeJobs.routes, this.#now, (event) =>
      this.#outbox.emit(event),
    );
    if (end !== undefined) this.#halt(end);
  }

  #answered(input: OneAnswer): void {
    const { routes } = this.#activeJobs;
    const said = outcomeOf(input);
    routes.answered(said.route);
    const isServing = routes.queues[said.route].route.isServing(this.#now);
    const shed = isServing ? outcomeOf(readOnServingRoute(input)) : said;
    // A text call that is shed slows its route down too, and still is one of its tries: that a model is overloaded may not pass.
    const heard = input.type === 'asked' ? { ...shed, event: said.event } : shed;
    const job = this.#activeJobs.get(input.key);
    const isOpen =
      input.type === 'submitted' &&
      job !== undefined &&
      needsRecheck(job, input.answer, this.#options.settings.retry.attempts);
    // What is about one job alone slows down nobody else, and what is looked into says nothing yet.
    if (!isOpen && (!putsOff(heard) || !isOwnFault(job, heard.route, this.#jobRunner.tally(heard.route)))) {
      this.#noteRouteOutcome({
        ...heard,
        isFirst: job !== undefined && deferralCount(job, heard.route) === 0,
      });
      if (input.type === 'submitted' && input.answer.ok)
        this.#activeJobs.concurrency.note(input.answer.value, this.#activeJobs.held);
    }
    // Given up while its answer was under way; nothing durable depends on a fetch or a download.
    if (job !== undefined) this.#jobRunner.advance(job, heard.event);
  }

  #ring(): void {
    if (this.#lifecycle.isHalted) return;
    for (;;) {
      const job = this.#activeJobs.delayed.takeDue(this.#now);
      if (job === undefined) break;
      this.#jobRunner.advance(job, { type: 'elapsed' });
    }
    if (this.#lastsUntil !== undefined && this.#now >= this.#lastsUntil) this.#drain(lasted);
    const notice = this.#stallDetector.notice(this.#activeJobs, this.#now);
    if (notice !== undefined) this.#outbox.emit(notice);
  }

  #grant(): void {
    while (!this.#lifecycle.isHalted) {
      const grant = this.#dispatch.next(this.#now, !this.#lifecycle.hasBegun);
      if (grant === undefined) return;
      if ('end' in grant) this.#drain(grant.end);
      else if (this.#jobRunner.batchPoller.isOn && isPoll(grant.job))
        this.#jobRunner.batchPoller.look(grant.job);
      else this.#jobRunner.advance(grant.job, { type: 'granted' });
    }
  }

  #drain(end: RunEnd): void {
    if (this.#lifecycle.drain(end)) this.#letGo(end);
  }

  #halt(end: RunEnd): void {
    if (this.#lifecycle.halt(end)) this.#letGo(end);
  }

  #stopSending({ end, unsent }: Extract<RunInput, { type: 'halt' }>): void {
    this.#halt(end);
    // A look or a download leaves nothing in the record.
    for (const { job, send } of unsent.filter(isPaid)) {
      this.#activeJobs.routes.answered(routeOf[send.kind]);
      this.#jobRunner.advance(this.#activeJobs.get(job.record.key) ?? job, { type: 'unsent' });
    }
  }

  /** Forgets what has not begun. */
  #letGo(end: RunEnd): void {
    this.#jobRunner.admission.forget();
    for (const job of this.#activeJobs.all())
      if (mayBeLeft(job) && job.want.kind !== 'answer') this.#jobRunner.giveUp(job);
    this.#outbox.emit({ type: 'run:stopping', end, tasks: this.#activeJobs.inFlight });
  }
}
