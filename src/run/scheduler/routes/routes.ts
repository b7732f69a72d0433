import type { Route } from '../../events.ts';
import type { Sent } from '../../limits/even-moments.ts';
import { RouteTraffic } from '../../limits/route.ts';
import { SentLog } from '../../limits/sent-log.ts';
import { TokenLimiter } from '../../limits/token-rate.ts';
import type { Job } from '../../machine/job.ts';
import type { RunSettings, SharedLimits } from '../../ports.ts';
import { PriorityQueue } from '../queues.ts';
import { type LearnedLimits, noLimits } from './learned-limits.ts';
import { fewestShared, hasPlace, longRequests, type Shares, sharesOf } from './shares.ts';

/**
 * The order in which routes use a free place: what keeps the service at work goes first. Submissions and polls take a moment; of the
 * long requests, text calls are work of the service, and downloads are not.
 */
export const routeOrder = ['submit', 'poll', 'text', 'download'] as const satisfies readonly Route[];

interface RouteQueue {
  readonly route: RouteTraffic;
  readonly queue: PriorityQueue;
  inFlight: number;
  /** When the requests under way left, Unix ms, by the keys of their jobs. */
  readonly sentAt: Map<string, number>;
  /** How many requests had been sent before its last one. */
  lastTurn: number;
  /** True while no more requests leave, until the cost of those under way is known. */
  held: boolean;
}

/** How many requests are under way at once until the service has served one: no wrong setting costs more. */
const mostUnproven: Readonly<Partial<Record<Route, number>>> = { submit: 1, text: 4 };

const isLong = (name: Route): boolean => name === 'text' || name === 'download';

/** What the run knows of its images; it changes while the run lasts. */
export interface ImageLoad {
  /** True while an image task is being made, or waits for it. */
  readonly isActive: boolean;
  /** Images that wait for their download, as a part of their bound. */
  readonly backlog: number;
  /** True while no new task is begun: no file of those that are made can be had. */
  readonly isShut: boolean;
}

/** Routes on which money is spent. */
const paid = ['submit', 'text'] as const satisfies readonly Route[];

/** The routes with their queues of jobs, under one limit of requests in flight. */
export class Routes {
  readonly queues: Readonly<Record<Route, RouteQueue>>;
  readonly #requests: number;
  readonly #load: ImageLoad;
  #turns = 0;
  readonly #tokens: (job: Job) => number;
  readonly #isHeldBack: (job: Job, now: number) => boolean;
  /** Tokens of text calls. */
  readonly tokens: TokenLimiter;
  /** What left lately, for a run that follows at once. */
  readonly sent: SentLog;
  #inFlight = 0;
  /** Routes on which the service has served a request, in this run or an earlier one. */
  readonly #served: NonNullable<SharedLimits['served']>;

  /** @param isHeldBack true for a submission that waits for a result: the end of a task, or the reading of a button */
  constructor(
    settings: RunSettings,
    jobs: ReadonlyMap<string, Job>,
    random: () => number,
    tokens: (job: Job) => number,
    isHeldBack: (job: Job, now: number) => boolean = () => false,
    {
      moments = {},
      tokens: sharedTokens,
      served = new Set<Route>(),
    }: Pick<SharedLimits, 'moments' | 'tokens' | 'served'> = {},
    load: ImageLoad = { isActive: true, backlog: 0, isShut: false },
    before: Readonly<Partial<Record<Route, readonly Sent[]>>> = {},
    learned: LearnedLimits = noLimits,
  ) {
    this.#tokens = tokens;
    this.#served = served;
    this.#isHeldBack = isHeldBack;
    this.tokens = new TokenLimiter(settings.limits.tokens, sharedTokens);
    const { limits, retry } = settings;
    this.#requests = limits.requests;
    this.#load = load;
    this.sent = new SentLog(limits, before);
    const queueOf = (name: Route, fair: boolean): RouteQueue => ({
      route: new RouteTraffic(
        name,
        limits[name],
        retry,
        random,
        moments[name],
        before[name],
        learned.perMinute[name],
      ),
      queue: new PriorityQueue(jobs, fair),
      inFlight: 0,
      sentAt: new Map(),
      lastTurn: 0,
      held: false,
    });
    this.queues = {
      submit: queueOf('submit', false),
      text: queueOf('text', false),
      poll: queueOf('poll', true),
      download: queueOf('download', true),
    };
  }

