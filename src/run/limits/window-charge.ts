import type { Rate } from '../../pipeline/pipeline.ts';
import { graceMs } from './even-send-times.ts';

/** How long a request counts against a rate, ms: longer than the window, as two requests may take different times to the service. */
export const windowMsOf = (rate: Rate): number => rate.perMs + graceMs(rate) / 2;

/** Number of parts of a window that are counted together, so that the log of 100,000 requests an hour stays short. */
const parts = 1024;

/** An amount used at nearly the same time. */
export interface Charged {
  from: number;
  /** Time at which the whole amount has left the window, Unix ms. */
  until: number;
  amount: number;
}

/** The amount used within the last window: requests or tokens. All times are Unix ms. */
export class WindowCharge {
  readonly windowMs: number;
  #log: Charged[] = [];
  #sum = 0;

  constructor(windowMs: number) {
    this.windowMs = windowMs;
  }

  /** Number of stored entries. */
  get size(): number {
    return this.#log.length;
  }

  /** Returns the amount that counts now. */
  at(now: number): number {
    const back = (this.#log.at(-1)?.from ?? now) - now;
    // The clock was set back: no entry may be later than now.
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

  /** Adds an amount used now. @returns its entry, for {@link change} */
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

  /** Changes an entry to the actual amount; `more` is negative where less was used. */
  change(charged: Charged, more: number): void {
    if (!this.#log.includes(charged)) return;
    charged.amount += more;
    this.#sum += more;
  }

  /** Returns the time from which at most `most` counts, if nothing more is used; infinity: never. */
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
