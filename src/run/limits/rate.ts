import type { Rate } from '../../pipeline/pipeline.ts';
import type { Moments } from '../ports.ts';

/** A rate that is learned or lowered never falls below one request in this time. */
const slowestMs = 60_000;
/** A share of refusals that is borne: one beyond it lowers the pace, sooner the further beyond. */
const borneShare = 0.2;
/** So many refusals beyond that share lower the pace; while there are half of them it is not raised. */
const tooMany = 6;
/** What a rate falls to when too many are refused. */
const lowering = 0.55;
/** Refusals that come so soon after it was lowered are answers to the pace before. */
const settleMs = 5000;
/** After so many requests the pace is raised, by little. */
const step = 20;
const raising = 1.03;
/** So much time and so many requests without any refusal raise it too; beyond the pace that was once too much, by more. */
const quietMs = 30_000;
const quietRequests = 8;
const quietRaising = 1.25;
/** How many requests the pace of an unlimited route is read from, and the fewest that tell one. */
const remembered = 64;
const telling = 8;

/**
 * Spaces the requests of one route: never more than `count` in any window of `perMs`, evenly spread, lowered when
 * the service says 429 to too many of them and raised again slowly. Without a rate of its own it is unlimited until that
 * happens, which sets it to about half of what was sent lately.
 *
 * The law: what counts is the share of requests that is refused, as a service may refuse some at any pace (gateway 8.2:
 * temporary saturation). Every refusal adds 1 to a sum and every request that leaves takes 0.2 off it, never below 0. At 6
 * the pace falls to 0.55 of itself and the sum begins again. Every 20 requests the pace rises by 3 % of itself, while the sum is
 * not above 3; also after 30 s and 8 requests without a refusal, and then by 25 % once it is beyond the pace that was last too much.
 *
 * What follows: a service that refuses up to 15 % at any pace still gets more than half of the requests that it would get at the
 * undisturbed pace, and nearly all as a rule; of one that takes so many a minute and refuses the others, 0.7 to 1.0 of
 * that number are used, with about 15 % of refusals at most. Requests are counted when they leave, not when they are
 * answered: a refusal comes at once, a text after a minute.
 */
export class RateLimiter implements Moments {
  readonly #wanted: number | undefined;
  /** Milliseconds between two requests now; undefined: unlimited. */
  #spacing: number | undefined;
  /** The one that was last lowered from; undefined once it is left behind. */
  #tooFast: number | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** Refusals beyond the share that is borne. */
  #excess = 0;
  #loweredAt = Number.NEGATIVE_INFINITY;
  /** Of the pace as it is, since it was last changed or left as it was. */
  #sent = 0;
  #refused = 0;
  #since = 0;
  #everSent = 0;
  readonly #recent: number[] = [];

  constructor(rate: Rate | undefined) {
    this.#wanted = rate === undefined ? undefined : rate.perMs / rate.count;
    this.#spacing = this.#wanted;
  }

  /** Unix ms from when on the next request may leave; not in the future means now. */
  nextAt(): number {
    return this.#spacing === undefined ? Number.NEGATIVE_INFINITY : this.#lastAt + this.#spacing;
  }

  /** Takes the turn that `nextAt` offered. */
  take(now: number): void {
    this.#raise(now);
    this.#lastAt = now;
    this.#sent += 1;
    this.#everSent += 1;
    if (!this.#isSettling(now)) this.#excess = Math.max(0, this.#excess - borneShare);
    this.#recent.push(now);
    if (this.#recent.length > remembered) this.#recent.shift();
  }

  /**
   * The service refused for being asked too often.
   *
   * @returns false where the refusal is one of few, and nothing more than the pace is needed
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

  /** Requests per minute now; undefined: unlimited. */
  get perMinute(): number | undefined {
    return this.#spacing === undefined ? undefined : 60_000 / this.#spacing;
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

  /** Of the last requests; undefined where they are too few to tell, and the route's pauses have to do. */
  #observedSpacing(now: number): number | undefined {
    const oldest = this.#recent[0];
    if (oldest === undefined || this.#recent.length < telling) return undefined;
    return Math.max(1, now - oldest) / this.#recent.length;
  }
}
