import type { Rate } from '../pipeline/pipeline.ts';

/** A rate that is learned or lowered never falls below one request in this time. */
const slowestMs = 60_000;
/** What a rate falls to when the service refuses. */
const lowering = 0.5;
/** What it rises by for each quiet period. */
const raising = 1.25;
const quietMs = 30_000;
/** Refusals within this time are answers to the same pace: they lower it once. */
const settleMs = 5000;
/** How many requests the pace of an unlimited route is read from, and the fewest that tell one. */
const remembered = 64;
const telling = 8;

/**
 * Spaces the requests of one route: never more than `count` in any window of `perMs`, evenly spread, lowered when
 * the service says 429 and raised again slowly. Without a rate of its own it is unlimited until a refusal, which sets
 * it to half of what was sent lately.
 */
export class RateLimiter {
  readonly #wanted: number | undefined;
  /** Milliseconds between two requests now; undefined: unlimited. */
  #spacing: number | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #quietSince = 0;
  #loweredAt = Number.NEGATIVE_INFINITY;
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
    this.#recent.push(now);
    if (this.#recent.length > remembered) this.#recent.shift();
  }

  /** The service refused for being asked too often. */
  lower(now: number): void {
    this.#quietSince = now;
    if (now - this.#loweredAt < settleMs) return;
    const current = this.#spacing ?? this.#observedSpacing(now);
    if (current === undefined) return;
    this.#loweredAt = now;
    this.#spacing = Math.min(slowestMs, current / lowering);
  }

  /** Requests per minute now; undefined: unlimited. */
  get perMinute(): number | undefined {
    return this.#spacing === undefined ? undefined : 60_000 / this.#spacing;
  }

  #raise(now: number): void {
    if (this.#spacing === undefined || this.#spacing === this.#wanted) return;
    if (now - this.#quietSince < quietMs) return;
    this.#quietSince = now;
    const faster = this.#spacing / raising;
    this.#spacing = this.#wanted === undefined ? faster : Math.max(this.#wanted, faster);
  }

  /** Of the last requests; undefined where they are too few to tell, and the route's pauses have to do. */
  #observedSpacing(now: number): number | undefined {
    const oldest = this.#recent[0];
    if (oldest === undefined || this.#recent.length < telling) return undefined;
    return Math.max(1, now - oldest) / this.#recent.length;
  }
}
