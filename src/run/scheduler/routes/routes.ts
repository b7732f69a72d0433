import type { Route } from '../../events.ts';
import { RouteTraffic } from '../../limits/route.ts';
import { TokenLimiter } from '../../limits/token-rate.ts';
import type { Job } from '../../machine/job.ts';
import type { RunSettings, SharedLimits } from '../../ports.ts';
import { PriorityQueue } from '../queues.ts';

/** The order of routes: downloads of paid results first, then polls, then paid requests. */
export const routeOrder = ['download', 'poll', 'text', 'submit'] as const satisfies readonly Route[];

/** All but a quarter of the requests; at least one. */
export const slowRequests = (requests: number): number => Math.max(1, Math.floor(requests * 0.75));

interface RouteQueue {
  readonly route: RouteTraffic;
  readonly queue: PriorityQueue;
  /** Maximum of its requests under way. */
  readonly width: number;
  inFlight: number;
  /** True while no more requests leave, until the cost of those under way is known. */
  held: boolean;
}

/** Routes on which money is spent. */
const paid = ['submit', 'text'] as const satisfies readonly Route[];

/** The routes with their queues of jobs, under one limit of requests in flight. */
export class Routes {
  readonly queues: Readonly<Record<Route, RouteQueue>>;
  readonly #requests: number;
  /** Maximum of downloads and text calls under way together: both take long, and neither may block the polls. */
  readonly #slow: number;
  readonly #tokens: (job: Job) => number;
  readonly #isHeldBack: (job: Job, now: number) => boolean;
  /** Tokens of text calls. */
  readonly tokens: TokenLimiter;
  #inFlight = 0;

  /** @param isHeldBack true for a submission that waits for a result: the end of a task, or the reading of a button */
  constructor(
    settings: RunSettings,
    jobs: ReadonlyMap<string, Job>,
    random: () => number,
    tokens: (job: Job) => number,
    isHeldBack: (job: Job, now: number) => boolean = () => false,
    moments: SharedLimits['moments'] = {},
  ) {
    this.#tokens = tokens;
    this.#isHeldBack = isHeldBack;
    this.tokens = new TokenLimiter(settings.limits.tokens);
    const { limits, retry } = settings;
    this.#requests = limits.requests;
    this.#slow = slowRequests(limits.requests);
    const queueOf = (name: Route, fair: boolean, width: number): RouteQueue => ({
      route: new RouteTraffic(name, limits[name], retry, random, moments[name]),
      queue: new PriorityQueue(jobs, fair),
      width,
      inFlight: 0,
      held: false,
    });
    this.queues = {
      submit: queueOf('submit', false, limits.requests),
      text: queueOf('text', false, this.#slow),
      poll: queueOf('poll', true, limits.requests),
      download: queueOf('download', true, this.#slow),
    };
  }

  /** Requests under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** True when a request of this route could leave now, but for its rate. */
  hasRoom(name: Route): boolean {
    const { route, width, inFlight, held } = this.queues[name];
    const { download, text } = this.queues;
    if ((name === 'download' || name === 'text') && download.inFlight + text.inFlight >= this.#slow)
      return false;
    return !held && this.#inFlight < this.#requests && inFlight < (route.isProbing ? 1 : width);
  }

  /** True while the cost of some request is not known yet. */
  get isSpending(): boolean {
    return paid.some((name) => this.queues[name].inFlight > 0);
  }

  /** Holds the requests of this route until a paid request under way, of which there is one, is answered. */
  hold(name: Route): void {
    this.queues[name].held = true;
  }

  onSent(name: Route, now: number): void {
    this.#inFlight += 1;
    this.queues[name].inFlight += 1;
    this.queues[name].route.take(now);
  }

  onResult(name: Route): void {
    this.#inFlight -= 1;
    this.queues[name].inFlight -= 1;
    if (name === 'submit' || name === 'text') this.release();
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
    return name === 'text' ? Math.max(at, this.tokens.nextAt(this.#tokens(front))) : at;
  }

  /** The next moment at which a queued request may leave. */
  nextAt(now: number): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    for (const name of routeOrder) {
      const front = this.queues[name].queue.front();
      if (front !== undefined && this.hasRoom(name)) next = Math.min(next, this.nextAtOf(name, front, now));
    }
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }
}
