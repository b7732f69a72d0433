import type { Rate } from '../../../pipeline/pipeline.ts';
import type { Moments } from '../../ports.ts';
import type { Sent } from '../even-moments.ts';
import { FoundPace } from './found-pace.ts';
import { RateLimiter } from './rate.ts';

const minuteMs = 60_000;
/** So many requests that were served after a refusal, up to another one, show a pace. */
const fewestMeasured = 10;
/** A pace is looked for once the service says when to ask again, or the steady pace was lowered, or after so many requests. */
const firstRest = 300;
/** After so many requests it is looked for again, where there was none to find; then after twice as many each time. */
const nextRest = 1200;
const longestRest = 16_000;
/** For this time after another route was refused, the service may have one limit for both. */
const sharedMs = 300_000;
/** The part by which each request makes the pace less that is gone back to where there is none to find. */
const faded = 0.0003;
/** Refusals by chance are seen where more than this part of what is sent is accepted. */
const mostlyAccepted = 1.2;

/** The first refusal, and what was served since. */
interface Measure {
  readonly at: number;
  served: number;
  /** How long the last served request took. */
  lagMs: number;
}

/**
 * The pace of one route: that which {@link FoundPace} keeps, once two refusals have shown what the service accepts between them, and
 * for as long as lower paces end the refusals; else that of {@link RateLimiter}, which lives with some refusals at any pace. A pace
 * cannot be found where requests are refused by chance, or where requests of other routes use the same limit.
 */
export class RoutePace implements Moments {
  readonly #steady: RateLimiter;
  readonly #wanted: number | undefined;
  readonly #longestRestMs: number | undefined;
  /** Undefined while no pace is known. */
  #found: FoundPace | undefined;
  #measure: Measure | undefined;
  /** Requests until a pace may be looked for. */
  #rest = firstRest;
  #nextRest = nextRest;
  /** Requests a minute before a pace was found; less with each request since. */
  #before = 0;
  #sharedUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param longestRestMs of a found pace, between two requests that ask whether the service accepts again; absent: no pace is looked for
   * @param before what earlier runs sent within the window
   * @param lateMs how late a moment of the configured rate may be used
   * @param learned the requests a minute that an earlier run found
   */
  constructor(
    longestRestMs: number | undefined,
    rate: Rate | undefined,
    before?: readonly Sent[],
    lateMs?: number,
    learned?: number,
  ) {
    this.#longestRestMs = longestRestMs;
    this.#steady = new RateLimiter(rate, before, lateMs, learned);
    this.#wanted = rate === undefined ? undefined : rate.count / rate.perMs;
    if (this.#steady.learned !== undefined) this.#find(this.#steady.learned / minuteMs, undefined);
  }

  /** True while the pace is one that was found. */
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
    this.#before *= 1 - faded;
  }

  /** A request that left at `sentAt` was served. */
  served(now: number, sentAt: number): void {
    this.#found?.served(sentAt);
    if (this.#measure === undefined || sentAt < this.#measure.at) return;
    this.#measure.served += 1;
    this.#measure.lagMs = now - sentAt;
  }

  /**
   * A request that left at `sentAt` was refused for too many requests.
   *
   * @param pauseMs how long the service asks to wait
   * @returns false for one of few refusals: the pace alone is enough, and the route needs no pause
   */
  refused(now: number, sentAt: number, pauseMs = 0): boolean {
    const { perMinute } = this.#steady;
    const isTooMuch = this.#steady.refused(now);
    const isLimit = pauseMs > 0 || this.#steady.perMinute !== perMinute;
    if (isLimit && this.#nextRest === nextRest) this.#rest = 0;
    if (this.#found === undefined) {
      if (this.#rest === 0 && now >= this.#sharedUntil) this.#look(now, sentAt);
      return isTooMuch;
    }
    this.#found.refused(now, sentAt, pauseMs);
    if (this.#found.chance.isProven) this.#giveUp(this.#found, now);
    return false;
  }

  /** Another route was refused, which may use the same limit. */
  refusedElsewhere(now: number): void {
    this.#sharedUntil = now + sharedMs;
    if (this.#found !== undefined) this.#steady.resume(this.#found.pace * minuteMs, now);
    this.#found = undefined;
    this.#measure = undefined;
  }

  /** Requests per minute now; undefined: unlimited. */
  get perMinute(): number | undefined {
    return this.#found === undefined ? this.#steady.perMinute : this.#found.pace * minuteMs;
  }

  /** Requests a minute that the service accepts, where a run has found that; undefined: it accepts what is wanted. */
  get learned(): number | undefined {
    if (this.#found === undefined) return this.#steady.learned;
    return this.#found.found === undefined ? undefined : this.#found.found * minuteMs;
  }

  /** Two refusals with enough served requests between them show a pace. */
  #look(now: number, sentAt: number): void {
    this.#measure ??= { at: sentAt, served: 0, lagMs: 0 };
    const { at, served, lagMs } = this.#measure;
    // What left within the lag is not served yet.
    if (served >= fewestMeasured) this.#find(served / Math.max(1, sentAt - at - lagMs), now);
  }

  #find(pace: number, now: number | undefined): void {
    if (this.#longestRestMs === undefined) return;
    this.#before = this.#steady.perMinute ?? pace * minuteMs;
    this.#found = new FoundPace(this.#wanted, pace, now, this.#longestRestMs);
    this.#measure = undefined;
  }

  #giveUp({ chance }: FoundPace, now: number): void {
    this.#steady.resume(Math.max(this.#before, mostlyAccepted * chance.shown * minuteMs), now);
    this.#found = undefined;
    this.#rest = this.#nextRest;
    this.#nextRest = Math.min(longestRest, 2 * this.#nextRest);
  }
}
