import { ChanceRefusals } from './chance-refusals.ts';
import { type Interval, intervalFrom, rateBetween } from './interval.ts';

/** No pace is slower than one request in this time. */
const slowestMs = 60_000;
/** So many accepted requests pay for one refusal. */
const perRefusal = 80;
/** While no more refusals than this are unpaid, one after so many accepted requests lowers no pace. */
const mostBorne = 2;
const fewestBorne = 10;
/** Refusals that can be unpaid: what a service refused long ago does not stop the search for ever. */
const mostUnpaid = 12;
/** A raise whose refusal costs a pause is paid for by so many accepted requests for each one that could have left in the pause, up to so many. */
const perPaused = 20;
const mostPaused = 20;
/** So many accepted requests between two refusals measure the limit, so many do it well, and this part of it is used. */
const fewestMeasured = 5;
const wellMeasured = 30;
const used = 0.99;
/** A lowering, as a part of the pace: the least, and the most where no limit was measured. */
const leastLowering = 0.02;
const mostLowering = 0.32;
/** A raise, as a part of the pace: the least, the most, and so many requests in the longest window. */
const leastRaise = 0.02;
const mostRaise = 0.25;
const raisedRequests = 2;
/** A raise is believed once so many requests more than before were accepted. */
const believedRequests = 3;
/** Below this part of a pace that was refused, raises need not be paid for. */
const near = 0.95;
/** The longest window in which a service is believed to count: a pace is kept for that long before it is raised, ms. */
const windowMs = 60_000;
/** The same while nothing was refused yet. */
const firstMs = 10_000;
/** A refusal of everything for longer than this is an outage, and measures nothing, ms. */
const outageMs = 90_000;
/** How late a request may use its moment, as a part of the spacing: timers are late. */
const latePart = 0.05;
/** Send times of so many requests are remembered. */
const remembered = 256;

/** The service refuses: until it accepts again, one request at a time asks. */
interface Episode {
  /** The next rest, where the service does not say how long. */
  readonly restMs: number;
  readonly restUntil: number;
  /** When the request left whose result is awaited. */
  askedAt: number | undefined;
}

/**
 * Keeps just below the rate at which a service accepts requests, whose limit nobody told. Requests leave at even moments, which no form of
 * limit refuses below its rate.
 *
 * Refusals are an account: each is paid for by 80 accepted requests, and a raise is tried only when all are paid; so of many requests
 * about one in eighty is refused, whatever the service does. The raise is of two requests a minute, but from 2 % to 25 %. It is taken
 * back at its first refusal. Where none comes for a minute, twice as much is tried at once.
 *
 * More than two unpaid refusals, or one after fewer than ten accepted requests, lower the pace. A refusal shows that a window is used up,
 * or a bucket empty: what was accepted from one to the next is what the service accepts in that time, whatever the form of its limit, and
 * the pace becomes 99 % of it. Where too few were accepted to tell, the pace falls by 2 %, then by twice as much each time, up to 32 %.
 *
 * While the service refuses, one request at a time asks again: when the service said, else after one spacing, then after twice as long
 * each time, up to `retry.cap`.
 */
export class FoundPace {
  readonly #wanted: number;
  readonly #longestRestMs: number;
  /** What tells that no pace is to be found. */
  readonly chance = new ChanceRefusals();
  /** Requests per ms. */
  #pace: number;
  /** The pace that was accepted; lower than the pace while a raise is tried. */
  #kept: number;
  /** A pace that was refused; infinite while none was. */
  #refusedPace = Number.POSITIVE_INFINITY;
  #raise = leastRaise;
  #lowering = leastLowering;
  #unpaid = 0;
  #next = Number.NEGATIVE_INFINITY;
  /** Requests and idle time since the pace was set. */
  #sent = 0;
  #idleMs = 0;
  #since: number;
  #episode: Episode | undefined;
  #interval: Interval;
  /** Requests that left before had left before the last refusal was known. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** How long the service takes to refuse. */
  #refusalMs = 0;
  readonly #sentAt: number[] = [];

