import { type IsOptional, missingCode, neverOptional } from '../../../plan/graph/optional.ts';
import type { JobStatus, TokenUsage } from '../../../plan/job.ts';
import type { RunEvent } from '../../../run/events.ts';
import { Spending } from './spending.ts';

/** How far one step is. Counts are jobs. */
export interface StepProgress {
  readonly name: string;
  readonly done: number;
  readonly failed: number;
  readonly inDoubt: number;
  /** Their optional button is not there. */
  readonly skipped: number;
  /** Submitted and not settled. */
  readonly active: number;
  /** How many there will be; absent while that is not known (wildcards, conditions, very large plans). */
  readonly total?: number;
}

/** What a progress view shows: plain data, no clock. */
export interface Progress {
  readonly name: string;
  readonly startedAt: number;
  readonly steps: readonly StepProgress[];
  /** Image tasks that the service works on. */
  readonly tasks: number;
  /** Of this invocation; absent without prices. */
  readonly cost?: number;
  /** Of this invocation; absent while none were counted. */
  readonly tokens?: TokenUsage;
  /** Jobs settled in the last minute or since the start, whichever is shorter. */
  readonly perMinute: number;
  /** Why no job makes progress at the moment. */
  readonly notice?: string;
  /** The run takes on nothing new. */
  readonly stopping: boolean;
}

/** The state of a step before the run starts. */
export interface StepStart {
  readonly name: string;
  readonly total?: number;
  readonly done: number;
  readonly failed: number;
  readonly inDoubt: number;
}

type Bucket = 'done' | 'failed' | 'inDoubt' | 'skipped' | 'active';
type JobChange = Extract<RunEvent, { type: 'job:status' }>;

const rateWindowMs = 60_000;

/** Listens to a run and knows at any time how far it is. */
export class ProgressModel {
  readonly #name: string;
  readonly #startedAt: number;
  readonly #isOptional: IsOptional;
  readonly #steps: Map<string, { name: string; total?: number } & Record<Bucket, number>>;
  /** Settled jobs per second of the last minute, by second. */
  readonly #settled = new Map<number, number>();
  #tasks = 0;
  readonly #spending = new Spending();
  #pause: { readonly untilMs: number; readonly reason: string } | undefined;
  #waiting: string | undefined;
  #stopping = false;

  constructor(
    name: string,
    startedAt: number,
    steps: readonly StepStart[],
    isOptional: IsOptional = neverOptional,
  ) {
    this.#name = name;
    this.#startedAt = startedAt;
    this.#isOptional = isOptional;
    this.#steps = new Map(steps.map((step) => [step.name, { ...step, skipped: 0, active: 0 }]));
  }

  /** @param now Unix ms */
  take(event: RunEvent, now: number): void {
    switch (event.type) {
      case 'job:status':
        this.#move(event, now);
        this.#spending.take(event);
        this.#waiting = undefined;
        return;
      case 'route:pause':
        this.#pause = { untilMs: event.untilMs, reason: event.reason };
        return;
      case 'run:waiting':
        this.#waiting = event.reason;
        return;
      case 'run:stopping':
        this.#stopping = true;
        return;
      case 'run:start':
      case 'run:end':
      case 'cell:open':
      case 'cell:close':
      case 'cell:left':
      case 'request:end':
      case 'route:rate':
      case 'run:notice':
      case 'job:retry':
      case 'run:memory':
        return;
    }
  }

  /** @param now Unix ms */
  progress(now: number): Progress {
    const notice = this.#notice(now);
    const { cost, tokens } = this.#spending;
    return {
      name: this.#name,
      startedAt: this.#startedAt,
      steps: [...this.#steps.values()].map((step) => ({ ...step })),
      tasks: this.#tasks,
      ...(cost === undefined ? {} : { cost }),
      ...(tokens === undefined ? {} : { tokens }),
      perMinute: this.#perMinute(now),
      ...(notice === undefined ? {} : { notice }),
      stopping: this.#stopping,
    };
  }

  #move(event: JobChange, now: number): void {
    const { from, to, error } = event;
    const step = this.#steps.get(event.step);
    const before = bucketOf(from);
    const isSkipped = to === 'failed' && error?.code === missingCode && this.#isOptional(event);
    const after = isSkipped ? 'skipped' : bucketOf(to);
    if (step !== undefined) {
      if (before !== undefined) step[before] = Math.max(0, step[before] - 1);
      if (after !== undefined) step[after] += 1;
    }
    this.#tasks = Math.max(0, this.#tasks + Number(isTask(to)) - Number(isTask(from)));
    if (after === undefined || after === 'active') return;
    const second = Math.floor(now / 1000);
    this.#settled.set(second, (this.#settled.get(second) ?? 0) + 1);
    this.#forget(now);
  }

  #perMinute(now: number): number {
    this.#forget(now);
    const count = [...this.#settled.values()].reduce((sum, more) => sum + more, 0);
    const span = Math.min(rateWindowMs, Math.max(1000, now - this.#startedAt));
    return (count * 60_000) / span;
  }

  #forget(now: number): void {
    const oldest = Math.floor((now - rateWindowMs) / 1000);
    for (const second of this.#settled.keys()) {
      if (second >= oldest) return;
      this.#settled.delete(second);
    }
  }

  #notice(now: number): string | undefined {
    if (this.#pause !== undefined && this.#pause.untilMs > now) {
      const seconds = Math.ceil((this.#pause.untilMs - now) / 1000);
      return `paused for ${seconds} s: ${this.#pause.reason}`;
    }
    return this.#waiting === undefined ? undefined : `waiting: ${this.#waiting}`;
  }
}

function bucketOf(status: JobStatus | undefined): Bucket | undefined {
  switch (status) {
    case undefined:
    case 'pending':
      return undefined;
    case 'submitting':
    case 'running':
    case 'modal':
    case 'saving':
      return 'active';
    case 'done':
      return 'done';
    case 'failed':
      return 'failed';
    case 'in-doubt':
      return 'inDoubt';
  }
}

const isTask = (status: JobStatus | undefined): boolean =>
  status === 'submitting' || status === 'running' || status === 'modal';
