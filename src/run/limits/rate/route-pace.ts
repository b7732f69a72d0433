import type { Rate } from '../../../pipeline/pipeline.ts';
import type { Moments } from '../../ports.ts';
import type { Sent } from '../even-moments.ts';
import { FoundPace } from './found-pace.ts';
import { RateLimiter } from './rate.ts';

const minuteMs = 60_000;
/** After so many requests, a pace may be looked for again; after each failure twice as many. */
const firstRest = 300;
const longestRest = 16_000;
/** For this time after a route without a found pace was refused, the service may have one limit for both. */
const sharedMs = 300_000;

/**
 * The pace of one route: that which {@link FoundPace} finds, for as long as refusals are rare at it; else that of {@link RateLimiter},
 * which lives with some refusals at any pace. A pace cannot be found where requests are refused by chance, or where requests of other
 * routes use the same limit.
 */
export class RoutePace implements Moments {
  readonly #steady: RateLimiter;
  readonly #wanted: number | undefined;
  /** Undefined while no pace is looked for. */
  #found: FoundPace | undefined;
  /** Requests until a pace may be looked for again. */
  #rest = 0;
  #nextRest = firstRest;
  #sharedUntil = Number.NEGATIVE_INFINITY;
  readonly #finds: boolean;

  /**
   * @param finds true: looks for the pace that the service accepts
   * @param before what earlier runs sent within the window
   * @param lateMs how late a moment of the configured rate may be used
   * @param learned the requests a minute that an earlier run found
   */
  constructor(
    finds: boolean,
    rate: Rate | undefined,
    before?: readonly Sent[],
    lateMs?: number,
    learned?: number,
  ) {
    this.#steady = new RateLimiter(rate, before, lateMs, learned);
    this.#wanted = rate === undefined ? undefined : rate.count / rate.perMs;
    this.#finds = finds;
    this.#look();
  }

  /** True while the pace is one that is looked for, or found. */
  get isFound(): boolean {
    return this.#found !== undefined;
  }

  /** Unix ms from when on the next request may leave; not in the future means now. */
  nextAt(): number {
    if (this.#found === undefined) return this.#steady.nextAt();
    return Math.max(this.#steady.momentAt(), this.#found.nextAt());
  }

  /** Takes the turn that `nextAt` offered. */
  take(now: number): void {
    this.#found?.take(now, this.#steady.momentAt());
    this.#steady.take(now);
    this.#rest = Math.max(0, this.#rest - 1);
  }

  /** A request that left at `sentAt` was served. */
  served(now: number, sentAt: number): void {
    this.#found?.served(now, sentAt);
  }

  /**
   * A request that left at `sentAt` was refused for too many requests.
   *
   * @param pauseMs how long the service asks to wait
   * @returns false for one of few refusals: the pace alone is enough, and the route needs no pause
   */
  refused(now: number, sentAt: number, pauseMs?: number): boolean {
    const isTooMuch = this.#steady.refused(now);
    if (this.#found === undefined) {
      if (this.#rest === 0 && now >= this.#sharedUntil) this.#look();
      return isTooMuch;
    }
    this.#found.refused(now, sentAt, pauseMs);
    if (!this.#found.chance.isProven) return this.#found.pace === undefined;
    this.#giveUp(this.#found, now);
    return false;
  }

  /** A route without a found pace was refused, which may have the same limit. */
  refusedElsewhere(now: number): void {
    this.#sharedUntil = now + sharedMs;
    this.#found = undefined;
  }

  /** Requests per minute now; undefined: unlimited. */
  get perMinute(): number | undefined {
    return this.#found === undefined ? this.#steady.perMinute : perMinute(this.#found.pace);
  }

  /** Requests a minute that the service accepts, where a run has found that; undefined: it accepts what is wanted. */
  get learned(): number | undefined {
    return this.#found === undefined ? this.#steady.learned : perMinute(this.#found.found);
  }

  #look(): void {
    if (!this.#finds) return;
    const { learned } = this.#steady;
    this.#found = new FoundPace(this.#wanted, learned === undefined ? undefined : learned / minuteMs);
  }

  #giveUp(found: FoundPace, now: number): void {
    const pace = perMinute(found.chance.paceBefore);
    if (pace !== undefined) this.#steady.resume(pace, now);
    this.#found = undefined;
    this.#rest = this.#nextRest;
    this.#nextRest = Math.min(longestRest, 2 * this.#nextRest);
  }
}

const perMinute = (pace: number | undefined): number | undefined =>
  pace === undefined ? undefined : pace * minuteMs;
