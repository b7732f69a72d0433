import { priceName } from '../../plan/estimate/cost.ts';
import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import { totalTokens } from '../../plan/usage.ts';
import type { RunEnd } from '../events.ts';
import type { Allowance, Reserve, RunSettings } from '../ports.ts';
import type { CostModel } from './cost.ts';

/** Total spending in a run directory before a run began. */
export interface Spent {
  readonly attempts: number;
  /** Cost that is known to be charged. */
  readonly cost: number;
  /** Cost that unanswered submissions, and replies without a token count, may have had in addition to `cost`. */
  readonly possibleCost: number;
  readonly tokens: number;
  /** Estimated tokens of replies without a token count and of text calls whose answer was lost, in addition to `tokens`. */
  readonly assumedTokens: number;
}

/**
 * Limits spending: `budget` over the life of the directory, `--max-submits` over this invocation. Price and tokens are reserved while a
 * request is in flight, so that many requests cannot exceed the budget together. A possible cost counts as a cost: no bill may exceed the
 * budget.
 */
export class BudgetTracker implements Allowance {
  readonly #settings: RunSettings;
  readonly #shared: Allowance | undefined;
  readonly #costModel: Pick<CostModel, 'price' | 'tokens'>;
  #submits: number;
  #cost: number;
  #possibleCost: number;
  #tokens: number;
  /** The estimated part of `#tokens`, for replies without a token count or lost replies. */
  #assumedTokens: number;
  #submitsHere = 0;
  #tokensHere = 0;
  /** Reserves of the requests in flight, by job key. */
  readonly #reserves = new Map<string, Reserve>();
  #reserved = { cost: 0, tokens: 0 };
  /** False where no budget limits the requests in flight. */
  readonly #keepsReserves: boolean;

  /** @param shared the allowance shared with other workers, which is told of all spending */
  constructor(
    settings: RunSettings,
    costModel: Pick<CostModel, 'price' | 'tokens'>,
    spent: Spent,
    shared?: Allowance,
  ) {
    this.#settings = settings;
    this.#shared = shared;
    this.#costModel = costModel;
    const { cost, tokens } = settings.budget;
    this.#keepsReserves = cost !== undefined || tokens !== undefined || shared !== undefined;
    this.#submits = spent.attempts;
    this.#cost = spent.cost;
    this.#possibleCost = spent.possibleCost;
    this.#tokens = spent.tokens + spent.assumedTokens;
    this.#assumedTokens = spent.assumedTokens;
  }

  /** Number of submissions and text calls of this invocation. */
  get submits(): number {
    return this.#submitsHere;
  }

  /** Number of tokens of the replies of this invocation. */
  get tokens(): number {
    return this.#tokensHere;
  }

