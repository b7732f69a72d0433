import type { Rate, RetrySettings } from '../../../pipeline/pipeline.ts';
import { isTextRequest } from '../../../plan/job-request.ts';
import type { ToldLimit } from '../../../service/http/told.ts';
import type { Route } from '../../events.ts';
import { EvenMoments, graceMs, type Sent } from '../../limits/even-moments.ts';
import type { FoundPace } from '../../limits/gate.ts';
import type { LanePace } from '../../limits/learned-limits.ts';
import { type RouteSignal, type RouteStop, RouteTraffic } from '../../limits/route.ts';
import { type LeftRequest, ToldPace } from '../../limits/told.ts';
import type { Job } from '../../machine/job.ts';
import type { Moments } from '../../ports.ts';
import { compareRanks, PriorityQueue } from '../queues.ts';
import { kindOfRequest } from './kind-names.ts';

/** How far decisions may lag behind the moments of a rate and catch up, ms. Where requests leave, the rate is kept more exactly (`SendGate`). */
const caughtUpMs = 250;

/** Maximum of lanes of a route. The jobs beyond them share one. */
const mostLanes = 1000;

/** Requests that are refused, rest and find their pace together: the text calls of one kind, or all requests of another route. */
export class Lane {
  /** The kind of its text calls; empty: it is the only lane of its route. */
  readonly name: string;
  readonly route: RouteTraffic;
  readonly queue: PriorityQueue;
  /** What the service tells of its limits. */
  readonly told = new ToldPace();
  readonly news = new PaceNews();
  inFlight = 0;
  /** Its jobs without a request under way: those that were not deferred, and those that were. */
  readonly waiting = { first: 0, deferred: 0 };

  constructor(name: string, route: RouteTraffic, queue: PriorityQueue) {
    this.name = name;
    this.route = route;
    this.queue = queue;
  }

  /** True where its pace allows a request now. */
  maySend(now: number): boolean {
    return this.isOpen && this.nextAt(now) <= now;
  }

  /** False while its next request waits for the result of one under way. */
  get isOpen(): boolean {
    const { isProbed, name, pace } = this.route;
    // How many tasks are worked on is known where they are.
    return (this.inFlight < 1 || !isProbed) && (name === 'submit' || this.inFlight < pace.window);
  }

  /** Unix ms from when on its next request may leave, as far as the service tells it, or it was found. */
  nextAt(now: number): number {
    return Math.max(this.route.nextAt(now), this.told.isTold ? this.told.nextAt(now) : now);
  }
}

/** A request under way. */
export interface Departure {
  readonly lane: Lane;
  readonly left?: LeftRequest;
}

/** The limits of a route that are known, whatever its lanes find. */
export interface KnownLimits {
  readonly rate: Rate | undefined;
  /** Requests at a time; of submissions, tasks. */
  readonly atOnce: number;
  /** The rate that the run shares with others. */
  readonly shared: Moments | undefined;
  /** What earlier runs sent within the window of the rate. */
  readonly before: readonly Sent[] | undefined;
}

/** The lanes of one route, under the limits that are known of it. */
export class RouteLanes {
  readonly #name: Route;
  readonly #perMinute: number;
  readonly #atOnce: number;
  readonly #known: EvenMoments | undefined;
  readonly #shared: Moments | undefined;
  readonly #patienceMs: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #newLane: (name: string) => Lane;
  /** Lanes that may have a job in their queue. */
  readonly #queued = new Set<Lane>();
  /** The requests under way, by the keys of their jobs. */
  readonly #underWay = new Map<string, Departure[]>();
  inFlight = 0;
  /** The jobs without a request under way of all lanes. */
  readonly waiting = { first: 0, deferred: 0 };
  #servedAt = Number.NEGATIVE_INFINITY;

