import type { ToldLimit } from '../../../service/http/told.ts';
import type { Route, RunEnd, RunEvent } from '../../events.ts';
import type { Sent } from '../../limits/even-send-times.ts';
import {
  type LanePace,
  type LearnedLimits,
  lanesOf,
  limitsOf,
  noLimits,
} from '../../limits/learned-limits.ts';
import { SentLog } from '../../limits/sent-log.ts';
import { TokenLimiter } from '../../limits/token-rate.ts';
import type { Job } from '../../machine/job.ts';
import type { RunSettings, SharedLimits } from '../../ports.ts';
import type { Lane } from './lane.ts';
import { type Departure, RouteLanes } from './lanes.ts';
import type { Outcome } from './outcome.ts';
import { fewestShared, hasPlace, type Shares, sharesOf } from './shares.ts';

/**
 * The order in which routes use a free place: what keeps the service at work goes first. Submissions and polls take a moment; of the
 * long requests, text calls are work of the service, and downloads are not.
 */
export const routeOrder = ['submit', 'poll', 'text', 'download'] as const satisfies readonly Route[];

/** How many requests are under way at once until the service has served one: no wrong setting costs more. */
const maxUnproven: Readonly<Partial<Record<Route, number>>> = { submit: 1, text: 4 };

const isLong = (name: Route): boolean => name === 'text' || name === 'download';

/** What the run knows of its jobs; it changes while the run lasts. */
export interface Load {
  /** True while an image task is being made, or waits for it. */
  readonly isActive: boolean;
  /** Images that wait for their download, as a part of their bound. */
  readonly backlog: number;
  /** True while no new task is begun: no file of those that are made can be had, or stored. */
  readonly isShut: boolean;
  /** True while files can be stored nowhere: texts may have some too. */
  readonly isAway: boolean;
  /** True for a submission that waits for a result: the end of a task, or the reading of a button. */
  isHeldBack(job: Job, now: number): boolean;
}

/** What routes have beside their settings and jobs, where they have it. */
interface RoutesOptions {
  readonly load?: Load;
  readonly shared?: Pick<SharedLimits, 'sendTimes' | 'tokens' | 'served'>;
  /** What earlier runs sent lately. */
  readonly before?: Readonly<Partial<Record<Route, readonly Sent[]>>>;
  readonly learned?: LearnedLimits;
}

/** The part of an outcome that its route notes. */
export interface RouteOutcome extends Pick<Outcome, 'route' | 'reading'> {
  /** Of its job; of a list of tasks, of the first one. */
  readonly key: string;
  /** Absent: the only one of its route. */
  readonly lane?: Lane;
}

/** The routes with their queues of jobs, under one limit of requests in flight. */
export class Routes {
  readonly queues: Readonly<Record<Route, RouteLanes>>;
  readonly #jobs: ReadonlyMap<string, Job>;
  /** What an earlier run found. */
  readonly #inherited: readonly LanePace[];
  readonly #requests: number;
  readonly #load: Load;
  /** The routes, the one first whose last request left first. */
  #turns: readonly Route[] = routeOrder;
  /** Routes whose requests wait until the cost of those under way is known. */
  readonly #held = new Set<Route>();
  readonly #tokens: (job: Job) => number;
  /** Tokens of text calls. */
  readonly tokens: TokenLimiter;
  /** What left lately, for a run that follows at once. */
  readonly sent: SentLog;
  /** Routes on which the service has served a request, in this run or an earlier one. */
  readonly #served: NonNullable<SharedLimits['served']>;

  /** @param tokens estimated tokens of a text call */
  constructor(
    settings: RunSettings,
    jobs: ReadonlyMap<string, Job>,
    tokens: (job: Job) => number,
    {
      load = { isActive: true, backlog: 0, isShut: false, isAway: false, isHeldBack: () => false },
      shared: { sendTimes = {}, tokens: sharedTokens, served = new Set<Route>() } = {},
      before = {},
      learned = noLimits,
    }: RoutesOptions = {},
  ) {
    this.#jobs = jobs;
    this.#inherited = lanesOf({ ...learned, byChance: {} });
    this.#tokens = tokens;
    this.#served = served;
    this.tokens = new TokenLimiter(settings.limits.tokens, sharedTokens);
    const { limits, retry } = settings;
    this.#requests = limits.requests;
    this.#load = load;
    this.sent = new SentLog(limits, before);
    const queuesOf = (name: Route): RouteLanes => {
      const atOnce = name === 'submit' ? limits.tasks : limits.requests;
      const known = { rate: limits[name], atOnce, shared: sendTimes[name], before: before[name] };
      const isOf = (lane: string, { route, kind = '' }: LanePace): boolean => route === name && kind === lane;
      const found = (lane: string): LanePace | undefined => this.#inherited.find((one) => isOf(lane, one));
      return new RouteLanes(name, known, retry, jobs, found, tokens);
    };
    this.queues = {
      submit: queuesOf('submit'),
      text: queuesOf('text'),
      poll: queuesOf('poll'),
      download: queuesOf('download'),
    };
  }

