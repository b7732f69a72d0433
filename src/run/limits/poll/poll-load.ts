import type { Rate } from '../../../pipeline/pipeline.ts';

/** Polls of unfinished tasks in a second, where `limits.poll` says nothing. */
const mostPollsPerSecond = 100;
/** Over how many windows the load is measured. */
const windowsOfMemory = 5;
/** The part of the bound that the stretched polls are to use. */
const usedShare = 0.9;
/** How often the line of all polls that are due may pass before a stretched one comes, however rarely its task wishes to be polled. */
const mostLines = 4;

/**
 * Keeps the polls of many tasks within a bound. Where all intervals together would exceed the bound, they are stretched in the same
 * ratio; and no window is given more polls than the bound, whatever the load was thought to be. A window is a second, or the time of one
 * poll where the bound is less than one a second. The first poll of a task does not count: there is only one, and a task that is finished
 * is not to wait for others.
 */
export class PollLoad {
  /** The bound. */
  readonly perSecond: number;
  readonly #windowMs: number;
  /** Polls in a window at most. */
  readonly #most: number;
  /** Polls a second that the tasks wish, on average over the memory. */
  #demand = 0;
  #at = Number.NEGATIVE_INFINITY;
  /** Polls that are due in each window from now on. */
  readonly #due = new Map<number, number>();

  constructor(limit: Rate | undefined) {
    this.perSecond = limit === undefined ? mostPollsPerSecond : (limit.count / limit.perMs) * 1000;
    this.#windowMs = Math.max(1000, 1000 / this.perSecond);
    this.#most = Math.max(1, Math.floor((this.perSecond * this.#windowMs) / 1000));
  }

  /** Factor on all intervals now. */
  get stretch(): number {
    return Math.max(1, this.#demand / (usedShare * this.perSecond));
  }

  /** Milliseconds until the next poll of a task that would be polled again in `wishMs`. Finite, and bounded by the polls that are due. */
  waitMs(wishMs: number, now: number): number {
    const memoryMs = windowsOfMemory * this.#windowMs;
    this.#demand *= Math.exp(-Math.max(0, now - this.#at) / memoryMs);
    this.#at = now;
    const longestMs = wishMs + mostLines * this.#lineMs(now);
    const at = this.#reserve(now + Math.min(wishMs * this.stretch, longestMs));
    // A task whose interval is stretched twice comes by half as often, and counts twice.
    const stretched = wishMs > 0 ? (at - now) / wishMs : 1;
    this.#demand += (stretched * 1000) / memoryMs;
    return at - now;
  }

  /** How long all polls that are due take, and one more. */
  #lineMs(now: number): number {
    const current = Math.floor(now / this.#windowMs);
    let polls = 1;
    for (const [window, due] of this.#due) {
      if (window < current) this.#due.delete(window);
      else polls += due;
    }
    return (polls * 1000) / this.perSecond;
  }

  /** The first moment from `at` on whose window has room for one more poll. */
  #reserve(at: number): number {
    let window = Math.floor(at / this.#windowMs);
    while ((this.#due.get(window) ?? 0) >= this.#most) window += 1;
    this.#due.set(window, (this.#due.get(window) ?? 0) + 1);
    return Math.max(at, window * this.#windowMs);
  }
}
