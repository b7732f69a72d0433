import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import type { Job } from '../machine/job.ts';
import type { RunSettings } from '../ports.ts';
import { type CostModel, costModelOf } from './cost.ts';
import { PollPace } from './polls.ts';
import { kindOf } from './task-kind.ts';
import { TokenForecast } from './token-forecast.ts';

/** Learns during a run how long each kind of task takes, and how many tokens the calls of each model take. */
export class Estimators {
  /** Prices and tokens of requests, by the current estimates. */
  readonly costModel: CostModel;
  readonly #pace: PollPace;
  readonly #forecast = new TokenForecast();

  /**
   * @param price returns the price of one submission, where known
   * @param learned task durations saved by earlier runs
   */
  constructor(
    { poll, prices }: Pick<RunSettings, 'poll' | 'prices'>,
    price: (record: JobRecord) => number | undefined,
    learned?: string,
  ) {
    this.#pace = new PollPace(poll, learned);
    this.costModel = costModelOf(prices, price, this.#forecast);
  }

  /** Learned task durations, to save for the next run. */
  get learned(): string | undefined {
    return this.#pace.learned;
  }

  /** Returns the milliseconds until the next poll of a task that was submitted `elapsedMs` ago. */
  pollInMs(record: JobRecord, elapsedMs: number): number {
    return this.#pace.nextMs(kindOf(record), elapsedMs);
  }

  /**
   * Notes the duration of a task whose poll at `now` showed its end.
   *
   * @param watchedSince since when tasks are polled without a gap, Unix ms
   */
  noteTask(
    { record: before, polledMs }: Pick<Job, 'record' | 'polledMs'>,
    after: JobRecord,
    now: number,
    watchedSince: number,
  ): void {
    const { submittedAt } = before;
    if (before.status !== 'running' || !hasEnded(before, after)) return;
    // A task from an earlier run, or from before a sleep, would only show how long nobody polled.
    if (submittedAt !== undefined && submittedAt >= watchedSince && submittedAt <= now)
      this.#pace.learn(kindOf(before), polledMs, now - submittedAt);
  }

  /** Notes the token usage of an answered text call. */
  noteReply(record: JobRecord, usage: TokenUsage): void {
    this.#forecast.learn(record, usage);
  }
}

/** Whether a poll showed the end of the task: a result, an open modal, or a failure of the task itself. */
function hasEnded(before: JobRecord, after: JobRecord): boolean {
  switch (after.status) {
    case 'saving':
    case 'done':
    case 'modal':
      return true;
    case 'pending':
      return after.resubmits > before.resubmits;
    case 'failed':
      return isTaskFailure(after.error?.code ?? '');
    default:
      return false;
  }
}

/** Whether an error code means that the task itself failed. A task past its deadline has not ended. */
const isTaskFailure = (code: string): boolean =>
  code === 'modal.not-opened' || (code.startsWith('task.') && code !== 'task.timeout');
