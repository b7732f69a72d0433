import type { IsOptional } from '../../plan/graph/optional.ts';
import { isSettled, type JobError, type TokenUsage } from '../../plan/job.ts';
import { laneWords } from '../../report/text/pace-words.ts';
import { RunLedger, type StepNow } from '../../results/run-ledger.ts';
import type { RunEvent } from '../../run/events.ts';
import type { StepStart } from './step-start.ts';
import { type RoomLimits, TimeLeft } from './time-left.ts';
import { type Room, Work } from './work.ts';

interface Spent {
  /** 0: nothing was spent, or no prices are known. */
  readonly cost: number;
  readonly tokens: number;
}

/** The progress of one step, counted in jobs. */
export interface StepProgress {
  readonly name: string;
  readonly done: number;
  readonly failed: number;
  readonly inDoubt: number;
  /** Jobs that were skipped: their optional button is missing, or their condition does not hold. */
  readonly skipped: number;
  /** Jobs that need a job that failed. */
  readonly blocked: number;
  /** Jobs that were submitted and are not settled. */
  readonly active: number;
  /** Expected number of jobs; absent while it is not known (wildcards, conditions, very large plans). */
  readonly total?: number;
}

/** The data of a progress view: plain data, without a clock. */
export interface Progress {
  readonly name: string;
  readonly startedAt: number;
  readonly steps: readonly StepProgress[];
  /** Jobs that are not settled and will be worked on, as far as is known. */
  readonly open: number;
  /** Image tasks that the service works on. */
  readonly tasks: number;
  /** Results that are being downloaded or written. */
  readonly downloads: number;
  /** Text calls in flight. */
  readonly texts: number;
  /** Estimated time left, ms; absent while too little is known. */
  readonly leftMs?: number;
  /** Cost of this invocation; absent without prices. */
  readonly cost?: number;
  /** Tokens of this invocation; absent while none were counted. */
  readonly tokens?: TokenUsage;
  /** Spending of earlier invocations; 0: none. */
  readonly earlier: Spent;
  /** Jobs settled in the last minute or since the start, whichever is shorter. */
  readonly perMinute: number;
  /** The last failure of a job. */
  readonly lastFailure?: LastFailure;
  /** Why no job makes progress at the moment. */
  readonly notice?: string;
  /** True while the run is stopping: it starts nothing new. */
  readonly stopping: boolean;
}

/** A failure and the job that failed. */
export interface LastFailure {
  readonly step: string;
  readonly cell: number;
  readonly error: JobError;
}

/** The facts of a run before it begins, for its progress. */
export interface ProgressStart {
  readonly name: string;
  readonly steps: readonly StepStart[];
  /** Number of chosen cells. */
  readonly cells: number;
  readonly limits: RoomLimits;
  /** Spending of earlier runs in the directory. */
  readonly earlier: Spent;
  /** Whether a button is optional; default: no button is. */
  readonly isOptional?: IsOptional;
  /** Keys of planned jobs that an earlier run left under way; absent: not known. */
  readonly followed?: ReadonlySet<string>;
}

type JobChange = Extract<RunEvent, { type: 'job:status' }>;
type SlotChange = Extract<RunEvent, { type: 'slot:status' }>;

const rateWindowMs = 60_000;

/** If nothing has changed for this long, and for longer than the whole estimate, no time left is shown. */
const stuckMs = 60_000;

/** Counts the progress of a run from its events. */
export class ProgressModel {
  readonly #start: ProgressStart;
  readonly #startedAt: number;
  readonly #ledger: RunLedger;
  readonly #work: Work;
  readonly #timeLeft: TimeLeft;
  /** Number of jobs settled in each second of the last minute. */
  readonly #settled = new Map<number, number>();
  #opened = 0;
  #openCells = 0;
  #lastFailure: LastFailure | undefined;
  #pause: Extract<RunEvent, { readonly type: 'route:pause' }> | undefined;
  #waiting: string | undefined;
  #stopping = false;
  /** Unix ms of the last change of a job. */
  #movedAt: number;
  /** The time left that was shown at that moment. */
  #promised: number | undefined;