  /**
   * @param wanted the configured rate, requests per ms
   * @param found the first pace, requests per ms
   * @param now a request was refused now; undefined: an earlier run has found the pace
   * @param longestRestMs between two requests that ask whether the service accepts again
   */
  constructor(wanted: number | undefined, found: number, now: number | undefined, longestRestMs: number) {
    this.#wanted = wanted ?? Number.POSITIVE_INFINITY;
    this.#longestRestMs = longestRestMs;
    this.#pace = this.#within(found);
    this.#kept = this.#pace;
    this.#since = now ?? Number.NEGATIVE_INFINITY;
    this.#interval = intervalFrom(this.#since);
    if (now === undefined) {
      this.#refusedPace = this.#pace;
      return;
    }
    this.#knownAt = now;
    this.#episode = { restMs: 2 * this.#spacing, restUntil: now + this.#spacing, askedAt: undefined };
  }

  /** Requests per ms. */
  get pace(): number {
    return this.#pace;
  }

  /** Requests per ms that the service accepts; undefined: all that are wanted. */
  get found(): number | undefined {
    return this.#kept === this.#wanted ? undefined : this.#kept;
  }

  /** Unix ms from when on the next request may leave. */
  nextAt(): number {
    if (this.#episode !== undefined) {
      const { askedAt, restUntil } = this.#episode;
      // Where a refusal would have come by then, there was none.
      return askedAt === undefined ? restUntil : askedAt + Math.max(this.#spacing, 2 * this.#refusalMs);
    }
    return this.#pace === this.#wanted ? Number.NEGATIVE_INFINITY : this.#next;
  }

  /** A request leaves. @param wantedAt from when on the configured rate allowed it */
  take(now: number, wantedAt: number = Number.NEGATIVE_INFINITY): void {
    if (this.#since === Number.NEGATIVE_INFINITY) {
      this.#since = now;
      this.#interval = intervalFrom(now);
    }
    const earliest = Math.max(this.nextAt(), this.#pausedUntil, wantedAt);
    if (this.#episode === undefined) this.#tryMore(now);
    else if (this.#episode.askedAt === undefined) this.#episode.askedAt = now;
    else this.#endEpisode(this.#episode.askedAt);
    if (Number.isFinite(earliest) && now - earliest > this.#spacing) {
      this.#idleMs += now - earliest;
      this.#interval.idleMs += now - earliest;
    }
    this.#next = Math.max(this.#next, now - latePart * this.#spacing) + this.#spacing;
    this.#sent += 1;
    this.#interval.accepted += 1;
    this.#unpaid = Math.max(0, this.#unpaid - 1 / perRefusal);
    this.#sentAt.push(now);
    if (this.#sentAt.length > remembered) this.#sentAt.shift();
  }

  /** A request that left at `sentAt` was served. */
  served(sentAt: number): void {
    const askedAt = this.#episode?.askedAt;
    if (askedAt !== undefined && sentAt >= askedAt) this.#endEpisode(askedAt);
  }

  /** A request that left at `sentAt` was refused. @param pauseMs how long the service asks to wait */
  refused(now: number, sentAt: number, pauseMs = 0): void {
    this.#refusalMs += (now - sentAt - this.#refusalMs) / 4;
    this.#interval.accepted = Math.max(0, this.#interval.accepted - 1);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    this.#unpaid = Math.min(mostUnpaid, this.#unpaid + 1);
    if (sentAt >= this.#knownAt) {
      this.#knownAt = now;
      if (this.#episode === undefined) this.#beginEpisode(now, sentAt, pauseMs);
      else this.#rest(this.#episode.restMs, now, pauseMs);
    }
    this.#interval.refusals += 1;
  }

  get #spacing(): number {
    return 1 / this.#pace;
  }

  #within(pace: number): number {
    return Math.min(this.#wanted, Math.max(1 / slowestMs, pace));
  }

  #set(pace: number, now: number): void {
    this.#pace = this.#within(pace);
    this.#since = now;
    this.#sent = 0;
    this.#idleMs = 0;
  }

  #beginEpisode(now: number, sentAt: number, pauseMs: number): void {
    const later = this.#sentAt.filter((at) => at > sentAt).length;
    const last = { ...this.#interval, accepted: Math.max(0, this.#interval.accepted - later) };
    this.#interval = intervalFrom(sentAt, later);
    if (this.#pace > this.#kept) this.#takeBack(last, now, sentAt, pauseMs);
    else this.#lower(last, now, sentAt);
    const restUntil = Math.max(sentAt + this.#spacing, now + pauseMs);
    this.#episode = { restMs: this.#spacing, restUntil, askedAt: undefined };
  }

  #rest(restMs: number, now: number, pauseMs: number): void {
    const longer = Math.min(Math.max(this.#longestRestMs, this.#spacing), 2 * restMs);
    this.#episode = { restMs: longer, restUntil: now + (pauseMs > 0 ? pauseMs : restMs), askedAt: undefined };
  }

  /** A request that left at this moment was accepted. */
  #endEpisode(acceptedAt: number): void {
    this.#episode = undefined;
    this.#next = Math.max(this.#next, acceptedAt + this.#spacing);
    this.#interval.endedAt = acceptedAt;
    if (acceptedAt - this.#interval.beganAt > outageMs) this.#interval.beganAt = acceptedAt;
    // What was refused before any pace was known says nothing of this one.
    if (this.#refusedPace === Number.POSITIVE_INFINITY) this.#unpaid = 0;
  }

  /** A raise was refused. */
  #takeBack(last: Interval, now: number, sentAt: number, pauseMs: number): void {
    const { accepted } = last;
    const isPaidFor = this.#isNear(this.#kept);
    if (isPaidFor) {
      const paused = Math.min(mostPaused, pauseMs * this.#pace);
      this.#unpaid = Math.max(this.#unpaid, 1 + (paused * perPaused) / perRefusal);
    }
    this.#refusedPace = isPaidFor ? this.#kept : this.#pace;
    const least = accepted < fewestMeasured ? 0 : used * rateBetween(last, last.beganAt, sentAt);
    this.#kept = Math.max(this.#kept, Math.min(least, (1 - leastLowering) * this.#pace));
    this.#set(this.#kept, now);
  }

  /** The pace itself was refused. */
  #lower(last: Interval, now: number, sentAt: number): void {
    const { accepted, refusals, isRaised } = last;
    // A window that was waited for counts in the first, and not in the second: the limit lies between.
    const [least, most] = [rateBetween(last, last.beganAt, sentAt), rateBetween(last, last.endedAt, sentAt)];
    this.chance.onRefused(this.#pace, accepted, accepted === 0 ? 0 : accepted / least);
    if (accepted >= fewestBorne && this.#unpaid <= mostBorne) return;
    let factor = 1 - this.#lowering;
    if (accepted >= fewestMeasured && !isRaised) {
      // Several refusals in a row show a limit far below, few requests little.
      const lowest = (accepted < fewestBorne ? 1.5 : 1) / (1 + Math.max(1, refusals));
      const limit = Math.min(Math.sqrt(least * most), 1.25 * least);
      factor = Math.min(1 - leastLowering, Math.max(lowest, (used * limit) / this.#pace));
      this.#lowering = leastLowering;
    } else this.#lowering = Math.min(mostLowering, 2 * this.#lowering);
    this.#refusedPace =
      accepted >= wellMeasured && !isRaised ? Math.min(this.#pace, most / near) : this.#pace;
    this.#unpaid = Math.min(1, this.#unpaid);
    this.#set(this.#pace * factor, now);
    this.#kept = this.#pace;
  }

  #isNear(pace: number): boolean {
    return pace >= near * this.#refusedPace;
  }

  #tryMore(now: number): void {
    const ms = now - this.#since - this.#idleMs;
    if (this.#pace === this.#wanted || this.#idleMs > ms) return;
    const isTry = this.#pace > this.#kept;
    if (!this.#isNear(this.#pace)) {
      const isFirst = this.#refusedPace === Number.POSITIVE_INFINITY;
      const raise = Math.min(mostRaise, (this.#refusedPace / this.#pace - 1) / 2);
      if (this.#unpaid > mostBorne || ms < (isFirst ? firstMs : windowMs)) return;
      if (this.#sent < raisedRequests / raise) return;
      this.#raiseBy(raise, now);
      return;
    }
    if (ms < windowMs || (isTry ? this.#sent < believedRequests / this.#raise : this.#unpaid > 0)) return;
    const first = Math.max(leastRaise, raisedRequests / (this.#pace * windowMs));
    this.#raise = Math.min(mostRaise, isTry ? 2 * this.#raise : first);
    this.#raiseBy(this.#raise, now);
    this.#refusedPace = Math.min(this.#refusedPace, this.#kept);
  }

  #raiseBy(part: number, now: number): void {
    this.#kept = this.#pace;
    this.#lowering = leastLowering;
    this.#interval.isRaised = true;
    this.#set(this.#pace * (1 + part), now);
  }
}