  /** Returns why this job may not be submitted, or undefined. A cost budget refuses a job without a price, which it cannot limit. */
  refusal(record: JobRecord): Extract<RunEnd, { kind: 'budget' }> | undefined {
    // The first confirm of a modal belongs to its click, which is already counted.
    if (record.modal?.sent === 0) return undefined;
    const { budget, maxSubmits } = this.#settings;
    if (maxSubmits !== undefined && this.#submitsHere >= maxSubmits)
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
    if (budget.cost === undefined && budget.tokens === undefined) return undefined;
    const reserve = this.reserveOf(record);
    if (budget.cost !== undefined && reserve.cost === undefined) return unpriced(record);
    const { cost = 0, tokens } = reserve;
    const costs = this.#cost + this.#possibleCost + this.#reserved.cost + cost;
    if (budget.cost !== undefined && cost > 0 && costs > budget.cost + 1e-9)
      return {
        kind: 'budget',
        code: 'budget.cost',
        message: `The next submission (${round(cost)}) would exceed the budget of ${budget.cost} (budget.cost); ${round(this.#cost)} is spent${this.#mayBeSpent}.`,
      };
    if (
      budget.tokens !== undefined &&
      tokens > 0 &&
      this.#tokens + this.#reserved.tokens + tokens > budget.tokens
    )
      return {
        kind: 'budget',
        code: 'budget.tokens',
        message: `The next text call (about ${tokens} tokens) would exceed the budget of ${budget.tokens} tokens (budget.tokens); ${this.#tokens} are spent${this.#areAssumed}.`,
      };
    return undefined;
  }

  /** Updates spending and reserves after an event changed a record. */
  note(before: JobRecord, after: JobRecord): void {
    const attempts = after.attempts - before.attempts;
    this.#submits += attempts;
    this.#submitsHere += attempts;
    this.#cost += (after.cost ?? 0) - (before.cost ?? 0);
    this.#possibleCost += possible(after) - possible(before);
    const assumed = possibleTokens(after) - possibleTokens(before);
    this.#assumedTokens += assumed;
    const tokens = spentTokens(after.usage) - spentTokens(before.usage);
    this.#tokens += tokens + assumed;
    this.#tokensHere += tokens;
    if (this.#keepsReserves) this.#noteReserve(before, after);
    this.#shared?.note?.(before, after, this.#reserves.get(after.key));
  }

  #noteReserve(before: JobRecord, after: JobRecord): void {
    if (before.status !== 'submitting' && after.status === 'submitting')
      this.#reserve(after.key, this.reserveOf(after));
    if (before.status === 'submitting' && after.status !== 'submitting') this.#release(after.key);
  }

  /** Returns the most that a job's next request may use. */
  reserveOf(record: JobRecord): Reserve {
    const tokens = isTextRequest(record.request) ? this.#costModel.tokens(record) : 0;
    const cost = record.modal === undefined ? this.#costModel.price(record) : 0;
    return cost === undefined ? { tokens } : { cost, tokens };
  }

  get #mayBeSpent(): string {
    const most = round(this.#possibleCost);
    return most === 0
      ? ''
      : `, and up to ${most} more for submissions without a response and replies without a token count`;
  }

  get #areAssumed(): string {
    const assumed = this.#assumedTokens;
    return assumed === 0 ? '' : `, of which ${assumed} are estimated: the service reported none`;
  }

  #reserve(key: string, reserve: Reserve): void {
    this.#reserves.set(key, reserve);
    this.#reserved = {
      cost: this.#reserved.cost + (reserve.cost ?? 0),
      tokens: this.#reserved.tokens + reserve.tokens,
    };
  }

  #release(key: string): void {
    const { cost = 0, tokens } = this.#reserves.get(key) ?? { tokens: 0 };
    this.#reserves.delete(key);
    // With no request in flight the reserve is 0; sums leave rounding errors.
    this.#reserved =
      this.#reserves.size === 0
        ? { cost: 0, tokens: 0 }
        : { cost: this.#reserved.cost - cost, tokens: this.#reserved.tokens - tokens };
  }
}

/** Returns the end of a run whose cost budget cannot limit a job, because the job has no price. */
export const unpriced = (record: JobRecord): Extract<RunEnd, { kind: 'budget' }> => ({
  kind: 'budget',
  code: 'budget.unpriced',
  message: `The next submission (${priceName(record)}) has no price, so budget.cost cannot bound it. Give it one in prices; 0 where it costs nothing.`,
});

/** Possible cost of a job in addition to its known cost. */
const possible = ({ doubtful, assumed }: JobRecord): number => (doubtful?.cost ?? 0) + (assumed?.cost ?? 0);

/** Possible tokens of a text job in addition to the known ones. */
const possibleTokens = ({ doubtful, assumed }: JobRecord): number =>
  (doubtful?.tokens ?? 0) + (assumed?.tokens ?? 0);

const spentTokens = (usage: TokenUsage | undefined): number => (usage === undefined ? 0 : totalTokens(usage));

const round = (amount: number): number => Math.round(amount * 1e6) / 1e6;
