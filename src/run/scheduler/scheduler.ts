import type { Task } from '../../service/image-service.ts';
import type { ServiceResult } from '../../service/result.ts';
import type { Committed } from '../../state/store.ts';
import type { Route, RunEnd } from '../events.ts';
import type { LearnedTexts } from '../limits/learned.ts';
import { limitsText, serviceText } from '../limits/learned-limits.ts';
import type { CallResult, Job } from '../machine/job.ts';
import { needsRecheck } from '../machine/retry/button-freshness.ts';
import { deferralCount, isOwnFault } from '../machine/retry/deferrals.ts';
import { tokensUsed, usageOf } from '../machine/text-call.ts';
import { onBatchPolled } from './batch-poll.ts';
import { admitCells } from './cell-admission.ts';
import { closeAsOthers, closedEnd, leftWork } from './closed-kinds.ts';
import { isPaid, type RunCommit, type RunInput, routeOf, withoutOthers } from './commit.ts';
import { dispatch } from './dispatch.ts';
import { drain, halt } from './drain.ts';
import { noteSaved } from './failed-files.ts';
import { advance } from './job-runner.ts';
import { noteOutcome, probeKinds } from './kind-results.ts';
import { adoptJob } from './place-job.ts';
import { judgeRefused } from './refused-jobs.ts';
import { type KindState, noTally } from './routes/kinds.ts';
import { isDeferral, type JobResult, outcomeOf, withoutKnownWords } from './routes/outcome.ts';
import { endSlices } from './slices/end.ts';
import { loseSlice, onRefused, onRequeued } from './slices/lose.ts';
import { onResultFor, onSent, othersOf, withIntents } from './slices/results.ts';
import { giveCells, onPeerResults } from './slices/take.ts';
import { lasted } from './state/lifecycle.ts';
import { areAllCellsOpened, canOpenCell, hasDueCells, wantsCells } from './state/queries.ts';
import { initialState, type SchedulerOptions, type SchedulerState } from './state/state.ts';
import { durationEnd, nextWakeAt, noteSleep } from './state/wake.ts';
import { onUnconfirmedSearched } from './unconfirmed-search.ts';

const nothing: RunCommit = { records: [], attempts: [], effects: [], events: [] };

/**
 * Decides what runs when. The scheduler is a reducer over its state: inputs come in through
 * `handle`, decisions go out through `takeCommit`, and it never waits, reads a clock or uses a promise. Its memory is bounded by the
 * limits, not by the matrix: a cell is opened only while its first task may get a slot.
 */
export class Scheduler {
  readonly #state: SchedulerState;
  #isLong = (): boolean => false;

