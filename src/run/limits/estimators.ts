import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import type { Job, TaskWatch } from '../machine/job.ts';

import type { RunSettings } from '../ports.ts';
import { type CostModel, costModelOf } from './cost.ts';
import { PollPace } from './poll/poll-pace.ts';
import { kindOf } from './poll/task-kind.ts';
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

  /**
   * Milliseconds until the next poll of a task that was submitted `elapsedMs` ago.
   *
   * @param watch what its polls have shown; undefined: it was not polled yet
   */
  pollInMs(record: JobRecord, elapsedMs: number, watch?: TaskWatch): number {
    return this.#pace.nextMs(kindOf(record), elapsedMs, watch);
  }

  /**
   * Notes how long a task took whose poll at `now` showed the end.
   *
   * @param watchedSince since when tasks are polled without a gap, Unix ms
   */
  noteTask(
    { record: before, watch }: Pick<Job, 'record' | 'watch'>,
    after: JobRecord,
    now: number,
    watchedSince: number,
  ): void {
    const { submittedAt } = before;
    if (before.status !== 'running' || !hasEnded(before, after)) return;
    // A task from an earlier run, or from before a sleep, would only teach how long nobody polled.
    if (submittedAt !== undefined && submittedAt >= watchedSince && submittedAt <= now)
      this.#pace.learn(kindOf(before), watch, now - submittedAt);
  }

  /** Notes the tokens of an answered text call. */
  noteReply(record: JobRecord, usage: TokenUsage): void {
    this.#forecast.learn(record, usage);
  }
}

/** True where a poll showed the end of the task: a result, an open modal, or a failure of the task itself. */
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

/** A task that outlived its deadline has not ended. */
const isTaskFailure = (code: string): boolean =>
  code === 'modal.not-opened' || (code.startsWith('task.') && code !== 'task.timeout');
