import { ChanceRefusals } from './chance-refusals.ts';

/** No pace is slower than one request in this time. */
const slowestMs = 60_000;
/** How late a request may use its moment, ms: timers are late. But no later than 1 ms and a twentieth of the spacing. */
const lateMs = 20;
/** Factors on the pace at refusals in a row with too few accepted requests between them to measure the limit. */
const lowerings = [0.98, 0.95, 0.9, 0.8, 0.7] as const;
/** So many accepted requests between two refusals measure the limit; so many do it well. */
const fewestMeasured = 10;
const wellMeasured = 30;
/** Part of a measured limit that is used. */
const used = 0.99;
/** One refusal in so many requests is borne. */
const borneRequests = 100;
/** Two refusals within this time, or with so few requests between them, are about the same limit. */
const soonMs = 130_000;
const soonRequests = 50;
/** Raises, as parts of the pace: what is tried beyond a pace that was refused, what needs care, and the largest. */
const smallRaise = 0.02;
const carefulRaise = 0.05;
const largestRaise = 0.25;
/** How long a pace is kept before it is raised, ms: a window of a minute must have passed before a careful raise. */
const keptMs = 10_000;
const carefulMs = 60_000;
/** For each ms that the last refusal cost, where the service asked for a pause; never longer than half an hour. */
const pausePayback = 20;
const longestKeptMs = 1_800_000;
/** Longest rest between two refused requests, ms, and the rest where no pace is known. */
const longestRestMs = 60_000;
const unknownRestMs = 1000;
/** Send times of so many requests are remembered. */
const remembered = 256;

/** The service refuses: until it accepts again, one request at a time asks. */
interface Episode {
  restMs: number;
  restUntil: number;
  /** When the request left whose result is awaited. */
  probeAt: number | undefined;
  /** What was accepted from the begin of the episode before to that of this one, and in which time. */
  readonly between: Interval;
}

interface Interval {
  readonly accepted: number;
  readonly ms: number;
}

/**
 * Finds how fast a service accepts requests that never said so. A request is refused where its window is used up or its bucket is
 * empty; so what was accepted between two refusals is what the service accepts in that time, whatever the form of its limit. The
 * pace is set to 99 % of that, and requests leave at even moments, which no form of limit refuses below its rate.
 *
 * After a refusal only one request at a time leaves, at first after one spacing, then after twice as long each time, until one is
 * accepted. A pace that was kept without a refusal is raised: halfway to the pace that was refused, by 2 % beyond it once it is within
 * reach, and by ever more once that is accepted too. A raise that is refused is taken back. Raises are so far apart that what they have
 * refused stays below 1 % of the requests.
 */
export class FoundPace {
  readonly #wanted: number;
  /** What tells that no pace is to be found. */
  readonly chance = new ChanceRefusals();
  /** Requests per ms; undefined: unlimited. */
  #pace: number | undefined;
  /** The pace that was last kept without a refusal; lower than the pace while a raise is tried. */
  #kept: number | undefined;
  /** A pace that was refused; undefined where nothing is known above the present one. */
  #refusedPace: number | undefined;
  /** The next raise where no refused pace is known. */
  #nextRaise = smallRaise;
  #next = Number.NEGATIVE_INFINITY;
  /** Since the pace was set. */
  #sent = 0;
  #since = 0;
  /** Time in which nobody had anything to send. */
  #idleMs = 0;
  #episode: Episode | undefined;
  /** Requests that left before had left before the last refusal was known. */
  #knownAt = Number.NEGATIVE_INFINITY;
  /** Begin and end of the last episode; before the first, the first request. */
  #beganAt: number | undefined;
  #endedAt: number | undefined;
  #isFirst = true;
  /** Accepted since the begin, and since the end, of the last episode; and idle time of both. */
  #fromBegin = { accepted: 0, idleMs: 0 };
  #fromEnd = { accepted: 0, idleMs: 0 };
  /** Lowerings in a row without a measured limit. */
  #unmeasured = 0;
  /** Refusals of the last episode. */
  #cost = 1;
  /** The longest pause that the service asked for in it. */
  #pauseMs = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** How long the service takes to refuse. */
  #refusalMs: number | undefined;
  readonly #sentAt: number[] = [];

  /**
   * @param wanted the configured rate, requests per ms
   * @param found what an earlier run has found, requests per ms
   */
  constructor(wanted: number | undefined, found: number | undefined) {
    this.#wanted = wanted ?? Number.POSITIVE_INFINITY;
    this.#pace = found === undefined ? wanted : this.#within(found);
    this.#kept = this.#pace;
  }

