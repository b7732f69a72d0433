import type { JobRecord } from '../plan/job.ts';
import type { RunEnd } from './event.ts';
import type { RunSettings } from './ports.ts';

/**
 * What may still be spent: `budget` over the directory's life, `--max-submits` over this invocation. A price is
 * reserved while its submission is under way, so that many at once cannot overspend together.
 */
export class Purse {
  readonly #settings: RunSettings;
  readonly #price: (record: JobRecord) => number | undefined;
  #submits: number;
  #cost: number;
  #here = 0;
  #reserved = 0;

  constructor(
    settings: RunSettings,
    price: (record: JobRecord) => number | undefined,
    spent: { readonly attempts: number; readonly cost: number },
  ) {
    this.#settings = settings;
    this.#price = price;
    this.#submits = spent.attempts;
    this.#cost = spent.cost;
  }

  /** Submissions of this invocation. */
  get submits(): number {
    return this.#here;
  }

  /** Why this job may not be submitted, if it may not. An unknown price does not count against `budget.cost`. */
  refusal(record: JobRecord): Extract<RunEnd, { kind: 'budget' }> | undefined {
    const { budget, maxSubmits } = this.#settings;
    if (maxSubmits !== undefined && this.#here >= maxSubmits)
      return {
        kind: 'budget',
        code: 'budget.max-submits',
        message: `This run may make ${maxSubmits} submissions (--max-submits), and has made them.`,
      };
    if (budget.submits !== undefined && this.#submits >= budget.submits)
      return {
        kind: 'budget',
        code: 'budget.submits',
        message: `The budget of ${budget.submits} submissions (budget.submits) is used up.`,
      };
    const price = this.#price(record);
    if (
      budget.cost !== undefined &&
      price !== undefined &&
      this.#cost + this.#reserved + price > budget.cost + 1e-9
    )
      return {
        kind: 'budget',
        code: 'budget.cost',
        message: `The next submission (${price}) would exceed the budget of ${budget.cost} (budget.cost); ${round(this.#cost)} is spent.`,
      };
    return undefined;
  }

  /** Takes note of what an event changed. */
  note(before: JobRecord, after: JobRecord): void {
    const attempts = after.attempts - before.attempts;
    this.#submits += attempts;
    this.#here += attempts;
    this.#cost += (after.cost ?? 0) - (before.cost ?? 0);
    const price = this.#price(after) ?? 0;
    if (before.status !== 'submitting' && after.status === 'submitting') this.#reserved += price;
    if (before.status === 'submitting' && after.status !== 'submitting')
      this.#reserved = Math.max(0, this.#reserved - price);
  }
}

const round = (amount: number): number => Math.round(amount * 1e6) / 1e6;
