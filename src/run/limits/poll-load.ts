import type { Rate } from '../../pipeline/pipeline.ts';

/** Largest number of polls per second where `limits.poll` is not set. */
const maxPollsPerSecond = 100;
/** Number of windows over which the load is measured. */
const windowsOfMemory = 5;
/** Share of the limit that stretched polls use. */
const usedShare = 0.9;
/** Maximum delay of a stretched poll, as a multiple of the time that all due polls take, however long its own interval is. */
const maxLines = 4;

/**
 * Limits the polls of many tasks. Where all intervals together would exceed the limit, they are stretched by the same factor, and no window
 * gets more polls than the limit. A window is one second, or the time of one poll where the limit is below one a second. A task's first
 * poll does not count: there is only one, and a finished task should not wait for others.
 */
export class PollLoad {
  /** The limit, in polls per second. */
  readonly perSecond: number;
  readonly #windowMs: number;
  /** Largest number of polls in a window. */
  readonly #max: number;
  /** Polls per second that the tasks would have without the limit, averaged over the measured windows. */
  #demand = 0;
  #at = Number.NEGATIVE_INFINITY;
  /** Number of polls due in each window from now on. */
  readonly #due = new Map<number, number>();

  constructor(limit: Rate | undefined) {
    this.perSecond = limit === undefined ? maxPollsPerSecond : (limit.count / limit.perMs) * 1000;
    this.#windowMs = Math.max(1000, 1000 / this.perSecond);
    this.#max = Math.max(1, Math.floor((this.perSecond * this.#windowMs) / 1000));
  }

  /** Current factor on all poll intervals. */
  get stretch(): number {
    return Math.max(1, this.#demand / (usedShare * this.perSecond));
  }

  /** Returns the milliseconds until the next poll of a task whose own interval is `wishMs`. Finite: the due polls bound it. */
  waitMs(wishMs: number, now: number): number {
    const memoryMs = windowsOfMemory * this.#windowMs;
    this.#demand *= Math.exp(-Math.max(0, now - this.#at) / memoryMs);
    this.#at = now;
    const longestMs = wishMs + maxLines * this.#lineMs(now);
    const at = this.#reserve(now + Math.min(wishMs * this.stretch, longestMs));
    // A task whose interval is doubled polls half as often, so its poll counts twice.
    const stretched = wishMs > 0 ? (at - now) / wishMs : 1;
    this.#demand += (stretched * 1000) / memoryMs;
    return at - now;
  }

  /** Time that all due polls take, and one more. */
  #lineMs(now: number): number {
    const current = Math.floor(now / this.#windowMs);
    let polls = 1;
    for (const [window, due] of this.#due) {
      if (window < current) this.#due.delete(window);
      else polls += due;
    }
    return (polls * 1000) / this.perSecond;
  }

  /** Reserves a poll in the first window from `at` on that is not full. @returns its time */
  #reserve(at: number): number {
    let window = Math.floor(at / this.#windowMs);
    while ((this.#due.get(window) ?? 0) >= this.#max) window += 1;
    this.#due.set(window, (this.#due.get(window) ?? 0) + 1);
    return Math.max(at, window * this.#windowMs);
  }
}
