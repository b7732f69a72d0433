import type { Rate } from '../pipeline/pipeline.ts';

/** A rate that is learned or lowered never falls below one request in this time. */
const slowestMs = 60_000;
/** What a rate falls to when the service refuses. */
const lowering = 0.5;
/** What it rises by for each quiet period. */
const raising = 1.25;
const quietMs = 30_000;
/** How far back the pace of an unlimited route is looked at when it is refused for the first time. */
const lookBackMs = 10_000;
const remembered = 64;

/**
 * Spaces the requests of one route: never more than `count` in any window of `perMs`, evenly spread, lowered when
 * the service says 429 and raised again slowly. Without a rate of its own it is unlimited until the first refusal,
 * which sets a rate of half of what was sent lately.
 */
export class RateLimiter {
  readonly #wanted: number | undefined;
  /** Milliseconds between two requests now; undefined: unlimited. */
  #spacing: number | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #quietSince = 0;
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
    const current = this.#spacing ?? this.#observedSpacing(now);
    this.#spacing = Math.min(slowestMs, current / lowering);
    this.#quietSince = now;
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

  #observedSpacing(now: number): number {
    const lately = this.#recent.filter((at) => now - at <= lookBackMs).length;
    return lookBackMs / Math.max(1, lately);
  }
}
