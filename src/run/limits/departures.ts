import type { Rate } from '../../pipeline/pipeline.ts';
import { WindowCharge, windowMsOf } from './window-charge.ts';

/** How far requests that lag behind their schedule may catch up, ms. */
const caughtUpMs = 250;
/** Allowed timer delay: a wait shorter than this is skipped, ms. */
const timerMs = 5;

/**
 * Send times for the requests of one route: no window of `perMs` contains more than `count` sends, whatever the delay between gate and
 * network. A sent request counts at the time it was sent; a request that passed the gate but was not sent counts as sent now. So of all
 * requests sent within one window, the last one to pass the gate was counted with all others.
 *
 * Requests are spaced evenly. After a pause they catch up by at most a quarter of a second, at no more than twice the rate.
 */
export class Departures {
  readonly #count: number;
  readonly #spacing: number;
  readonly #left: WindowCharge;
  /** Number of requests that passed the gate and were not sent yet. */
  #passed = 0;
  #next = Number.NEGATIVE_INFINITY;
  #nextCatchingUp = Number.NEGATIVE_INFINITY;

  constructor(rate: Rate) {
    this.#count = rate.count;
    this.#left = new WindowCharge(windowMsOf(rate));
    this.#spacing = windowMsOf(rate) / rate.count;
  }

  /** Number of stored entries. */
  get size(): number {
    return this.#left.size;
  }

  /** Unix ms from which the next request may pass; a past time means now, positive infinity: only after another one is sent. */
  nextAt(now: number): number {
    return Math.max(this.#next, this.#nextCatchingUp, this.#left.downTo(this.#count - this.#passed - 1, now));
  }

  /** Notes that a request passes the gate. */
  pass(now: number): void {
    const isFirst = this.#next === Number.NEGATIVE_INFINITY;
    this.#next = (isFirst ? now : Math.max(this.#next, now - caughtUpMs)) + this.#spacing;
    this.#nextCatchingUp = Math.max(this.#nextCatchingUp, now - timerMs) + this.#spacing / 2;
    this.#passed += 1;
  }

  /** Notes that a request which passed the gate is sent. */
  leave(now: number): void {
    this.#passed -= 1;
    this.leaveAgain(now);
  }

  /** Notes that a request which was sent is sent once more. */
  leaveAgain(now: number): void {
    this.#left.add(now, 1);
  }

  /** Notes that a request which passed the gate will not be sent. */
  withdraw(): void {
    this.#passed -= 1;
  }
}
