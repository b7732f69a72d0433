import type { JobError, JobRecord } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import { begunFrom, isOutdated, lineageAnew } from '../../plan/resolve/lineage.ts';
import { promptAbove } from '../../plan/resolve/nearest-prompt.ts';
import type { RecordLookup } from '../../plan/slot.ts';
import type { Route, RunEnd } from '../events.ts';
import type { BudgetTracker } from '../limits/budget.ts';
import type { Estimators } from '../limits/estimators.ts';
import type { Job, JobContext, JobEvent, Tally } from '../machine/job.ts';
import { step } from '../machine/machine.ts';
import { asBefore, durableForm } from '../machine/redo.ts';
import { adopt, begunWith, interrupted, mayRetry, retryOf, waitsForParent } from '../machine/resume.ts';
import { hasNoListing } from '../machine/search/listing.ts';
import { requeue } from '../machine/text-call.ts';
import { BatchPoller } from './batch-poll.ts';
import { type Outbox, routeOf } from './commit.ts';
import type { Dispatch } from './dispatch.ts';
import { FailingClicks } from './failing-clicks.ts';
import type { ActiveJobs } from './jobs/active-jobs.ts';
import { CellAdmission, type CellAdmissionOptions } from './jobs/cell-admission.ts';
import { failedFast, mayBeLeft, type RunLifecycle } from './lifecycle.ts';
import type { RouteOutcome } from './routes/outcome.ts';
import type { StallDetector } from './stall.ts';

export interface JobRunnerOptions extends CellAdmissionOptions {
  readonly random: () => number;
  /** What is durable. */
  readonly lookup: RecordLookup;
  readonly price: (record: JobRecord) => number | undefined;
}

/** What the job runner works with, and reports to. */
export interface JobRunnerHost {
  /** Unix ms. */
  readonly now: () => number;
  /** Since when the run has looked at what is under way without a gap, Unix ms. */
  readonly watchedSince: () => number;
  readonly activeJobs: ActiveJobs;
  readonly dispatch: Dispatch;
  readonly estimators: Estimators;
  readonly budgetTracker: BudgetTracker;
  readonly outbox: Outbox;
  readonly stallDetector: StallDetector;
  readonly lifecycle: RunLifecycle;
  readonly drain: (end: RunEnd) => void;
  readonly noteRouteOutcome: (heard: RouteOutcome) => void;
}

/**
 * Carries each job on: what happens to it goes through the machine, what must be durable into the outbox, and the job into the
 * queue for what it wants, or out of the active jobs.
 */
export class JobRunner {
  readonly admission: CellAdmission;
  readonly batchPoller: BatchPoller;
  /** A record as it is decided, durable or not yet. */
  readonly #lookup: RecordLookup;
  readonly #options: JobRunnerOptions;
  readonly #host: JobRunnerHost;
  readonly #clicks = new FailingClicks();
  #redosFailed = 0;
  #saidAssumed = false;
  #searches: boolean;

  constructor(options: JobRunnerOptions, host: JobRunnerHost) {
    this.#options = options;
    this.#searches = options.settings.tag !== false;
    this.#host = host;
    const { now, activeJobs, dispatch, outbox, lifecycle, noteRouteOutcome } = host;
    this.#lookup = (key) => activeJobs.get(key)?.record ?? outbox.record(key) ?? options.lookup(key);
    const put = (before: Job | undefined, job: Job): void => this.#put(before, job);
    this.admission = new CellAdmission(options, activeJobs, {
      now,
      isEnding: () => lifecycle.hasBegun,
      lookup: this.#lookup,
      put,
      worked: (record) => this.#clicks.worked(record),
      emit: (event) => outbox.emit(event),
    });
    this.batchPoller = new BatchPoller(options.settings.poll, activeJobs, dispatch, outbox, {
      now,
      context: () => this.#context(),
      put,
      advance: (job, event) => this.advance(job, event),
      noteRouteOutcome,
    });
  }

  /** Finished jobs that the user wanted made anew, and of which nothing came. */
  get redosFailed(): number {
    return this.#redosFailed;
  }

  /** Takes on a job that an earlier run left unfinished. */
  adopt(record: JobRecord): void {
    // What waits for its answer is left to the cells that ask for it.
    if (record.status === 'modal') return;
    // A modal that was under way is looked for on its task before anything is called in doubt.
    if (record.status !== 'submitting' || record.modal !== undefined)
      return this.#put(
        undefined,
        adopt(record, Number.MAX_SAFE_INTEGER, this.admission.taskOf(record.parent)),
      );
    const { budgetTracker, outbox } = this.#host;
    const left = isTextRequest(record.request)
      ? requeue(record)
      : interrupted(record, this.#options.startedAt, this.#options.price(record));
    budgetTracker.note(record, left);
    outbox.write(durableForm(left));
    outbox.tell(record, left);
  }

