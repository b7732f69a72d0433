import type { Rate } from '../../pipeline/pipeline.ts';
import { WindowCharge, windowMsOf } from './window-charge.ts';

/** How far requests may lag behind even moments and catch up, ms. */
const caughtUpMs = 250;
/** Timers are late by a few ms: to catch up, so much is no reason to wait. */
const timerMs = 5;

/**
 * When the requests of one route may pass to the network, so that in no window of `perMs` more than `count` leave, whatever the time
 * between the two. What left within the window is counted at the moment at which it left, and what has passed and not left as leaving now:
 * of any requests that leave within one window, the last one to pass was counted with all the others.
 *
 * They pass at even moments. After a pause they catch up, up to a quarter of a second, at twice the pace at most.
 */
export class Departures {
  readonly #count: number;
  readonly #spacing: number;
  readonly #left: WindowCharge;
  /** Requests that have passed and not left. */
  #passed = 0;
  #next = Number.NEGATIVE_INFINITY;
  #nextCatchingUp = Number.NEGATIVE_INFINITY;

  constructor(rate: Rate) {
    this.#count = rate.count;
    this.#left = new WindowCharge(windowMsOf(rate));
    this.#spacing = windowMsOf(rate) / rate.count;
  }

  /** How many numbers of requests are remembered. */
  get size(): number {
    return this.#left.size;
  }

  /** Unix ms from when on the next request may pass; not in the future means now, positive infinity: once another has left. */
  nextAt(now: number): number {
    return Math.max(this.#next, this.#nextCatchingUp, this.#left.downTo(this.#count - this.#passed - 1, now));
  }

  /** A request passes. */
  pass(now: number): void {
    const isFirst = this.#next === Number.NEGATIVE_INFINITY;
    this.#next = (isFirst ? now : Math.max(this.#next, now - caughtUpMs)) + this.#spacing;
    this.#nextCatchingUp = Math.max(this.#nextCatchingUp, now - timerMs) + this.#spacing / 2;
    this.#passed += 1;
  }

  /** A request that has passed leaves. */
  leave(now: number): void {
    this.#passed -= 1;
    this.leaveAgain(now);
  }

  /** A request that has left is sent once more. */
  leaveAgain(now: number): void {
    this.#left.add(now, 1);
  }

  /** A request that has passed will not leave. */
  withdraw(): void {
    this.#passed -= 1;
  }
}