  /** Requests per ms; undefined: unlimited. */
  get pace(): number | undefined {
    return this.#pace;
  }

  /** Requests per ms that the service accepts, where it has refused more. */
  get found(): number | undefined {
    return this.#kept === this.#wanted ? undefined : this.#kept;
  }

  /** Unix ms from when on the next request may leave. */
  nextAt(): number {
    if (this.#episode !== undefined) {
      const { probeAt, restUntil } = this.#episode;
      // Where a refusal would have come by then, there was none.
      return probeAt === undefined
        ? restUntil
        : probeAt + Math.max(this.#spacing, 2 * (this.#refusalMs ?? 0));
    }
    return this.#pace === undefined || this.#pace === this.#wanted ? Number.NEGATIVE_INFINITY : this.#next;
  }

  /** A request leaves. @param wantedAt from when on the configured rate allowed it */
  take(now: number, wantedAt: number = Number.NEGATIVE_INFINITY): void {
    const earliest = Math.max(this.nextAt(), this.#pausedUntil, wantedAt);
    if (this.#episode === undefined) this.#raise(now);
    else if (this.#episode.probeAt === undefined) this.#episode.probeAt = now;
    else this.#endEpisode(this.#episode.probeAt, now);
    const idleMs = Number.isFinite(earliest) && now - earliest > this.#spacing ? now - earliest : 0;
    this.#idleMs += idleMs;
    this.#beganAt ??= now;
    this.#endedAt ??= now;
    for (const from of [this.#fromBegin, this.#fromEnd]) {
      from.accepted += 1;
      from.idleMs += idleMs;
    }
    const late = Math.min(lateMs, 1 + this.#spacing / 20);
    this.#next = Math.max(this.#next, now - late) + this.#spacing;
    this.#sent += 1;
    this.chance.onSent();
    this.#sentAt.push(now);
    if (this.#sentAt.length > remembered) this.#sentAt.shift();
  }

  /** A request that left at `sentAt` was served. */
  served(now: number, sentAt: number): void {
    this.chance.onResult(false);
    const probeAt = this.#episode?.probeAt;
    if (probeAt !== undefined && sentAt >= probeAt) this.#endEpisode(probeAt, now);
  }

  /** A request that left at `sentAt` was refused. @param pauseMs how long the service asks to wait */
  refused(now: number, sentAt: number, pauseMs = 0): void {
    this.chance.onResult(true);
    const ms = now - sentAt;
    this.#refusalMs = this.#refusalMs === undefined ? ms : this.#refusalMs + 0.25 * (ms - this.#refusalMs);
    for (const from of [this.#fromBegin, this.#fromEnd]) from.accepted = Math.max(0, from.accepted - 1);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    if (this.#episode === undefined && sentAt >= this.#knownAt) this.#beginEpisode(now, sentAt);
    else this.#cost += 1;
    this.#pauseMs = Math.max(this.#pauseMs, pauseMs);
    if (this.#episode === undefined || sentAt < this.#knownAt) return;
    this.#knownAt = now;
    const { probeAt } = this.#episode;
    if (probeAt === undefined) return;
    this.#episode.restMs = Math.min(longestRestMs, 2 * this.#episode.restMs);
    this.#episode.restUntil = now + this.#episode.restMs;
    this.#episode.probeAt = undefined;
  }

  get #spacing(): number {
    return this.#pace === undefined ? 0 : 1 / this.#pace;
  }

  #within(pace: number): number {
    return Math.min(this.#wanted, Math.max(1 / slowestMs, pace));
  }

  #set(pace: number | undefined, now: number): void {
    this.#pace = pace;
    this.#kept = pace;
    this.#begin(now);
  }

  #begin(now: number): void {
    this.#sent = 0;
    this.#since = now;
    this.#idleMs = 0;
  }

  #beginEpisode(now: number, sentAt: number): void {
    const later = this.#sentAt.filter((at) => at > sentAt).length;
    const { accepted, idleMs } = this.#fromBegin;
    const between = {
      accepted: Math.max(0, accepted - later),
      ms: sentAt - (this.#beganAt ?? sentAt) - idleMs,
    };
    const restMs = this.#pace === undefined ? unknownRestMs : this.#spacing;
    const restUntil = this.#pace === undefined ? now + restMs : Math.max(now, this.#next);
    this.#episode = { restMs, restUntil, probeAt: undefined, between };
    this.#beganAt = sentAt;
    this.#fromBegin = { accepted: later, idleMs: 0 };
    this.#cost = 1;
    this.#pauseMs = 0;
  }

  /** A request that left at this moment was accepted. */
  #endEpisode(acceptedAt: number, now: number): void {
    const { between } = this.#episode ?? { between: { accepted: 0, ms: 0 } };
    this.#episode = undefined;
    const { accepted, idleMs } = this.#fromEnd;
    const ms = acceptedAt - (this.#endedAt ?? acceptedAt) - idleMs;
    if (this.#pace === undefined) {
      this.#set(this.#within(accepted / Math.max(1, ms)), now);
      this.#nextRaise = largestRaise;
    } else this.#lower(this.#pace, between, { accepted: accepted - 1, ms }, now);
    this.#endedAt = acceptedAt;
    this.#fromEnd = { accepted: 1, idleMs: 0 };
    this.#next = Math.max(this.#next, acceptedAt + this.#spacing);
    this.#isFirst = false;
  }

  #lower(pace: number, fromBegin: Interval, fromEnd: Interval, now: number): void {
    const accepted = Math.min(fromBegin.accepted, fromEnd.accepted);
    const isMeasured = accepted >= fewestMeasured;
    const isSoon = !this.#isFirst && (fromEnd.ms <= soonMs || accepted < soonRequests);
    const limit = isMeasured ? used * Math.max(rateOf(fromBegin), rateOf(fromEnd)) : 0;
    const kept = this.#kept ?? pace;
    const isRaise = pace > kept;
    // A single refusal among so many requests is not worth a lower pace.
    if (!isRaise && this.#cost === 1 && accepted >= borneRequests) return;
    this.#refusedPace = pace;
    this.#nextRaise = smallRaise;
    if (isRaise && !(isMeasured && isSoon && limit < 0.95 * kept)) {
      this.#set(Math.max(kept, Math.min(limit, 0.98 * pace)), now);
      return;
    }
    // What a lowering has cost says nothing about what the next raise will.
    this.#cost = 1;
    this.#pauseMs = 0;
    this.#unmeasured = isMeasured ? 0 : this.#unmeasured + 1;
    const least = !isSoon ? 0.95 : accepted >= wellMeasured ? 0.3 : 0.5;
    const factor = isMeasured
      ? Math.min(0.98, Math.max(least, limit / pace))
      : (lowerings[Math.min(this.#unmeasured, lowerings.length) - 1] ?? 1);
    const lowered = this.#within(
      pace * Math.max(factor, this.chance.onLowered(pace, isMeasured ? limit / pace : 1)),
    );
    if (isSoon && accepted >= wellMeasured) this.#refusedPace = Math.min(pace, 1.03 * lowered);
    this.#set(lowered, now);
  }

  #raise(now: number): void {
    const [pace, kept] = [this.#pace, this.#kept];
    if (pace === undefined || kept === undefined) return;
    const isBeyond = this.#refusedPace === undefined || pace >= this.#refusedPace;
    const gap = this.#refusedPace === undefined ? 0 : this.#refusedPace / pace - 1;
    let raise = this.#refusedPace === undefined ? this.#nextRaise : smallRaise;
    if (gap > carefulRaise / 2) raise = Math.min(largestRaise, gap / 2);
    const isCareful = raise <= carefulRaise;
    const requests = (2 / raise) * (isCareful ? this.#cost : 1);
    const ms = isCareful
      ? Math.min(longestKeptMs, Math.max(carefulMs, pausePayback * this.#pauseMs))
      : keptMs;
    const passedMs = now - this.#since - this.#idleMs;
    if (this.#sent < requests || passedMs < ms || this.#idleMs > passedMs / 4) return;
    const isRaised = pace > kept;
    this.#kept = pace;
    this.#unmeasured = 0;
    if (isRaised) {
      this.#cost = 1;
      this.#pauseMs = 0;
    }
    if (isRaised && isBeyond) {
      this.#refusedPace = undefined;
      this.#nextRaise = Math.min(largestRaise, 2 * this.#nextRaise);
      raise = this.#nextRaise;
    }
    this.#pace = Math.min(this.#wanted, pace * (1 + raise));
    this.#begin(now);
  }
}

const rateOf = ({ accepted, ms }: Interval): number => (accepted + 0.5) / Math.max(1, ms);
