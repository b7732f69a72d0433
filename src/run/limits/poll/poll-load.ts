import type { Rate } from '../../../pipeline/pipeline.ts';

/** Polls of unfinished tasks in a second, where `limits.poll` says nothing. */
const mostPollsPerSecond = 100;
/** Over how long the load is measured, ms. */
const memoryMs = 5000;
/** The part of the bound that the stretched polls are to use. */
const usedShare = 0.9;

/**
 * Keeps the polls of many tasks within a bound. Where all intervals together would exceed the bound, they are stretched in the same
 * ratio; and no second is given more polls than the bound, whatever the load was thought to be. The first poll of a task does not
 * count: there is only one, and a task that is finished is not to wait for others.
 */
export class PollLoad {
  /** The bound. */
  readonly perSecond: number;
  /** Polls a second that the intervals would make without a stretch, on average over the memory. */
  #demand = 0;
  #at = Number.NEGATIVE_INFINITY;
  /** Polls that are due in each second from now on. */
  readonly #due = new Map<number, number>();

  constructor(limit: Rate | undefined) {
    this.perSecond = limit === undefined ? mostPollsPerSecond : (limit.count / limit.perMs) * 1000;
  }

  /** Factor on all intervals now. */
  get stretch(): number {
    return Math.max(1, this.#demand / (usedShare * this.perSecond));
  }

  /** Milliseconds until the next poll of a task that would be polled again in `wishMs`. */
  waitMs(wishMs: number, now: number): number {
    const { stretch } = this;
    // A task whose interval is stretched twice comes by half as often, and counts twice.
    const elapsed = Math.max(0, now - this.#at);
    this.#demand = this.#demand * Math.exp(-elapsed / memoryMs) + (stretch * 1000) / memoryMs;
    this.#at = now;
    return this.#reserve(now + wishMs * stretch, now) - now;
  }

  /** The first moment from `at` on whose second has room for one more poll. */
  #reserve(at: number, now: number): number {
    for (const second of this.#due.keys()) if (second < Math.floor(now / 1000)) this.#due.delete(second);
    const most = Math.max(1, Math.floor(this.perSecond));
    let second = Math.floor(at / 1000);
    while ((this.#due.get(second) ?? 0) >= most) second += 1;
    this.#due.set(second, (this.#due.get(second) ?? 0) + 1);
    return Math.max(at, second * 1000);
  }
}
