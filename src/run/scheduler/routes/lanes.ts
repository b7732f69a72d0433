import type { Rate, RetrySettings } from '../../../pipeline/pipeline.ts';
import { isTextRequest } from '../../../plan/job-request.ts';
import type { ToldLimit } from '../../../service/http/told.ts';
import type { Route, RunEnd } from '../../events.ts';
import { EvenSendTimes, graceMs, type Sent } from '../../limits/even-send-times.ts';
import type { FoundPace } from '../../limits/found-limit.ts';
import type { LanePace } from '../../limits/learned-limits.ts';
import type { LeftRequest } from '../../limits/told.ts';
import type { Job } from '../../machine/job.ts';
import type { SendTimes } from '../../ports.ts';
import { compareRanks, PriorityQueue } from '../queues.ts';
import { kindOfRequest } from './kind-names.ts';
import { Lane } from './lane.ts';
import type { RouteSignal } from './outcome.ts';

/** How far decisions may lag behind the moments of a rate and catch up, ms. Where requests leave, the rate is kept more exactly (`SendGate`). */
const caughtUpMs = 250;

/** Maximum of lanes of a route. The jobs beyond them share one. */
const maxLanes = 1000;

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
  readonly shared: SendTimes | undefined;
  /** What earlier runs sent within the window of the rate. */
  readonly before: readonly Sent[] | undefined;
}

/** The lanes of one route, under the limits that are known of it. */
export class RouteLanes {
  readonly #name: Route;
  readonly #perMinute: number;
  readonly #atOnce: number;
  readonly #known: EvenSendTimes | undefined;
  readonly #shared: SendTimes | undefined;
  readonly #patienceMs: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #newLane: (name: string) => Lane;
  /** Lanes that may have a job in their queue. */
  readonly #queued = new Set<Lane>();
  /** The requests under way, by the keys of their jobs. */
  readonly #underWay = new Map<string, Departure[]>();
  inFlight = 0;

  constructor(
    name: Route,
    { rate, atOnce, shared, before }: KnownLimits,
    retry: RetrySettings,
    jobs: ReadonlyMap<string, Job>,
    inherited: (lane: string) => FoundPace | undefined = () => undefined,
    tokens?: (job: Job) => number,
  ) {
    this.#name = name;
    this.#perMinute = rate === undefined ? Number.POSITIVE_INFINITY : (60_000 * rate.count) / rate.perMs;
    this.#atOnce = atOnce;
    this.#known = rate && new EvenSendTimes(rate, before, Math.max(caughtUpMs, graceMs(rate)));
    this.#shared = shared;
    this.#patienceMs = retry.patienceMs;
    const turns = { joined: 0, left: 0 };
    const isRateKnown = rate !== undefined;
    const isFair = name === 'poll' || name === 'download';
    this.#newLane = (kind) => {
      const queue = new PriorityQueue(jobs, isFair, turns, () => lane.isProbed);
      const found = inherited(kind);
      const lane: Lane = new Lane(name, kind, queue, retry, { found, tokens, isRateKnown });
      return lane;
    };
  }

  /** The lane of a job; without a job, that of a route with a single one. */
  lane(job?: Pick<Job, 'record'>): Lane {
    const request = job?.record.request;
    const name =
      request !== undefined && this.#name === 'text' && isTextRequest(request) ? kindOfRequest(request) : '';
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const kept = this.#lanes.size < maxLanes ? name : 'other models';
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
      const { waiting, isProbing, hasServed } = lane;
      const isHeld = this.#lanes.size < 2 ? !hasServed && isProbing : isProbing || !lane.maySend(now);
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
    departures.push({ lane, left: lane.told.take(now, lane.tokensOf(job)) });
    lane.pace.take(key, now);
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
  note(
    lane: Lane,
    signal: RouteSignal,
    now: number,
    key: string,
  ): Extract<RunEnd, { kind: 'stopped' }> | undefined {
    const stop = lane.note(signal, now, key);
    const lanes = [...this.all()];
    // Who is not reached is not reached for any kind.
    if (signal.kind === 'unreachable') for (const other of lanes) other.restUntil(lane.restsUntil);
    return lanes.every(({ servedAt }) => now - servedAt >= this.#patienceMs) ? stop : undefined;
  }

  /** True where a rate is known or found: of a route with a single lane. */
  get isPaced(): boolean {
    return this.#known !== undefined || this.lane().pace.found.perMinute !== undefined;
  }

  /** What was found of a lane, where the service accepts less than the limits that are known. */
  foundOf({ name: kind, pace }: Lane): LanePace {
    const { atOnce, perMinute, byChance } = pace.found;
    return {
      route: this.#name,
      ...(kind !== '' && { kind }),
      ...(atOnce !== undefined && atOnce < this.#atOnce && { atOnce }),
      ...(perMinute !== undefined && perMinute < this.#perMinute && { perMinute }),
      ...(byChance !== undefined && { byChance }),
    };
  }
}