  /** @param startedAt Unix ms */
  constructor(start: ProgressStart, startedAt: number) {
    this.#start = start;
    this.#startedAt = startedAt;
    this.#movedAt = startedAt;
    this.#ledger = new RunLedger(start);
    this.#work = new Work(start.steps);
    this.#timeLeft = new TimeLeft(start.limits, startedAt);
  }

  /** @param now Unix ms */
  take(event: RunEvent, now: number): void {
    switch (event.type) {
      case 'job:status':
        this.#move(event, now);
        this.#waiting = undefined;
        this.#movedAt = now;
        this.#promised = undefined;
        return;
      case 'slot:status':
        return this.#ruleOut(event);
      case 'cell:open':
        this.#opened += 1;
        this.#openCells += 1;
        return;
      case 'cell:close':
      case 'cell:left':
        this.#openCells -= 1;
        return;
      case 'route:pause':
        this.#pause = event;
        return;
      case 'run:waiting':
        this.#waiting = event.reason;
        return;
      case 'run:stopping':
        this.#stopping = true;
        return;
      case 'run:start':
      case 'run:end':
      case 'request:end':
      case 'route:pace':
      case 'run:notice':
      case 'job:retry':
      case 'grid:cut':
      case 'run:memory':
      case 'slice:end':
        return;
    }
  }

  /** Returns the progress now. @param now Unix ms; never before that of the previous call */
  progress(now: number): Progress {
    const notice = this.#notice(now);
    const { cost, tokens, steps } = this.#ledger;
    const cells = this.#opened < this.#start.cells;
    const outlook = this.#work.outlook(now);
    // Once all cells are closed no more jobs come, whatever was expected.
    const isOver = !cells && this.#openCells === 0;
    const inRoom = (room: Room): number => this.#work.inRoom(room);
    const estimate = this.#timeLeft.look(isOver ? { ...outlook, jobs: 0 } : outlook, now, {
      cells,
      stopping: this.#stopping,
      learned: { task: this.#work.learned('task'), text: this.#work.learned('text') },
    });
    this.#promised ??= estimate;
    const isStuck = now - this.#movedAt > Math.max(stuckMs, this.#promised ?? 0);
    const left = isStuck && !isOver ? undefined : estimate;
    return {
      name: this.#start.name,
      startedAt: this.#startedAt,
      steps: steps.map(progressOf),
      open: isOver ? 0 : outlook.jobs,
      tasks: inRoom('task'),
      downloads: this.#work.saving,
      texts: inRoom('text'),
      ...(left === undefined ? {} : { leftMs: left }),
      ...(cost === undefined ? {} : { cost }),
      ...(tokens === undefined ? {} : { tokens }),
      earlier: this.#start.earlier,
      perMinute: this.#perMinute(now),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
      ...(notice === undefined ? {} : { notice }),
      stopping: this.#stopping,
    };
  }

  #move(event: JobChange, now: number): void {
    const { from, to, error } = event;
    const as = this.#ledger.move(event);
    this.#work.take(event, from, to, now);
    if (error !== undefined && (as === 'failed' || as === 'in-doubt'))
      this.#lastFailure = { step: event.step, cell: event.cell, error };
    if (!isSettled(to)) return;
    const second = Math.floor(now / 1000);
    this.#settled.set(second, (this.#settled.get(second) ?? 0) + 1);
    this.#forget(now);
  }

  #ruleOut(event: SlotChange): void {
    const { step, branch, cell, status, error } = event;
    this.#work.ruleOut(step, branch);
    this.#ledger.ruleOut(event);
    if (status === 'failed' && error !== undefined) this.#lastFailure = { step, cell, error };
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
      return `${laneWords(this.#pause)} are refused, asked again in ${seconds} s: ${this.#pause.reason}`;
    }
    return this.#waiting === undefined ? undefined : `waiting: ${this.#waiting}`;
  }
}

/** Converts the counts of a step into its progress. */
export const progressOf = ({ name, total, counts }: StepNow): StepProgress => ({
  name,
  ...(total === undefined ? {} : { total }),
  done: counts.done,
  failed: counts.failed,
  inDoubt: counts['in-doubt'],
  skipped: counts.skipped,
  blocked: counts.blocked,
  active: counts.submitting + counts.running + counts.modal + counts.saving,
});
