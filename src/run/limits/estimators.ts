import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import type { RunSettings } from '../ports.ts';
import { type CostModel, costModelOf } from './cost.ts';
import { PollPace, paceOf } from './poll-interval.ts';
import { TokenForecast } from './token-forecast.ts';

/** Learns during a run how long each kind of task takes, and how many tokens the calls of each model take. */
export class Estimators {
  /** Cost and tokens of requests, by the estimates so far. */
  readonly costModel: CostModel;
  readonly #pace: PollPace;
  readonly #forecast = new TokenForecast();

  /**
   * @param price of one submission, where known
   * @param learned what earlier runs have learned of the durations of tasks
   */
  constructor(
    { poll, prices }: Pick<RunSettings, 'poll' | 'prices'>,
    price: (record: JobRecord) => number | undefined,
    learned?: string,
  ) {
    this.#pace = new PollPace(poll, learned);
    this.costModel = costModelOf(prices, price, this.#forecast);
  }

  /** What was learned of the durations of tasks, to be kept for the next run. */
  get learned(): string | undefined {
    return this.#pace.learned;
  }

  /** Milliseconds until the next poll of a task that was submitted `elapsedMs` ago. */
  pollInMs(record: JobRecord, elapsedMs: number): number {
    return this.#pace.nextMs(paceOf(record), elapsedMs);
  }

  /**
   * Notes how long a task took whose poll at `now` showed the end.
   *
   * @param watchedSince since when tasks are polled without a gap, Unix ms
   */
  noteTask(before: JobRecord, after: JobRecord, now: number, watchedSince: number): void {
    const { submittedAt } = after;
    if (before.status !== 'running' || (after.status !== 'saving' && after.status !== 'done')) return;
    // A task from an earlier run, or from before a sleep, would only teach how long nobody polled.
    if (submittedAt !== undefined && submittedAt >= watchedSince && submittedAt <= now)
      this.#pace.learn(paceOf(after), now - submittedAt);
  }

  /** Notes the tokens of an answered text call. */
  noteReply(record: JobRecord, usage: TokenUsage): void {
    this.#forecast.learn(record, usage);
  }
}