  /** Something happened to a job. */
  advance(job: Job, event: JobEvent): void {
    if (event.type !== 'granted' || !isToBeSent(job)) return this.#advance(job, event);
    const { record, parentTaskId } = job;
    // While it waited, what it presses was made anew: its cell takes it up again, to press that.
    if (parentTaskId !== undefined && this.admission.taskOf(record.parent) !== parentTaskId)
      return this.#putBack(job);
    const lineage = lineageAnew(record, parentTaskId, this.#lookup);
    this.#advance({ ...job, record: begunFrom(record, lineage) }, event);
  }

  #advance(job: Job, event: JobEvent): void {
    if (event.type === 'searched' && hasNoListing(event.answer)) this.#endSearches();
    const { activeJobs, estimators, outbox, now, watchedSince, noteRouteOutcome } = this.#host;
    const { job: next, send, attempt, unused = [], redoError, refusal } = step(job, event, this.#context());
    if (attempt !== undefined) outbox.attempt(attempt);
    for (const entry of unused) outbox.attempt(entry);
    if (redoError !== undefined) this.#redoFailed(next.record, redoError);
    estimators.noteTask(job.record, next.record, now(), watchedSince());
    this.#noteAssumed(job.record, next.record);
    if (job.record.taskId === undefined && next.record.taskId !== undefined) this.#clicks.worked(next.record);
    this.#put(job, next);
    if (refusal !== undefined)
      noteRouteOutcome({
        route: 'submit',
        reading: { signal: { kind: 'refused', words: refusal } },
        isFirst: false,
      });
    if (send === undefined) return;
    const { routes } = activeJobs;
    if (send.kind === 'ask')
      routes.tokens.take(job.record.key, estimators.costModel.tokens(job.record), now());
    routes.sent(routeOf[send.kind], now());
    outbox.send({ job: next, send });
  }

  /** The gateway lists no tasks, so that none can be looked for: said once. */
  #endSearches(): void {
    if (!this.#searches) return;
    this.#searches = false;
    this.#host.outbox.emit({ type: 'run:notice', code: 'service.no-listing', message: noSearch });
  }

  /** Leaves a job that has not been submitted to a later run. */
  giveUp({ record: { key } }: Job): void {
    this.#host.activeJobs.drop(key);
    this.admission.giveUp(key);
  }

  readonly tally = (route: Route): Tally => this.#host.activeJobs.routes.queues[route].route.tally;

  #context(): JobContext {
    const { settings, invocation, random, price } = this.#options;
    const { now, watchedSince, estimators } = this.#host;
    return {
      now: now(),
      invocation,
      watchedSince: watchedSince(),
      random,
      retry: settings.retry,
      taskMs: settings.timeouts.taskMs,
      speed: settings.speed,
      retryInDoubt: settings.inDoubt === 'retry',
      searches: this.#searches,
      price,
      answerPrice: estimators.costModel.answerPrice,
      assumedUsage: estimators.costModel.usage,
      promptAbove: (record) => promptAbove(record, this.#lookup),
      tally: this.tally,
      pollMaxMs: settings.poll.maxMs,
      pollInMs: (record, elapsedMs) => this.batchPoller.dueInMs(estimators.pollInMs(record, elapsedMs)),
    };
  }

  /** Replaces a job's state: notes what must become durable, and lines it up for what it wants. */
  #put(before: Job | undefined, job: Job): void {
    const { activeJobs, budgetTracker, outbox, stallDetector, lifecycle, now } = this.#host;
    const { record, want } = job;
    activeJobs.put(job);
    if (before !== undefined) budgetTracker.note(before.record, record);
    // A job that is only taken up needs no record: the plan and what is durable give it again.
    if (before !== undefined && before.record !== record) outbox.write(durableForm(record));
    if (before?.record.status !== record.status) {
      outbox.tell(before?.record, record);
      stallDetector.moved(now());
    }
    if (want === before?.want) return;
    if (before !== undefined && this.#isOutOfPlace(before, job)) return this.#putBack(job);
    activeJobs.enqueue(job);
    if (want.kind === 'answer') return;
    if (want.kind === 'nothing') return this.#settled(job);
    if (lifecycle.hasBegun && mayBeLeft(job)) return this.giveUp(job);
    if (want.kind === 'wait' && record.error !== undefined && record.status === 'pending')
      outbox.emit({ type: 'job:retry', key: record.key, inMs: want.until - now(), error: record.error });
  }

  #settled(job: Job): void {
    const { activeJobs, outbox, lifecycle, drain } = this.#host;
    const { record, lastPoll, depth } = job;
    const { settings } = this.#options;
    activeJobs.drop(record.key);
    if (lastPoll && record.status === 'failed' && mayRetry(record, settings) && !lifecycle.hasBegun) {
      const parentTaskId = this.admission.taskOf(record.parent);
      const lineage = lineageAnew(record, parentTaskId, this.#lookup);
      const again = begunWith(retryOf(record, depth, parentTaskId), lineage);
      if (!waitsForParent(again)) return this.#put(undefined, again);
      // What it comes from is being made anew: its cell takes it up again once that is done.
      outbox.write(durableForm(again.record));
      outbox.tell(record, again.record);
      return this.admission.release(record.key);
    }
    const mayEnd = settings.failFast || record.request.kind === 'click';
    if (mayEnd && !lastPoll && this.admission.isFailure(record)) {
      if (settings.failFast) drain(failedFast(record));
      const end = this.#clicks.failed(record);
      if (end !== undefined) drain(end);
    }
    this.admission.release(record.key);
  }

  /** True for what is not to be paid now, or not any more: it belongs to work of an earlier run. */
  #isOutOfPlace({ record: { status: was, modal: hadModal } }: Job, job: Job): boolean {
    const { key, status } = job.record;
    // A modal that an earlier run opened, or answered in vain: its prompt may be edited, its cell not be planned any more.
    if (status === 'modal') return !this.admission.isAwaited(key);
    const wasAhead = was === 'running' || was === 'modal' || hadModal !== undefined;
    return status === 'pending' && wasAhead && !this.#mayBeginAnew(job);
  }