  /** What the service accepts, for the next run. What was not asked for is as an earlier run found it. */
  get learned(): LearnedLimits {
    const found = routeOrder.flatMap((route) => {
      const lanes = this.queues[route];
      return [...lanes.all()].map((lane) => lanes.foundOf(lane));
    });
    const isFound = ({ route, kind }: LanePace): boolean =>
      found.some((one) => one.route === route && one.kind === kind);
    return limitsOf([...found, ...this.#inherited.filter((lane) => !isFound(lane))]);
  }

  /** Requests under way. */
  get inFlight(): number {
    return routeOrder.reduce((sum, name) => sum + this.queues[name].inFlight, 0);
  }

  /** The routes in the order in which they use a free place. Where places are too few to be shared, the routes take turns. */
  get order(): readonly Route[] {
    return this.#requests >= fewestShared ? routeOrder : this.#turns;
  }

  /**
   * True when a request of this route could leave now, but for its rate.
   *
   * @param now at which another route claims its places only if its own rate allows a request; absent: whatever its rate
   */
  hasRoom(name: Route, now: number = Number.POSITIVE_INFINITY): boolean {
    const requests = this.#requests;
    if (this.inFlight >= requests || !this.#isOpen(name)) return false;
    const { submit, poll, text, download } = this.queues;
    // Neither a text nor a download may block submissions and polls while tasks are being made.
    if (requests < fewestShared) {
      const isBeside = text.inFlight + download.inFlight < Math.max(1, requests - 1);
      return !isLong(name) || !this.#load.isActive || isBeside;
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
    const lanes = this.queues[name];
    const most = this.#served.has(name) ? undefined : maxUnproven[name];
    if (this.#held.has(name) || (most !== undefined && lanes.inFlight >= most)) return false;
    // A lane of texts that is probed holds back no other.
    if (name === 'text') return !this.#load.isAway;
    const { isOpen, queue } = lanes.lane();
    return isOpen && (name !== 'submit' || !this.#load.isShut || queue.front()?.nextRequest.kind === 'modal');
  }

  /** True for a route that has a request to send. */
  #claims(name: Route, now: number): boolean {
    const lanes = this.queues[name];
    return lanes.next(now) !== undefined && this.#isOpen(name) && lanes.knownAt() <= now;
  }

  /** True while the cost of some request is not known yet. */
  get isSpending(): boolean {
    return this.queues.submit.inFlight + this.queues.text.inFlight > 0;
  }

  /** Holds the requests of this route until a paid request under way, of which there is one, is answered. */
  hold(name: Route): void {
    this.#held.add(name);
  }

  /** @param key of the job whose request leaves; of a list of tasks, of the first one */
  onSent(name: Route, now: number, key = ''): void {
    if (this.#requests < fewestShared) this.#turns = [...this.#turns.filter((one) => one !== name), name];
    this.queues[name].onSent(this.#jobs.get(key), key, now);
    this.sent.decide(name, now);
  }

  /** @returns on which lane the request left, and when */
  onResult(
    name: Route,
    now: number,
    key = '',
    told?: readonly ToldLimit[],
    isThrottled?: boolean,
  ): Departure {
    const lanes = this.queues[name];
    const departure = lanes.onResult(key, now, told, isThrottled);
    this.sent.settle(name, lanes.inFlight);
    if (name === 'submit' || name === 'text') this.release();
    return departure;
  }

  /** Notes what a result means for its lane. @returns why the run must end at once; undefined: it goes on */
  note(
    { route, reading: { signal, end }, key, lane: own }: RouteOutcome,
    now: number,
    emit: (event: RunEvent) => void,
  ): RunEnd | undefined {
    if (signal === undefined) return end;
    const lanes = this.queues[route];
    const lane = own ?? lanes.lane();
    const { restsUntil } = lane;
    const stop = lanes.note(lane, signal, now, key);
    const kind = signal.kind === 'unreachable' ? {} : lanes.said(lane);
    if (lane.restsUntil > restsUntil && 'reason' in signal)
      emit({ type: 'route:pause', route, ...kind, untilMs: lane.restsUntil, reason: signal.reason });
    const found = lanes.foundOf(lane);
    if (lane.news.isNews(found, now)) emit({ type: 'route:pace', ...found });
    return stop;
  }

  /** A request does not leave, or nobody waits for its result: that says nothing about its lane. */
  onUnsent(name: Route, now: number, key: string): void {
    this.onResult(name, now, key).lane.pace.withdraw(key, now);
  }

  /** The service has served a request of this route: the settings are right. */
  onServed(name: Route): void {
    this.#served.add(name);
  }

  /** Releases the requests that were held until the cost of others is known. */
  release(): void {
    this.#held.clear();
  }

  /** The lane whose front job has its turn now; undefined: no job of this route has. */
  next(name: Route, now: number): Lane | undefined {
    // Most queues are empty most of the time: what depends on all of them is asked last.
    const lane = this.queues[name].next(now);
    const front = lane?.queue.front();
    return front !== undefined && this.hasRoom(name, now) && this.allowedAt(name, front, now) <= now
      ? lane
      : undefined;
  }

  /** When the limits that all lanes of a route share allow this job, Unix ms; positive infinity: only a result decides. */
  allowedAt(name: Route, job: Job, now: number): number {
    if (name === 'submit' && this.#load.isHeldBack(job, now)) return Number.POSITIVE_INFINITY;
    const at = this.queues[name].knownAt();
    return name === 'text' && this.tokens.isLimited
      ? Math.max(at, this.tokens.nextAt(this.#tokens(job)))
      : at;
  }

  /**
   * When the next queued job of this route may leave, Unix ms; not in the future means now, positive infinity: only a result decides,
   * or there is none.
   */
  nextAtOf(name: Route, now: number): number {
    const lanes = this.queues[name];
    const front = lanes.next(now)?.queue.front();
    const at = front === undefined ? Number.POSITIVE_INFINITY : this.allowedAt(name, front, now);
    return Math.min(at, lanes.nextAfter(now));
  }

  /** The next moment at which a queued request may leave. */
  nextAt(now: number): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    for (const name of routeOrder) {
      const at = this.nextAtOf(name, now);
      if (at < next && this.hasRoom(name, now)) next = at;
    }
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }
}
