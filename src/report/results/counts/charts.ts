import { knownCost } from '../../../plan/job.ts';
import type { Slot } from '../../../plan/slot.ts';
import { secondsOf } from '../result.ts';
import type { DurationRow, PageCharts } from '../wire.ts';
import { Sample } from './sample.ts';
import { Timeline } from './timeline.ts';

/** Largest number of steps with speeds, and of models. It bounds the memory that names from outside can take. */
const mostRows = 1000;

type TokenRow = PageCharts['tokens'][number];

/** Collects the data of the charts. Each job is added once. */
export class ChartCounter {
  readonly #timeline = new Timeline();
  readonly #durations = new Map<string, { readonly step: string; readonly speed: string; sample: Sample }>();
  readonly #tokens = new Map<string, { -readonly [Name in keyof TokenRow]: TokenRow[Name] }>();
  readonly #attempts = new Map<string, { step: string; jobs: number; submissions: number; failed: number }>();

  /** Adds a job. @param model name of the model that replied, as shown */
  add({ step, status, record }: Pick<Slot, 'step' | 'status' | 'record'>, model: string | undefined): void {
    if (record === undefined) return;
    const { submittedAt, finishedAt, usage, speed, attempts } = record;
    const failed = status === 'failed';
    const isOver = failed || status === 'done' || status === 'skipped';
    if (submittedAt !== undefined && status !== 'pending') {
      this.#timeline.begin(submittedAt);
      const until = finishedAt ?? (status === 'in-doubt' ? submittedAt : undefined);
      if (until !== undefined) this.#timeline.leave(Math.max(until, submittedAt));
    }
    if (isOver && finishedAt !== undefined) this.#timeline.end(finishedAt, failed);
    const cost = knownCost(record);
    const paidAt = finishedAt ?? submittedAt;
    if (cost !== undefined && paidAt !== undefined) this.#timeline.spend(paidAt, cost);
    const seconds = status === 'done' ? secondsOf(record) : undefined;
    if (seconds !== undefined) this.#time(step, speed ?? '', seconds);
    const { prompt = 0, candidates = 0, thoughts = 0, total = 0 } = usage ?? {};
    if (usage !== undefined && model !== undefined)
      this.#count(model, { prompt, candidates, thoughts, total });
    this.#submitted(step, attempts, failed);
  }

  charts(): PageCharts {
    return {
      ...this.#timeline.charts(),
      durations: [...this.#durations.values()].map(({ step, speed, sample }): DurationRow => {
        const [p10 = 0, median = 0, p90 = 0] = sample.quantiles([0.1, 0.5, 0.9]);
        return { step, speed, jobs: sample.count, p10, median, p90, longest: sample.most };
      }),
      tokens: [...this.#tokens.values()],
      attempts: [...this.#attempts.values()],
    };
  }

  #time(step: string, speed: string, seconds: number): void {
    const name = JSON.stringify([step, speed]);
    const there = this.#durations.get(name);
    if (there !== undefined) return there.sample.add(seconds);
    if (this.#durations.size === mostRows) return;
    const sample = new Sample();
    sample.add(seconds);
    this.#durations.set(name, { step, speed, sample });
  }

  #count(model: string, usage: Omit<TokenRow, 'model'>): void {
    const there = this.#tokens.get(model);
    if (there === undefined) {
      if (this.#tokens.size < mostRows) this.#tokens.set(model, { model, ...usage });
      return;
    }
    there.prompt += usage.prompt;
    there.candidates += usage.candidates;
    there.thoughts += usage.thoughts;
    there.total += usage.total;
  }

  #submitted(step: string, submissions: number, failed: boolean): void {
    const there = this.#attempts.get(step) ?? { step, jobs: 0, submissions: 0, failed: 0 };
    there.jobs += 1;
    there.submissions += submissions;
    if (failed) there.failed += 1;
    this.#attempts.set(step, there);
  }
}