  /** Requests under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** The routes in the order in which they use a free place. Where places are too few to be shared, the routes take turns. */
  get order(): readonly Route[] {
    if (this.#requests >= fewestShared) return routeOrder;
    return routeOrder.toSorted((a, b) => this.queues[a].lastTurn - this.queues[b].lastTurn);
  }

  /**
   * True when a request of this route could leave now, but for its rate.
   *
   * @param now at which another route claims its places only if its own rate allows a request; absent: whatever its rate
   */
  hasRoom(name: Route, now: number = Number.POSITIVE_INFINITY): boolean {
    const requests = this.#requests;
    if (this.#inFlight >= requests || !this.#isOpen(name)) return false;
    const { submit, poll, text, download } = this.queues;
    if (requests < fewestShared) {
      return (
        !isLong(name) || !this.#load.isActive || text.inFlight + download.inFlight < longRequests(requests)
      );
    }
    const inFlight: Shares = {
      submit: submit.inFlight,
      poll: poll.inFlight,
      text: text.inFlight,
      download: download.inFlight,
    };
    return hasPlace(name, requests, sharesOf(requests, this.#load.backlog), {
      inFlight,
      // A task can end, or begin, at any moment: its polls and submissions do not wait for long requests.
      claims: (route) => (isLong(name) && !isLong(route) && this.#load.isActive) || this.#claims(route, now),
    });
  }

  /** False for a route whose next request waits for the result of one under way. */
  #isOpen(name: Route): boolean {
    const { route, inFlight, held, queue } = this.queues[name];
    const most = this.#served.has(name) ? undefined : mostUnproven[name];
    if (held || (most !== undefined && inFlight >= most)) return false;
    if (this.#load.isShut && name === 'submit' && queue.front()?.want.kind !== 'modal') return false;
    return inFlight < 1 || !route.isProbing;
  }

  /** True for a route that has a request to send. */
  #claims(name: Route, now: number): boolean {
    const { route, queue } = this.queues[name];
    return queue.front() !== undefined && this.#isOpen(name) && route.nextAt() <= now;
  }

  /** True while the cost of some request is not known yet. */
  get isSpending(): boolean {
    return paid.some((name) => this.queues[name].inFlight > 0);
  }

  /** Holds the requests of this route until a paid request under way, of which there is one, is answered. */
  hold(name: Route): void {
    this.queues[name].held = true;
  }

  /** @param key of the job whose request leaves; of a list of tasks, of the first one */
  onSent(name: Route, now: number, key = ''): void {
    this.#inFlight += 1;
    this.#turns += 1;
    const queue = this.queues[name];
    queue.inFlight += 1;
    queue.sentAt.set(key, now);
    queue.lastTurn = this.#turns;
    queue.route.take(now);
    this.sent.decide(name, now);
  }

  /** @returns when the request left; undefined: it is not known */
  onResult(name: Route, key = ''): number | undefined {
    const queue = this.queues[name];
    const sentAt = queue.sentAt.get(key);
    queue.sentAt.delete(key);
    this.#inFlight -= 1;
    queue.inFlight -= 1;
    this.sent.settle(name, queue.inFlight);
    if (name === 'submit' || name === 'text') this.release();
    return sentAt;
  }

  /** A route was refused for too many requests: polls may use the limit of submissions and text calls. Files are served by others. */
  onThrottled(name: Route, now: number): void {
    if (name === 'poll') for (const other of paid) this.queues[other].route.refusedElsewhere(now);
  }

  /** The service has served a request of this route: the settings are right. */
  onServed(name: Route): void {
    this.#served.add(name);
  }

  /** Releases the requests that were held until the cost of others is known. */
  release(): void {
    for (const name of paid) this.queues[name].held = false;
  }

  /**
   * When the rates of this route allow the job at its front, Unix ms; not in the future means now, positive infinity: only a
   * result decides.
   */
  nextAtOf(name: Route, front: Job, now: number): number {
    if (name === 'submit' && this.#isHeldBack(front, now)) return Number.POSITIVE_INFINITY;
    const at = this.queues[name].route.nextAt();
    return name === 'text' && this.tokens.isLimited
      ? Math.max(at, this.tokens.nextAt(this.#tokens(front)))
      : at;
  }

  /** The next moment at which a queued request may leave. */
  nextAt(now: number): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    for (const name of routeOrder) {
      const front = this.queues[name].queue.front();
      if (front !== undefined && this.hasRoom(name, now))
        next = Math.min(next, this.nextAtOf(name, front, now));
    }
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }
}
