import { knownCost } from '../../../plan/job.ts';
import type { Slot } from '../../../plan/slot.ts';
import { secondsOf } from '../result.ts';
import type { DurationRow, PageCharts } from '../wire.ts';
import { Timeline } from './timeline.ts';

/** Largest number of steps with speeds, and of models. It bounds the memory that names from outside can take. */
const maxRows = 1000;

type Writable<Row> = { -readonly [Name in keyof Row]: Row[Name] };

/** Collects the data of the charts. Each job is added once. */
export class ChartCounter {
  readonly #timeline = new Timeline();
  readonly #durations = new Map<string, { readonly step: string; readonly speed: string; sample: Sample }>();
  readonly #tokens = new Map<string, Writable<PageCharts['tokens'][number]>>();
  readonly #attempts = new Map<string, Writable<PageCharts['attempts'][number]>>();

  /** Adds a job. @param model name of the model that replied, as shown */
  add(
    { step, status, record, accepted }: Pick<Slot, 'step' | 'status' | 'record' | 'accepted'>,
    model: string | undefined,
  ): void {
    if (record === undefined) return;
    const { submittedAt, finishedAt, usage, speed, attempts } = record;
    const failed = status === 'failed' && !accepted;
    const isOver = status === 'failed' || status === 'done' || status === 'skipped';
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
    if (seconds !== undefined)
      rowOf(this.#durations, JSON.stringify([step, speed]), () => ({
        step,
        speed: speed ?? '',
        sample: new Sample(),
      }))?.sample.add(seconds);
    if (usage !== undefined && model !== undefined) {
      const none = { model, prompt: 0, candidates: 0, thoughts: 0, total: 0 };
      const tokens = rowOf(this.#tokens, model, () => none);
      for (const part of ['prompt', 'candidates', 'thoughts', 'total'] as const)
        if (tokens !== undefined) tokens[part] += usage[part] ?? 0;
    }
    const row = rowOf(this.#attempts, step, () => ({ step, jobs: 0, submissions: 0, failed: 0 }));
    if (row === undefined) return;
    row.jobs += 1;
    row.submissions += attempts;
    if (failed) row.failed += 1;
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
}

/** Returns the row with a name, a new one if there is none; undefined if there are too many. */
function rowOf<Row>(rows: Map<string, Row>, name: string, make: () => Row): Row | undefined {
  const there = rows.get(name);
  if (there !== undefined || rows.size === maxRows) return there;
  const made = make();
  rows.set(name, made);
  return made;
}

const maxKept = 4096;

/**
 * A distribution of numbers. With few numbers it is exact; of more it keeps every second, fourth, eighth … Equal numbers in equal order
 * give equal results.
 */
export class Sample {
  #kept: number[] = [];
  #every = 1;
  #count = 0;
  #most = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#count;
  }

  get most(): number {
    return this.#most;
  }

  add(value: number): void {
    if (this.#count % this.#every === 0) {
      if (this.#kept.length === maxKept) {
        this.#kept = this.#kept.filter((_, index) => index % 2 === 0);
        this.#every *= 2;
      }
      if (this.#count % this.#every === 0) this.#kept.push(value);
    }
    this.#count += 1;
    this.#most = Math.max(this.#most, value);
  }

  /** Returns the quantiles for shares between 0 and 1; NaN if there are no numbers. */
  quantiles(parts: readonly number[]): readonly number[] {
    const sorted = [...this.#kept].sort((a, b) => a - b);
    return parts.map((part) => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN);
  }
}
