import type { JobRecord } from '../../../plan/job.ts';
import { isTextRequest } from '../../../plan/job-request.ts';
import type { Route } from '../../events.ts';
import type { Sent } from '../../limits/even-send-times.ts';
import { type LearnedLimits, noLimits } from '../../limits/learned-limits.ts';
import { isParked, type Job, restsOutside, takesTaskSlot } from '../../machine/job.ts';
import { sameMomentMs } from '../../machine/ownership.ts';
import {
  hasItsTurn,
  isReadingAgain,
  keepsSlot,
  needsButtonReading,
} from '../../machine/retry/button-freshness.ts';
import { deferralCount } from '../../machine/retry/deferrals.ts';
import type { RunSettings, SharedLimits, TaskSlots } from '../../ports.ts';
import { DelayedQueue, PriorityQueue } from '../queues.ts';
import { type Load, Routes } from '../routes/routes.ts';
import { FileTroubles, filesInVain } from './file-troubles.ts';
import { OverdueTasks } from './overdue-tasks.ts';

/** The active jobs, each in the queue for its next request, and the slots that they take. */
export class ActiveJobs implements Load {
  readonly #jobs = new Map<string, Job>();
  readonly #limits: RunSettings['limits'];
  readonly #granted: TaskSlots;
  /** Jobs that wait for a task slot. */
  readonly #waitingForSlot = new PriorityQueue(
    this.#jobs,
    false,
    undefined,
    () => this.routes.queues.submit.lane().isProbed,
  );
  /** Jobs that wait for a task slot again after a deferral. */
  readonly #deferredForSlot = new PriorityQueue(this.#jobs, true);
  /** Jobs whose grid is to be cut. */
  readonly #toCut = new PriorityQueue(this.#jobs, true);
  /** True once the last cells of the plan may be opened. */
  #isAtEnd = false;
  /** The one of the two queues that was granted a slot last. */
  #lastGranted = this.#deferredForSlot;
  readonly files = new FileTroubles();
  readonly delayed = new DelayedQueue(this.#jobs);
  readonly routes: Routes;
  #tasksWithin = 0;
  readonly #overdue = new OverdueTasks();
  #tasksOnService = 0;
  /** Number of these tasks that the service has not known for a minute. */
  #lost = 0;
  /** True while the service knows no task. Then only one new task at a time is begun, to test whether the service keeps it. */
  isForgetting = false;
  #open = 0;
  #saving = 0;
  #texts = 0;
  /** Number of image jobs whose task is not finished. */
  #images = 0;
  /** Number of jobs with a task slot that were neither deferred nor tried before. */
  #beginning = 0;
  /** Number of jobs that wait for a task slot for another try. */
  #tried = 0;
  #outside = 0;
  #reading = 0;
  /** Number of deferred clicks that keep a slot until they are pressed. */
  #kept = 0;
  #parked = 0;

  /** @param tokens returns the estimated tokens of a text call */
  constructor(
    settings: RunSettings,
    tokens: (job: Job) => number,
    shared: SharedLimits = {},
    before: Readonly<Partial<Record<Route, readonly Sent[]>>> = {},
    learned: LearnedLimits = noLimits,
  ) {
    this.#limits = settings.limits;
    this.#granted = shared.taskSlots ?? { granted: settings.limits.tasks };
    this.routes = new Routes(settings, this.#jobs, tokens, { load: this, shared, before, learned });
  }

  /** Whether a submission waits for a result: the end of a task, or the reading of a button. */
  isHeldBack(job: Job, now: number): boolean {
    // An open modal is one of the service's tasks.
    if (job.nextRequest.kind !== 'submit') return false;
    // If the service has only open modals, none of them ends before its confirm, which may be queued behind this job.
    if (this.#onService >= this.window && this.#onService > this.#open) return true;
    if (this.#isSlotTaken(job)) return true;
    return needsButtonReading(job, now) ? !this.#mayReadAgain : this.#isCommitTaken(job);
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** Number of tasks in flight on the service, or about to be. */
  get tasksInFlight(): number {
    return this.#tasksWithin + this.#overdue.size;
  }

  /** Changes which tasks past their deadlines take slots. */
  changeOverdue(change: (overdue: OverdueTasks) => void): void {
    change(this.#overdue);
    this.#granted.note?.(this.tasksInFlight);
  }

  /** Tasks past their deadlines that still take slots. */
  get overdue(): Pick<OverdueTasks, 'givesBackAt' | 'nextLook' | 'looks' | 'lookLater'> {
    return this.#overdue;
  }

  /** Number of jobs with a task on the service, and of those with a submission or text call in flight. */
  get inFlight(): { readonly tasks: number; readonly requests: number } {
    let [tasks, requests] = [0, 0];
    for (const { record } of this.#jobs.values()) {
      if (isOnService(record)) tasks += 1;
      else if (record.status === 'submitting') requests += 1;
    }
    return { tasks, requests };
  }

  /** Whether another submission sent at almost the same time as this job's is still unanswered. */
  mayGetSameId({ key, submittedAt = Number.NaN }: JobRecord): boolean {
    if (this.routes.queues.submit.inFlight === 0) return false;
    for (const { record } of this.#jobs.values()) {
      const apartMs = Math.abs((record.submittedAt ?? Number.NaN) - submittedAt);
      if (record.status === 'submitting' && apartMs < sameMomentMs && record.key !== key) return true;
    }
    return false;
  }

  /** Number of tasks that the service has. */
  get tasksOnService(): number {
    return this.#tasksOnService;
  }

  /** Number of tasks that the service has, and of submissions in flight. */
  get #onService(): number {
    return this.#tasksOnService - (this.isForgetting ? this.#lost : 0) + this.routes.queues.submit.inFlight;
  }

  /** Number of tasks that the service works on at once. */
  get window(): number {
    return Math.min(this.#limits.tasks, this.routes.queues.submit.lane().pace.window);
  }

  isWorkedOn(key: string): boolean {
    const job = this.#jobs.get(key);
    return job !== undefined && isWorkedOn(job);
  }

  get #isPaced(): boolean {
    return this.routes.queues.submit.isPaced;
  }

  /** True while another button may be read again: only as many as may be pressed at once, or their readings would be outdated. */
  get #mayReadAgain(): boolean {
    return this.#reading < (this.#isPaced ? 1 : Math.max(1, this.window - this.#onService));
  }

  /** Whether the next turn of a paced route is reserved for a button that is read again: otherwise its reading would always be outdated. */
  #isCommitTaken(job: Job): boolean {
    return this.#isPaced && this.#reading > 0 && !hasItsTurn(job);
  }

  /**
   * Whether the free slots are reserved for deferred clicks whose button is being read again: others would fill a narrow window meanwhile.
   * A click that has its turn is pressed all the same: it may come before those in the queue.
   */
  #isSlotTaken(job: Job): boolean {
    if (this.#kept === 0 || hasItsTurn(job)) return false;
    return this.#onService + this.#kept >= this.window;
  }

  get(key: string): Job | undefined {
    return this.#jobs.get(key);
  }

  all(): IterableIterator<Job> {
    return this.#jobs.values();
  }

  /** True while an image task is being made, or a job waits for one. */
  get isActive(): boolean {
    return this.#images > 0;
  }

  /** Number of images that wait for their download, as a share of the limit. */
  get backlog(): number {
    return this.#saving / this.#maxSaving;
  }

  /** True while the store of files is unavailable. */
  get isAway(): boolean {
    return this.files.isAway;
  }

  /** True while no new task begins: the store of files is unavailable, or none of the recent finished files could be downloaded. */
  get isShut(): boolean {
    if (this.files.isAway) return true;
    if (!this.files.isInVain) return false;
    const { isProbing } = this.routes.queues.download.lane();
    return this.files.isShut || (isProbing && this.#saving >= filesInVain);
  }

  /** True while one more task may begin. */
  get hasFreeSlot(): boolean {
    if (!this.#mayDownloadMore || this.isShut) return false;
    // The slots of lost tasks are not free, but one more task tests whether the service keeps any.
    if (this.isForgetting) return this.tasksInFlight - this.#lost < Math.min(1, this.#maxTasks);
    return this.tasksInFlight < this.#maxTasks;
  }

  /** Whether one more cell may be opened: its first task may get a slot, or its first text call a place in its lane. */
  mayOpenCell(now: number): boolean {
    const most = this.#isAtEnd ? 2 * this.#maxTasks : this.#maxTasks;
    return (
      this.#beginning + this.#waitingForSlot.size - this.#tried < most &&
      this.#parked < maxParked &&
      !this.isShut &&
      this.#mayDownloadMore &&
      this.#mayWaitBeside(now)
    );
  }

  /** Jobs in lanes that may send nothing now count as parked, so that they do not keep others from beginning. */
  #mayWaitBeside(now: number): boolean {
    // Deferred jobs take no task slot.
    const deferred = this.#outside - 2 * (this.#limits.tasks + this.#limits.requests);
    const texts = this.#texts - this.#limits.requests;
    if (deferred < 0 && texts < 0) return true;
    const held = this.routes.queues.text.heldBack(now);
    return (
      deferred < held.deferred && texts < held.first && this.#parked + held.first + held.deferred < maxParked
    );
  }

  /** The learned limits of the service, for the next run. */
  get learned(): LearnedLimits {
    return this.routes.learned;
  }

  /** Number of tasks that may be in flight, by the limits and the service. */
  get slots(): number {
    return Math.min(this.#maxTasks, this.window);
  }

  /**
   * Begins the end of the plan: fewer cells are left than slots. All of them are opened, and their first jobs go before the deeper ones of
   * other cells. Otherwise the last chains would begin late, and leave slots idle while they end one by one.
   */
  beginEnd(): void {
    if (this.#isAtEnd) return;
    this.#isAtEnd = true;
    this.#waitingForSlot.reverseDepth();
  }

  /** Number of tasks that may be in flight: the granted part of the run's own limit. */
  get #maxTasks(): number {
    return Math.min(this.#limits.tasks, this.#granted.granted);
  }

  /** False while too many downloads are pending: images arrive more slowly than tasks end, so no new task begins. */
  get #mayDownloadMore(): boolean {
    return this.#saving < this.#maxSaving;
  }

  /** Largest number of jobs whose images are downloaded. A few hundred, so that slow downloads keep no slot of the service waiting. */
  get #maxSaving(): number {
    const all = this.#limits.tasks + this.#limits.requests;
    return Math.min(8 * all, Math.max(256, 2 * all));
  }

  /**
   * Takes the next job from the two queues for task slots, which take turns: a few rows that the service always defers do not block other
   * jobs, and other jobs do not block them.
   */
  takeForSlot(): Job | undefined {
    const lines =
      this.#lastGranted === this.#deferredForSlot
        ? [this.#waitingForSlot, this.#deferredForSlot]
        : [this.#deferredForSlot, this.#waitingForSlot];
    const queue = lines.find((one) => one.front() !== undefined);
    const job = queue?.front();
    if (queue === undefined || job === undefined) return undefined;
    this.#lastGranted = queue;
    queue.leave();
    return job;
  }

  /** Takes the next job whose grid is to be cut. The cutter decides how many are cut at the same time. */
  takeToCut(): Job | undefined {
    const job = this.#toCut.front();
    if (job !== undefined) this.#toCut.leave();
    return job;
  }

  /** Adds a job or replaces its state. */
  put(job: Job): void {
    this.#count(this.#jobs.get(job.record.key), -1);
    this.#jobs.set(job.record.key, job);
    this.#count(job, 1);
    this.#granted.note?.(this.tasksInFlight);
  }

  /** Puts the job into the queue for its next request, if there is one. */
  enqueue(job: Job): void {
    const { nextRequest } = job;
    switch (nextRequest.kind) {
      case 'task-slot':
        return (isDeferred(job) ? this.#deferredForSlot : this.#waitingForSlot).join(job);
      case 'submit':
      case 'modal':
        return this.routes.queues.submit.join(job);
      case 'fetch':
      case 'seed':
      case 'search':
        return this.routes.queues.poll.join(job);
      case 'save':
      case 'mask':
        return this.routes.queues.download.join(job);
      case 'cut':
        return this.#toCut.join(job);
      case 'ask':
        return this.routes.queues.text.join(job);
      case 'wait':
        return isParked(job) ? undefined : this.delayed.set(job, nextRequest.until);
      case 'answer':
      case 'nothing':
        return;
    }
  }

  /** Removes a job: its places in queues are void from now on. */
  drop(key: string): void {
    this.#count(this.#jobs.get(key), -1);
    this.#jobs.delete(key);
    this.#granted.note?.(this.tasksInFlight);
  }

  #count(job: Job | undefined, by: number): void {
    if (job === undefined) return;
    if (isParked(job)) {
      this.#parked += by;
      if (job.record.status === 'saving') this.#saving += by;
      return;
    }
    if (takesTaskSlot(job)) this.#tasksWithin += by;
    if (takesTaskSlot(job) && isOnService(job.record)) this.#tasksOnService += by;
    if (takesTaskSlot(job) && job.lost !== undefined) this.#lost += by;
    if (takesTaskSlot(job) && job.record.status === 'modal') this.#open += by;
    if (job.record.status === 'saving') this.#saving += by;
    if (!isTextRequest(job.record.request) && job.record.status !== 'saving') this.#images += by;
    if (isReadingAgain(job)) this.#reading += by;
    if (keepsSlot(job)) this.#kept += by;
    const isAgain = isDeferred(job) || isTried(job);
    if (takesTaskSlot(job) && !isAgain && job.lost === undefined) this.#beginning += by;
    if (job.nextRequest.kind === 'task-slot' && isTried(job) && !isDeferred(job)) this.#tried += by;
    const isText = isTextRequest(job.record.request);
    const isOutside = isAgain || restsOutside(job);
    if (isOutside) this.#outside += by;
    else if (isText) this.#texts += by;
    if (isText && (job.nextRequest.kind === 'ask' || job.nextRequest.kind === 'wait'))
      this.routes.queues.text.lane(job).waiting[isOutside ? 'deferred' : 'first'] += by;
  }
}

/** Largest number of jobs that wait until their kind is served again. At this number no more cells begin for them. */
const maxParked = 1024;

/** Whether a job was deferred by its routes and is not accepted yet: such a job lets others pass. */
const isDeferred = (job: Job): boolean =>
  (['submit', 'text', 'poll'] as const).some((route) => deferralCount(job, route) > 0) &&
  (job.record.status === 'pending' || job.record.status === 'submitting') &&
  job.record.modal === undefined;

/** Whether an image's submission failed and is to be repeated: others are tried first. */
const isTried = ({ record: { request, status, tries, modal } }: Job): boolean =>
  tries > 0 &&
  !isTextRequest(request) &&
  (status === 'pending' || status === 'submitting') &&
  modal === undefined;

const isOnService = ({ status }: JobRecord): boolean => status === 'running' || status === 'modal';

/** Whether the service works on the job's task, as far as is known. A modal waits for its confirm, and a lost task may have ended. */
export const isWorkedOn = ({ record, lost }: Pick<Job, 'record' | 'lost'>): boolean =>
  record.status === 'running' && lost === undefined;
