import type { Rate } from '../../pipeline/pipeline.ts';
import type { SendTimes } from '../ports.ts';

/**
 * How long after its send time a request may still be sent, ms: timers are late and disks are slow. A later request gets a new send time,
 * and the missed one is lost. It is 1/200 of the window, at least 20 ms and at most 300 ms.
 */
export const graceMs = ({ perMs }: Rate): number => Math.min(300, Math.max(20, perMs / 200));

/** Requests sent by earlier runs, which count until a time in Unix ms. */
export interface Sent {
  readonly until: number;
  readonly count: number;
}

/**
 * Evenly spaced send times: any window of `perMs` has at most `count` sends. A request is sent at its time or up to {@link graceMs} later,
 * so the spacing makes `count` of them fit into a window plus that delay. A limit per minute is used to 99.5 %, one per second to 98 %.
 */
export class EvenSendTimes implements SendTimes {
  readonly #rate: Rate;
  readonly #spacing: number;
  readonly #lateMs: number;
  #next = Number.NEGATIVE_INFINITY;
  /** Requests of earlier runs within the window, those that expire first in front. */
  #before: readonly Sent[];
  #sent = 0;

  /**
   * @param before requests sent by earlier runs
   * @param lateMs how late a send time may be used; more than {@link graceMs} only where a second limit behind this one enforces the rate
   */
  constructor(rate: Rate, before: readonly Sent[] = [], lateMs: number = graceMs(rate)) {
    this.#rate = rate;
    this.#spacing = ((rate.perMs + graceMs(rate)) / rate.count) * (1 + 1e-9);
    this.#before = before.toSorted((a, b) => a.until - b.until);
    this.#lateMs = lateMs;
  }

  /** Milliseconds between two send times. */
  get spacing(): number {
    return this.#spacing;
  }

  /** Unix ms from which the next request may be sent. */
  nextAt(): number {
    return Math.max(this.#next, this.#clearOfBefore());
  }

  /** Uses the next send time. @returns that time, which is before `now` where the request is late */
  take(now: number): number {
    if (now >= (this.#before.at(-1)?.until ?? now)) this.#before = [];
    const isFirst = this.#next === Number.NEGATIVE_INFINITY;
    const moment = isFirst ? now : Math.max(this.#next, now - this.#lateMs);
    this.#next = moment + this.#spacing;
    this.#sent += 1;
    return moment;
  }

  /** While requests of earlier runs count, all requests of this run count as well. */
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