  constructor(
    name: Route,
    { rate, atOnce, shared, before }: KnownLimits,
    retry: RetrySettings,
    jobs: ReadonlyMap<string, Job>,
    inherited: (lane: string) => FoundPace | undefined = () => undefined,
  ) {
    this.#name = name;
    this.#perMinute = rate === undefined ? Number.POSITIVE_INFINITY : (60_000 * rate.count) / rate.perMs;
    this.#atOnce = atOnce;
    this.#known = rate && new EvenMoments(rate, before, Math.max(caughtUpMs, graceMs(rate)));
    this.#shared = shared;
    this.#patienceMs = retry.patienceMs;
    const turns = { joined: 0, left: 0 };
    const isFair = name === 'poll' || name === 'download';
    this.#newLane = (lane) => {
      const route = new RouteTraffic(name, retry, inherited(lane));
      return new Lane(lane, route, new PriorityQueue(jobs, isFair, turns, () => route.isProbed));
    };
  }

  /** The lane of a job; without a job, that of a route with a single one. */
  lane(job?: Pick<Job, 'record'>): Lane {
    const request = job?.record.request;
    const name =
      request !== undefined && this.#name === 'text' && isTextRequest(request) ? kindOfRequest(request) : '';
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const kept = this.#lanes.size < mostLanes ? name : 'other models';
    const lane = this.#lanes.get(kept) ?? this.#newLane(kept);
    this.#lanes.set(kept, lane);
    return lane;
  }

  all(): IterableIterator<Lane> {
    return this.#lanes.values();
  }

  /** What is said of a lane where there are several. */
  said({ name }: Lane): { readonly kind?: string } {
    return this.#lanes.size < 2 || name === '' ? {} : { kind: name };
  }

  /** False where no job has to send anything. */
  get hasQueued(): boolean {
    return this.#queued.size > 0;
  }

  join(job: Job): void {
    const lane = this.lane(job);
    this.#queued.add(lane);
    lane.queue.join(job);
  }

  /** The lane whose front job goes next: as if all jobs stood in one queue, but for lanes that may send nothing now. */
  next(now: number): Lane | undefined {
    let best: Lane | undefined;
    let bestRank: PriorityQueue['frontRank'];
    for (const lane of this.#queued) {
      const rank = lane.queue.frontRank;
      if (rank === undefined) this.#queued.delete(lane);
      else if ((bestRank === undefined || compareRanks(rank, bestRank) < 0) && lane.maySend(now))
        [best, bestRank] = [lane, rank];
    }
    return best;
  }

  /** Counts a job without a request under way, or no longer. */
  countWaiting(job: Job, how: keyof Lane['waiting'], by: number): void {
    this.waiting[how] += by;
    this.lane(job).waiting[how] += by;
  }

  /** The next moment at which another lane may send its front job, Unix ms. */
  nextAfter(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.#queued)
      if (lane.isOpen && lane.nextAt(now) > now && lane.queue.front() !== undefined)
        next = Math.min(next, lane.nextAt(now));
    return Math.max(next, this.knownAt());
  }

  /** Unix ms from when on the limits that are known allow a request. */
  knownAt(): number {
    const none = Number.NEGATIVE_INFINITY;
    return Math.max(this.#known?.nextAt() ?? none, this.#shared?.nextAt() ?? none);
  }

  /**
   * The jobs without a request under way of lanes that are probed, rest or are at their pace. A lane that is served and has no others
   * beside it holds back none.
   */
  heldBack(now: number): Lane['waiting'] {
    const held = { first: 0, deferred: 0 };
    for (const lane of this.#lanes.values()) {
      const { waiting, route } = lane;
      const isHeld =
        this.#lanes.size < 2 ? !route.hasServed && route.isProbing : route.isProbing || !lane.maySend(now);
      if (!isHeld) continue;
      held.first += waiting.first;
      held.deferred += waiting.deferred;
    }
    return held;
  }

  onSent(job: Job | undefined, key: string, now: number): void {
    const lane = this.lane(job);
    this.inFlight += 1;
    lane.inFlight += 1;
    const departures = this.#underWay.get(key) ?? [];
    this.#underWay.set(key, departures);
    departures.push({ lane, left: lane.told.take(now) });
    lane.route.pace.take(key, now);
    this.#known?.take(now);
    this.#shared?.take(now);
  }

  /** @param told what the reply tells of limits */
  onResult(key: string, now: number, told: readonly ToldLimit[] = [], isThrottled = false): Departure {
    const departures = this.#underWay.get(key) ?? [];
    const departure = departures.shift() ?? { lane: this.lane() };
    const { lane, left } = departure;
    if (departures.length === 0) this.#underWay.delete(key);
    if (left !== undefined) lane.told.onReply(left, told, isThrottled, now);
    this.inFlight -= 1;
    lane.inFlight -= 1;
    return departure;
  }

  /** Notes a result on a lane. @returns why the run must stop, where no lane has been served for the patience */
  note({ route }: Lane, signal: RouteSignal, now: number, key: string): RouteStop | undefined {
    const stop = route.note(signal, now, key);
    if (signal.kind === 'served' || signal.kind === 'refused') this.#servedAt = now;
    // Who is not reached is not reached for any kind.
    if (signal.kind === 'unreachable')
      for (const other of this.#lanes.values()) other.route.restUntil(route.pausedUntil);
    return now - this.#servedAt < this.#patienceMs ? undefined : stop;
  }

  /** Requests per minute of a lane now; undefined: unlimited. */
  perMinute({ route }: Lane = this.lane()): number | undefined {
    const rate = Math.min(route.pace.found.perMinute ?? Number.POSITIVE_INFINITY, this.#perMinute);
    return rate === Number.POSITIVE_INFINITY ? undefined : rate;
  }

  /** What was found of a lane, where the service accepts less than the limits that are known. */
  foundOf({ name: kind, route }: Lane): LanePace {
    const { atOnce, perMinute, byChance } = route.pace.found;
    return {
      route: this.#name,
      ...(kind !== '' && { kind }),
      ...(atOnce !== undefined && atOnce < this.#atOnce && { atOnce }),
      ...(perMinute !== undefined && perMinute < this.#perMinute && { perMinute }),
      ...(byChance !== undefined && { byChance }),
    };
  }

  /** Of a route with a single lane. */
  get route(): RouteTraffic {
    return this.lane().route;
  }

  get queue(): PriorityQueue {
    return this.lane().queue;
  }
}

/** A pace is news once it has held for so long, and at most once in so long a time, ms: it is sought, and found in steps. */
const steadyMs = 10_000;
const quietMs = 60_000;
/** Figures that differ by a smaller part say the same to a user. */
const leastPart = 0.25;
const leastShare = 0.07;

/** What is told of the pace of one lane. */
export class PaceNews {
  #said: FoundPace = {};
  #saidAt = Number.NEGATIVE_INFINITY;
  #found: FoundPace = {};
  #foundAt = Number.NEGATIVE_INFINITY;

  /** True where a user should hear of what was found: it is then said. */
  isNews(found: FoundPace, now: number): boolean {
    if (isOther(this.#found, found)) {
      this.#found = found;
      this.#foundAt = now;
    }
    if (now - this.#foundAt < steadyMs || now - this.#saidAt < quietMs || !isOther(this.#said, found))
      return false;
    this.#said = found;
    this.#saidAt = now;
    return true;
  }
}

const differs = (a: number | undefined, b: number | undefined): boolean =>
  a === undefined || b === undefined ? a !== b : Math.abs(a - b) > leastPart * Math.max(a, b);

/** True where another rule holds, or one with quite another figure. */
function isOther(one: FoundPace, other: FoundPace): boolean {
  return (
    differs(one.atOnce, other.atOnce) ||
    differs(one.perMinute, other.perMinute) ||
    Math.abs((one.byChance ?? 0) - (other.byChance ?? 0)) > leastShare
  );
}
