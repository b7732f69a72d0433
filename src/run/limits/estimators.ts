import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import type { RunSettings } from '../ports.ts';
import { type CostModel, costModelOf } from './cost.ts';
import { PollPace, paceOf } from './poll-interval.ts';
import { TokenForecast } from './token-forecast.ts';

/** What a run learns while it lasts: how long each kind of task takes, and how many tokens the calls of each model. */
export class Estimators {
  /** What requests cost and take, by what was learnt until now. */
  readonly costModel: CostModel;
  readonly #pace: PollPace;
  readonly #forecast = new TokenForecast();

  /** @param price of one submission, where known */
  constructor(
    { poll, prices }: Pick<RunSettings, 'poll' | 'prices'>,
    price: (record: JobRecord) => number | undefined,
  ) {
    this.#pace = new PollPace(poll);
    this.costModel = costModelOf(prices, price, this.#forecast);
  }

  /** Milliseconds until the next look at a task that was submitted `elapsedMs` ago. */
  pollInMs(record: JobRecord, elapsedMs: number): number {
    return this.#pace.nextMs(paceOf(record), elapsedMs);
  }

  /**
   * Notes how long a task took that was seen to be finished at `now`.
   *
   * @param watchedSince since when tasks are looked at without a gap, Unix ms
   */
  noteTask(before: JobRecord, after: JobRecord, now: number, watchedSince: number): void {
    const { submittedAt } = after;
    if (before.status !== 'running' || (after.status !== 'saving' && after.status !== 'done')) return;
    // Of a task from an earlier run, or from before a sleep, only how long nobody looked would be learnt.
    if (submittedAt !== undefined && submittedAt >= watchedSince && submittedAt <= now)
      this.#pace.learn(paceOf(after), now - submittedAt);
  }

  /** Notes what a text call took that was answered. */
  noteAnswer(record: JobRecord, usage: TokenUsage): void {
    this.#forecast.learn(record, usage);
  }
}