  constructor(options: SchedulerOptions) {
    this.#state = initialState(options);
    options.shared?.closings?.report(() => leftWork(this.#state));
  }

  /**
   * Handles an input and decides what follows.
   *
   * @param now time of the input, Unix ms
   * @param isLong called after each resolved cell; true: the next tick, due at once, does the others. Absent: the last function
   */
  handle(input: RunInput, now: number, isLong = this.#isLong): void {
    const state = this.#state;
    noteSleep(state, now);
    state.now = now;
    this.#isLong = isLong;
    let wasLong = false;
    state.isLong = () => (wasLong ||= isLong());
    accept(state, input);
    closeAsOthers(state);
    fireTimers(state);
    this.#work();
    while (!hasDueCells(state) && judgeRefused(state)) this.#work();
    if (hasDueCells(state) || !endSlices(state)) return;
    admitCells(state);
    dispatch(state);
  }

  #work(): void {
    const state = this.#state;
    admitCells(state);
    dispatch(state);
    // A job returned to its cell on its turn lets another cell be opened, and no other input may come that opens one.
    while (canOpenCell(state) && !state.isLong()) {
      admitCells(state);
      dispatch(state);
    }
  }

  /** Number of this run. */
  get invocation(): number {
    return this.#state.options.invocation;
  }

  /** Takes the decisions since the last call. */
  takeCommit(): RunCommit {
    return withIntents(this.#state, this.#state.outbox.take());
  }

  /** Puts back a commit that could not be made durable: it becomes part of the next one. */
  requeue(commit: RunCommit): void {
    this.#state.outbox.requeue(commit);
    onRequeued(this.#state, commit);
  }

  /**
   * Reports that the taken commit is durable, except the part that other workers have taken over.
   *
   * @returns the durable part, whose effects may be sent
   */
  onDurable(commit: RunCommit = nothing, committed?: Committed): RunCommit {
    const state = this.#state;
    state.outbox.onDurable();
    if (state.options.others === undefined) return commit;
    const others = othersOf(state, commit, committed);
    const mine = withoutOthers(commit, others);
    onSent(state, mine);
    if (others.refused.size + others.lost.length > 0)
      this.handle({ type: 'refused', commit, others }, state.now);
    // The work that such a slice waited for may be durable now.
    else if (state.slices.leased.some(({ cells, hasEnded }) => cells === 0 && !hasEnded))
      this.handle({ type: 'tick' }, state.now);
    return mine;
  }

  /** Keys of the jobs of other workers that cells wait for. */
  get awaited(): readonly string[] {
    return [...this.#state.slices.awaited];
  }

  /** True where there are decisions since the last commit was taken. */
  get hasDecided(): boolean {
    return this.#state.outbox.hasDecided;
  }

  /** True when the run could open more cells than it has. */
  get wantsCells(): boolean {
    return wantsCells(this.#state);
  }

  /** Returns when `tick` is due if nothing happens before; undefined where only a result or a cell advances the run. */
  nextWakeAt(): number | undefined {
    return nextWakeAt(this.#state);
  }

  /** The end of the run; undefined until it has ended and all decisions are durable. */
  get ended(): RunEnd | undefined {
    const { lifecycle, routes, jobs, cells, outbox, slices } = this.#state;
    if (!outbox.isEmpty) return undefined;
    const end = lifecycle.reached({
      requests: routes.inFlight,
      jobs: jobs.size + cells.open.due.size + slices.awaited.size + slices.ending.size,
      isDone: areAllCellsOpened(this.#state),
      isWhole: cells.isWhole,
    });
    if (end?.kind !== 'complete') return end;
    const left = leftWork(this.#state);
    return left.closed.length > 0 ? closedEnd(left) : end;
  }

  /** Number of submissions and text calls of this invocation. */
  get submits(): number {
    return this.#state.budget.submits;
  }

  /** Number of finished jobs whose redo failed. */
  get redosFailed(): number {
    return this.#state.redosFailed;
  }

  /** Number of tokens of the replies of this invocation. */
  get tokens(): number {
    return this.#state.budget.tokens;
  }

  /** Number of tasks in flight on the service, or about to be. */
  get tasks(): number {
    return this.#state.jobs.tasksInFlight;
  }

  /** Number of requests in flight. */
  get requests(): number {
    return this.#state.routes.inFlight;
  }

  /** What the run has learned so far, to save for the next run. */
  get learned(): LearnedTexts {
    const poll = this.#state.estimators.learned;
    const { jobs, kinds, options } = this.#state;
    const { id: address = '', endpoints } = options.address ?? {};
    const { everAnswered: hasAnswered = false, showsButtons = false } = endpoints ?? {};
    const served = kinds.servedIds;
    // Workers save together what they have seen: one alone would overwrite the knowledge of others.
    const isSeen = options.others === undefined && (hasAnswered || showsButtons || served.length > 0);
    return {
      limits: limitsText(jobs.learned),
      ...(isSeen && { service: serviceText({ address, served, hasAnswered, showsButtons }) }),
      ...(poll === undefined ? {} : { poll }),
    };
  }

  /** Notes when a request was sent, Unix ms, which is later than its decision. Only with `tellsLeaving`. */
  onLeft(route: Route, at: number): void {
    this.#state.routes.sent.leave(route, at);
  }

  /** Recent sends, to save with the next commit; undefined where no route has a rate. */
  get sent(): string | undefined {
    return this.#state.routes.sent.text;
  }

  /** Number of jobs and cells in memory. */
  get inMemory(): { readonly jobs: number; readonly cells: number } {
    const { jobs, cells } = this.#state;
    return { jobs: jobs.size, cells: cells.open.size };
  }
}

function accept(state: SchedulerState, input: RunInput): void {
  switch (input.type) {
    case 'adopt':
      for (const record of input.records) adoptJob(state, record);
      return;
    case 'cells':
      return giveCells(state, input);
    case 'result':
      return onResultFor(state, input) ? accept(state, input.input) : undefined;
    case 'refused':
      return onRefused(state, input);
    case 'lost':
      return loseSlice(state, input.lease);
    case 'orphans':
      state.slices.hasOrphans = input.areThere;
      return;
    case 'peer-results':
      return onPeerResults(state, input.lateFacts);
    case 'asked':
      countTokens(state, input.key, input.result);
      return onResult(state, input);
    case 'submitted':
    case 'unread':
    case 'masked':
    case 'fetched':
    case 'seed':
    case 'saved':
      return onResult(state, input);
    case 'searched':
      onResult(state, input);
      return onUnconfirmedSearched(state, input);
    case 'listed':
      return onBatchPolled(state, input);
    case 'cut':
      return onCut(state, input);
    case 'away':
      state.jobs.files.isAway = input.why !== undefined;
      if (input.why !== undefined)
        state.outbox.emit({ type: 'run:notice', code: 'results.away', message: input.why });
      return;
    case 'refilled':
      return state.routes.release();
    case 'tick':
      return;
    case 'drain':
      return drain(state, input.end);
    case 'halt':
      return stopSending(state, input);
  }
}

/** Counts the tokens of a reply, even if no job waits for it any more. */
function countTokens(
  { routes, jobs, estimators, now }: SchedulerState,
  key: string,
  result: CallResult,
): void {
  const usage = usageOf(result);
  const record = jobs.get(key)?.record;
  routes.tokens.settle(key, tokensUsed(result), now);
  if (result.kind === 'answered' && usage !== undefined && record !== undefined)
    estimators.noteReply(record, usage);
}

const isQueueFull = (result: Extract<JobResult, { type: 'submitted' }>['result']): boolean =>
  result.ok && result.value.kind === 'queue-full';

function onResult(state: SchedulerState, input: JobResult): void {
  const { routes, jobs, now, options } = state;
  const own = outcomeOf(input);
  const told = 'told' in input ? input.told : undefined;
  const { lane } = routes.onResult(own.route, now, input.key, told, isDeferral(own));
  const isLook = input.type === 'fetched' && input.why === 'overdue';
  const job = isLook ? undefined : jobs.get(input.key);
  const kind = kindOfResult(state, own.route, job);
  const outcome = lane.isServing(now) ? outcomeOf(input, true) : own;
  const isOpen =
    input.type === 'submitted' &&
    job !== undefined &&
    needsRecheck(job, input.result, options.settings.retry.attempts);
  // A result about one job alone slows down no other job, and one that is being rechecked does not count yet.
  const isFull =
    input.type === 'submitted' &&
    isQueueFull(input.result) &&
    jobs.tasksOnService > 0 &&
    kind?.isServed === true;
  if (!isOpen && (!isDeferral(outcome) || !isOwnFault(job, outcome.route, kind?.tally ?? noTally))) {
    noteOutcome(state, {
      ...withoutKnownWords(
        isFull ? { ...outcome, reading: { signal: { kind: 'full' } } } : outcome,
        job,
        kind,
      ),
      isFirst: job !== undefined && deferralCount(job, outcome.route) === 0,
      lane,
      kind,
      key: input.key,
    });
  }
  if (input.type === 'saved') noteSaved(state, input);
  if (isLook && isTaskOver(input.result)) jobs.changeOverdue((tasks) => tasks.giveBack(input.key));
  // The run may have left the job while its request was in flight; nothing durable depends on a poll or a download.
  const { event } = kind?.isRefusedAlone ? outcomeOf(input, true) : outcome;
  if (job !== undefined) advance(state, job, event);
  if (own.route !== 'submit' || !jobs.isWorkedOn(input.key)) lane.pace.withdraw(input.key, now);
}

const isTaskOver = (result: ServiceResult<Task>): boolean =>
  result.ok
    ? result.value.isOther !== true &&
      (result.value.state === 'success' ||
        result.value.state === 'failure' ||
        result.value.seems !== undefined)
    : result.error.code === 'service.task-unknown';

/** Returns the kind of a request whose result arrived; undefined where its job is gone. */
function kindOfResult({ kinds }: SchedulerState, route: Route, job: Job | undefined): KindState | undefined {
  if (route === 'poll') return kinds.polls;
  if (route === 'download') return kinds.downloads;
  return job && kinds.of(job);
}

/** Handles the cut of a grid, which concerns no route. A disk failure ends the run. */
function onCut(state: SchedulerState, { key, result }: Extract<RunInput, { type: 'cut' }>): void {
  if (!result.ok && result.error.class === 'stop') {
    const { code, message } = result.error;
    halt(state, { kind: 'disk', code, message });
  }
  const job = state.jobs.get(key);
  if (job !== undefined) advance(state, job, { type: 'cut', result });
}

/** Halts the run. Jobs whose requests were granted and not sent are as before. */
function stopSending(state: SchedulerState, { end, unsent }: Extract<RunInput, { type: 'halt' }>): void {
  halt(state, end);
  // A poll or a download changes nothing in the record.
  for (const { job, send } of unsent.filter(isPaid)) {
    const route = routeOf[send.kind];
    if (route !== undefined) state.routes.onUnsent(route, state.now, job.record.key);
    advance(state, state.jobs.get(job.record.key) ?? job, { type: 'unsent' });
  }
}

/** Advances the jobs that are due, ends a run at its maximum duration, and reports a stall. */
function fireTimers(state: SchedulerState): void {
  const { jobs, lifecycle, stall, outbox, now } = state;
  if (lifecycle.isHalted) return;
  if ((jobs.overdue.givesBackAt ?? now + 1) <= now) jobs.changeOverdue((tasks) => tasks.giveBackDue(now));
  for (let job = jobs.delayed.takeDue(now); job !== undefined; job = jobs.delayed.takeDue(now))
    advance(state, job, { type: 'elapsed' });
  probeKinds(state);
  const lastsUntil = durationEnd(state);
  if (lastsUntil !== undefined && now >= lastsUntil) drain(state, lasted);
  const notice = stall.notice(jobs, now);
  if (notice !== undefined) outbox.emit(notice);
}
