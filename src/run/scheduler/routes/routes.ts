import type { Route } from '../../events.ts';
import { RouteTraffic } from '../../limits/route.ts';
import { TokenLimiter } from '../../limits/token-rate.ts';
import type { Job } from '../../machine/job.ts';
import type { RunSettings, SharedLimits } from '../../ports.ts';
import { PriorityQueue } from '../queues.ts';

/** Finishing what is paid for goes before asking, and asking before paying. */
export const routeOrder = ['download', 'poll', 'text', 'submit'] as const satisfies readonly Route[];

/** All but a quarter of the requests; at least one. */
export const slowRequests = (requests: number): number => Math.max(1, Math.floor(requests * 0.75));

interface RouteQueue {
  readonly route: RouteTraffic;
  readonly queue: PriorityQueue;
  /** How many of its requests may be under way. */
  readonly width: number;
  inFlight: number;
  /** Nothing more leaves until what is being spent is known. */
  held: boolean;
}

/** Routes on which money is spent. */
const paid = ['submit', 'text'] as const satisfies readonly Route[];

/** The routes with the jobs that stand in line for them, under one limit of requests in flight. */
export class Routes {
  readonly queues: Readonly<Record<Route, RouteQueue>>;
  readonly #requests: number;
  /** How many downloads and text calls may be under way together: both take long, and neither may keep the run from hearing of finished tasks. */
  readonly #slow: number;
  readonly #tokens: (job: Job) => number;
  readonly #isHeldBack: (job: Job, now: number) => boolean;
  /** Tokens of text calls. */
  readonly tokens: TokenLimiter;
  #inFlight = 0;

  /** @param isHeldBack true for a submission whose turn comes only with an answer: a task that is over, a button that is read */
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

  /** True while it is not known yet what some request costs. */
  get isSpending(): boolean {
    return paid.some((name) => this.queues[name].inFlight > 0);
  }

  /** Lets nothing more of this route leave until a request that is being paid for, of which there is one, is answered. */
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

  /** Lets requests leave again that were held until what is being spent is known. */
  release(): void {
    for (const name of paid) this.queues[name].held = false;
  }

  /**
   * When the rates of this route let the job at its front go; not in the future means now, and no moment at all that only
   * an answer can tell.
   */
  nextAtOf(name: Route, front: Job, now: number): number {
    if (name === 'submit' && this.#isHeldBack(front, now)) return Number.POSITIVE_INFINITY;
    const at = this.queues[name].route.nextAt();
    return name === 'text' ? Math.max(at, this.tokens.nextAt(this.#tokens(front))) : at;
  }

  /** The next moment at which a request that is in line may leave. */
  nextAt(now: number): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    for (const name of routeOrder) {
      const front = this.queues[name].queue.front();
      if (front !== undefined && this.hasRoom(name)) next = Math.min(next, this.nextAtOf(name, front, now));
    }
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }
}
