import type { Rate } from '../../pipeline/pipeline.ts';
import { graceMs } from './even-send-times.ts';

/** For so long a request of this rate is charged, ms: the ways of two requests to the service are not equally long. */
export const windowMsOf = (rate: Rate): number => rate.perMs + graceMs(rate) / 2;

/** What leaves within this part of a window is counted together, so that the log of 100,000 an hour stays short. */
const parts = 1024;

/** What was used at nearly the same time. */
export interface Charged {
  from: number;
  /** When all of it is out of the window, Unix ms. */
  until: number;
  amount: number;
}

/** What was used within the last window: requests, or tokens. All moments are Unix ms. */
export class WindowCharge {
  readonly windowMs: number;
  #log: Charged[] = [];
  #sum = 0;

  constructor(windowMs: number) {
    this.windowMs = windowMs;
  }

  /** How many numbers are remembered. */
  get size(): number {
    return this.#log.length;
  }

  /** How much is charged. */
  at(now: number): number {
    const back = (this.#log.at(-1)?.from ?? now) - now;
    // The clock was set back: nothing was used later than now.
    if (back > 0)
      for (const charged of this.#log) {
        charged.from -= back;
        charged.until -= back;
      }
    let over = 0;
    for (; (this.#log[over]?.until ?? Number.POSITIVE_INFINITY) <= now; over += 1)
      this.#sum -= this.#log[over]?.amount ?? 0;
    if (over > 0) this.#log = this.#log.slice(over);
    return this.#sum;
  }

  /** Uses this much now. @returns what it is charged with, for {@link change} */
  add(now: number, amount: number): Charged {
    this.at(now);
    this.#sum += amount;
    const until = now + this.windowMs;
    const last = this.#log.at(-1);
    if (last !== undefined && now - last.from < this.windowMs / parts) {
      last.amount += amount;
      last.until = Math.max(last.until, until);
      return last;
    }
    const charged = { from: now, until, amount };
    this.#log.push(charged);
    return charged;
  }

  /** So much more was used than it was charged with; less where it is negative. */
  change(charged: Charged, more: number): void {
    if (!this.#log.includes(charged)) return;
    charged.amount += more;
    this.#sum += more;
  }

  /** From when on no more than this much is charged, if nothing more is used; infinite: never. */
  downTo(most: number, now: number): number {
    let tooMuch = this.at(now) - most;
    if (tooMuch <= 0) return Number.NEGATIVE_INFINITY;
    for (const { until, amount } of this.#log) {
      tooMuch -= amount;
      if (tooMuch <= 0) return until;
    }
    return Number.POSITIVE_INFINITY;
  }
}
