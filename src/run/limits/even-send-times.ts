import type { Rate } from '../../pipeline/pipeline.ts';
import type { SendTimes } from '../ports.ts';

/**
 * How late a request may use its moment, ms: timers are late, and a process waits for its disk. A later request gets another moment, and
 * the one it missed is lost. A two hundredth of the window, but not below 20 ms, nor above 300 ms.
 */
export const graceMs = ({ perMs }: Rate): number => Math.min(300, Math.max(20, perMs / 200));

/** What was sent before: so many requests count until this moment, Unix ms. */
export interface Sent {
  readonly until: number;
  readonly count: number;
}

/**
 * Evenly spaced moments at which requests may leave: in any window of `perMs` at most `count` leave. A request leaves at its moment or
 * up to {@link graceMs} later, so the moments of a window lie in the window and that time before it; they are spaced so that these
 * are at most `count`. Of a limit a minute 99.5 % can be used, of one a second 98 %.
 */
export class EvenSendTimes implements SendTimes {
  readonly #rate: Rate;
  readonly #spacing: number;
  readonly #lateMs: number;
  #next = Number.NEGATIVE_INFINITY;
  /** What earlier runs sent within the window, the first to be forgotten first. */
  #before: readonly Sent[];
  #sent = 0;

  /**
   * @param before what earlier runs sent
   * @param lateMs how late a moment may be used; more than {@link graceMs} only where another one keeps the rate behind this
   */
  constructor(rate: Rate, before: readonly Sent[] = [], lateMs: number = graceMs(rate)) {
    this.#rate = rate;
    this.#spacing = ((rate.perMs + graceMs(rate)) / rate.count) * (1 + 1e-9);
    this.#before = before.toSorted((a, b) => a.until - b.until);
    this.#lateMs = lateMs;
  }

  /** Milliseconds between two moments. */
  get spacing(): number {
    return this.#spacing;
  }

  /** Unix ms from when on the next request may leave. */
  nextAt(): number {
    return Math.max(this.#next, this.#clearOfBefore());
  }

  /** Uses the next moment. @returns the moment, which is before `now` where the request is late */
  take(now: number): number {
    if (now >= (this.#before.at(-1)?.until ?? now)) this.#before = [];
    const isFirst = this.#next === Number.NEGATIVE_INFINITY;
    const moment = isFirst ? now : Math.max(this.#next, now - this.#lateMs);
    this.#next = moment + this.#spacing;
    this.#sent += 1;
    return moment;
  }

  /** While requests of earlier runs count, all of this run count as well. */
  #clearOfBefore(): number {
    let counted = this.#before.reduce((sum, { count }) => sum + count, this.#sent + 1);
    let at = Number.NEGATIVE_INFINITY;
    for (const { until, count } of this.#before) {
      if (counted <= this.#rate.count) break;
      counted -= count;
      at = until;
    }
    return at;
  }
}