  /**
   * False for a job of an earlier run that is to be submitted anew while no open cell asks for it, while what it comes from is
   * being made or brought in anew, or while what it presses is not what it pressed.
   */
  #mayBeginAnew({ record: { key, parent }, parentTaskId }: Job): boolean {
    if (!this.admission.isAwaited(key) || this.admission.waitsAnew(key)) return false;
    if (parent !== undefined && this.#lookup(parent)?.status !== 'done') return false;
    return this.admission.taskOf(parent) === parentTaskId;
  }

  /** Leaves it to the cells that ask for it, to be taken up when it can begin: nothing is paid that is not planned. */
  #putBack({ record }: Job): void {
    const { key, former, error, status } = record;
    const isRedo = status === 'pending' && former !== undefined && error !== undefined;
    // What is still outdated as it was, a later run makes anew without another word: that is no end of it.
    if (isRedo && !isOutdated(asBefore(record), this.#lookup)) this.#redoFailed(record, error);
    this.#host.activeJobs.drop(key);
    this.admission.release(key);
  }

  /** Said once in a run: what budgets count of such answers is a guess, and the manifest shows nothing of it. */
  #noteAssumed(before: JobRecord, after: JobRecord): void {
    const tokens = (after.assumed?.tokens ?? 0) - (before.assumed?.tokens ?? 0);
    if (this.#saidAssumed || after.assumed?.answers === before.assumed?.answers) return;
    this.#saidAssumed = true;
    const { step: name, cell } = after.origin;
    this.#host.outbox.emit({
      type: 'run:notice',
      code: 'tokens.untold',
      message: `The answer to ${name} in cell ${cell} tells no usable count of its tokens: the estimate of about ${tokens} counts against the budgets instead, as for all such answers. The manifest's token columns stay empty there.`,
    });
  }

  /** The user asked for another result and there is none: a run that is otherwise well is not. */
  #redoFailed({ key, origin: { step: name, cell } }: JobRecord, { code, message }: JobError): void {
    this.#redosFailed += 1;
    this.#host.outbox.emit({
      type: 'run:notice',
      code: 'redo.failed',
      message: `--redo: ${key} (${name} in cell ${cell}) was not made anew, and stays as it was (${code}): ${message}`,
    });
  }
}

/** True for what is submitted, or asked, when its turn comes, and of which no task may exist yet. */
const isToBeSent = ({ record: { status, doubtful }, want }: Job): boolean =>
  (want.kind === 'submit' || want.kind === 'ask') && status === 'pending' && doubtful?.since === undefined;

const noSearch =
  'A submission got no clear answer, and this gateway does not list its tasks: such a submission is sent again without looking for its task, and may be paid twice. retry.ambiguous: hold holds it instead.';
