import type { Rate } from '../../../pipeline/pipeline.ts';
import type { Moments } from '../../ports.ts';
import { EvenMoments, graceMs, type Sent } from '../even-moments.ts';

/** A rate that is learned or lowered never falls below one request in this time. */
const slowestMs = 60_000;
/** Tolerated share of refusals: a larger share lowers the pace, sooner the larger it is. */
const borneShare = 0.2;
/** This many refusals beyond the share lower the pace; more than half as many stop a rise. */
const tooMany = 6;
/** Factor on the rate when too many requests are refused. */
const lowering = 0.55;
/** Refusals within this time after a lowering belong to the pace before. */
const settleMs = 5000;
/** After this many requests the pace rises, by `raising`. */
const step = 20;
const raising = 1.03;
/** This time and this many requests without a refusal raise the pace too, by `quietRaising` beyond the pace that was last too much. */
const quietMs = 30_000;
const quietRequests = 8;
const quietRaising = 1.25;
/** How many of the last requests measure the pace of an unlimited route, and the fewest that do. */
const remembered = 64;
const fewestMeasured = 8;

/**
 * Spaces the requests of one route: never more than `count` in any window of `perMs`, evenly spread, lowered when
 * the service answers too many of them with 429, and raised again slowly. A route without a rate of its own is unlimited
 * until then; the first lowering sets it to about half of its recent pace.
 *
 * The law: the share of refused requests counts, as a service may refuse some at any pace (gateway 8.2: temporary
 * saturation). Every refusal adds 1 to a sum and every request that leaves subtracts 0.2, never below 0. At 6 the pace falls to
 * 0.55 of itself and the sum begins again at 0. Every 20 requests the pace rises by 3 % of itself, while the sum is not above 3;
 * also after 30 s and 8 requests without a refusal, and then by 25 % once it is beyond the pace that was last too much.
 *
 * Consequences: a service that refuses up to 15 % at any pace still gets more than half of the requests of the undisturbed
 * pace, and usually nearly all. A service that accepts a fixed number a minute and refuses the others gets 0.7 to 1.0 of that
 * number, with about 15 % of refusals at most. Requests are counted when they leave, not when they are answered: a refusal
 * comes at once, a text after a minute.
 */
export class RateLimiter implements Moments {
  readonly #wanted: number | undefined;
  /** The moments of the configured rate. */
  readonly #moments: EvenMoments | undefined;
  /** Milliseconds between two requests now; undefined: unlimited. */
  #spacing: number | undefined;
  /** The spacing that was last too short; undefined once the pace is beyond it again. */
  #tooFast: number | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** Sum of refusals beyond the tolerated share. */
  #excess = 0;
  #loweredAt = Number.NEGATIVE_INFINITY;
  /** Requests and refusals since the pace was last changed or confirmed. */
  #sent = 0;
  #refused = 0;
  #since = 0;
  #everSent = 0;
  readonly #recent: number[] = [];

  /**
   * @param before what earlier runs sent within the window
   * @param lateMs how late a moment of the configured rate may be used
   * @param learned the requests a minute that an earlier run found
   */
  constructor(
    rate: Rate | undefined,
    before: readonly Sent[] = [],
    lateMs: number = rate === undefined ? 0 : graceMs(rate),
    learned?: number,
  ) {
    this.#moments = rate === undefined ? undefined : new EvenMoments(rate, before, lateMs);
    this.#wanted = rate === undefined ? undefined : rate.perMs / rate.count;
    this.#spacing = this.#wanted;
    if (learned !== undefined && learned > 0)
      this.#spacing = Math.max(this.#wanted ?? 0, Math.min(slowestMs, 60_000 / learned));
  }

  /** Unix ms from when on the configured rate allows the next request. */
  momentAt(): number {
    return this.#moments?.nextAt() ?? Number.NEGATIVE_INFINITY;
  }

  /** Unix ms from when on the next request may leave; not in the future means now. */
  nextAt(): number {
    const at = this.momentAt();
    const isLearned = this.#spacing !== undefined && this.#spacing !== this.#wanted;
    return isLearned ? Math.max(at, this.#lastAt + (this.#spacing ?? 0)) : at;
  }

  /** Takes the turn that `nextAt` offered. */
  take(now: number): void {
    this.#raise(now);
    this.#moments?.take(now);
    this.#lastAt = now;
    this.#sent += 1;
    this.#everSent += 1;
    if (!this.#isSettling(now)) this.#excess = Math.max(0, this.#excess - borneShare);
    this.#recent.push(now);
    if (this.#recent.length > remembered) this.#recent.shift();
  }

  /**
   * Notes a refusal for too many requests.
   *
   * @returns false for one of few refusals: the pace alone is enough, and the route needs no pause
   */
  refused(now: number): boolean {
    if (this.#isSettling(now)) return true;
    this.#refused += 1;
    this.#excess += 1;
    if (this.#excess < tooMany) return this.#everSent < step;
    const current = this.#spacing ?? this.#observedSpacing(now);
    if (current !== undefined) {
      this.#tooFast = current;
      this.#spacing = Math.max(this.#wanted ?? 0, Math.min(slowestMs, current / lowering));
    }
    this.#excess = 0;
    this.#loweredAt = now;
    this.#begin(now);
    return true;
  }

  /** Goes on at this many requests a minute, whatever was refused before. */
  resume(perMinute: number, now: number): void {
    this.#spacing = Math.max(this.#wanted ?? 0, Math.min(slowestMs, 60_000 / perMinute));
    this.#tooFast = undefined;
    this.#excess = 0;
    this.#begin(now);
  }

  /** Requests per minute now; undefined: unlimited. */
  get perMinute(): number | undefined {
    return this.#spacing === undefined ? undefined : 60_000 / this.#spacing;
  }

  /** Requests a minute that the service accepts, where a run has found that; undefined: it refused none. */
  get learned(): number | undefined {
    return this.#spacing === this.#wanted ? undefined : this.perMinute;
  }

  #isSettling(now: number): boolean {
    return now - this.#loweredAt < settleMs;
  }

  #raise(now: number): void {
    if (this.#spacing === undefined || this.#spacing === this.#wanted) return;
    const isQuiet = this.#refused === 0 && this.#sent >= quietRequests && now - this.#since >= quietMs;
    if (!isQuiet && this.#sent < step) return;
    if (this.#excess <= tooMany / 2) {
      const isBeyond = this.#tooFast === undefined || this.#spacing < this.#tooFast;
      if (isBeyond) this.#tooFast = undefined;
      const faster = this.#spacing / (isQuiet && isBeyond ? quietRaising : raising);
      this.#spacing = this.#wanted === undefined ? faster : Math.max(this.#wanted, faster);
    }
    this.#begin(now);
  }

  #begin(now: number): void {
    this.#sent = 0;
    this.#refused = 0;
    this.#since = now;
  }

  /** Spacing of the last requests; undefined where they are too few: the route's pauses must suffice. */
  #observedSpacing(now: number): number | undefined {
    const oldest = this.#recent[0];
    if (oldest === undefined || this.#recent.length < fewestMeasured) return undefined;
    return Math.max(1, now - oldest) / this.#recent.length;
  }
}
