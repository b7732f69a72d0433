import type { Rate } from '../../pipeline/pipeline.ts';
import { graceMs } from './even-moments.ts';

/** What leaves within this part of a window is counted together, so that the log of 100,000 an hour stays short. */
const parts = 1024;

/** How far requests may lag behind even moments and catch up, ms. */
const caughtUpMs = 250;
/** Timers are late by a few ms: to catch up, so much is no reason to wait. */
const timerMs = 5;

/** Requests that left at nearly the same time. */
interface Part {
  readonly from: number;
  /** When the last one of them is out of the window. */
  until: number;
  count: number;
}

/**
 * When the requests of one route may pass to the network, so that in no window of `perMs` more than `count` leave, whatever the time
 * between the two. What left within the window is counted at the moment at which it left, and what has passed and not left as leaving now:
 * of any requests that leave within one window, the last one to pass was counted with all the others.
 *
 * They pass at even moments. After a pause they catch up, up to a quarter of a second, at twice the pace at most.
 */
export class Departures {
  readonly #count: number;
  readonly #windowMs: number;
  readonly #partMs: number;
  readonly #spacing: number;
  #parts: Part[] = [];
  /** Requests in the parts. */
  #left = 0;
  /** Requests that have passed and not left. */
  #passed = 0;
  #next = Number.NEGATIVE_INFINITY;
  #nextCatchingUp = Number.NEGATIVE_INFINITY;

  constructor(rate: Rate) {
    this.#count = rate.count;
    // The ways of two requests to the service are not equally long.
    this.#windowMs = rate.perMs + graceMs(rate) / 2;
    this.#partMs = rate.perMs / parts;
    this.#spacing = this.#windowMs / rate.count;
  }

  /** How many numbers of requests are remembered. */
  get size(): number {
    return this.#parts.length;
  }

  /** Unix ms from when on the next request may pass; not in the future means now, positive infinity: once another has left. */
  nextAt(now: number): number {
    return Math.max(this.#next, this.#nextCatchingUp, this.#roomAt(now));
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
    const until = now + this.#windowMs;
    const last = this.#parts.at(-1);
    if (last !== undefined && now - last.from < this.#partMs) {
      last.count += 1;
      last.until = Math.max(last.until, until);
    } else this.#parts.push({ from: now, until, count: 1 });
    this.#left += 1;
  }

  /** A request that has passed will not leave. */
  withdraw(): void {
    this.#passed -= 1;
  }

  #roomAt(now: number): number {
    this.#forget(now);
    let tooMany = this.#left + this.#passed + 1 - this.#count;
    if (tooMany <= 0) return Number.NEGATIVE_INFINITY;
    for (const { until, count } of this.#parts) {
      tooMany -= count;
      if (tooMany <= 0) return until;
    }
    return Number.POSITIVE_INFINITY;
  }

  #forget(now: number): void {
    let over = 0;
    for (; (this.#parts[over]?.until ?? Number.POSITIVE_INFINITY) <= now; over += 1)
      this.#left -= this.#parts[over]?.count ?? 0;
    if (over > 0) this.#parts = this.#parts.slice(over);
  }
}
