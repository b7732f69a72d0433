import type { IsOptional } from '../../plan/graph/optional.ts';
import { isSettled, type JobError, type TokenUsage } from '../../plan/job.ts';
import { laneWords } from '../../report/text/pace-words.ts';
import { inFlight, RunLedger, type StepNow } from '../../results/run-ledger.ts';
import type { RunEvent } from '../../run/events.ts';

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
  /** Jobs that failed or are blocked, as the pipeline accepts (`failures: accept`). */
  readonly accepted: number;
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

/** A step before the run starts. */
export interface StepStart extends StepNow {
  /** Jobs that are left, as far as is known; work that waits for results is counted in full, a wildcard once. */
  readonly left: number;
  /** Whether a wildcard or a list decides how many jobs there are. */
  readonly isOpen?: boolean;
}

/** The facts of a run before it begins, for its progress. */
export interface ProgressStart {
  readonly name: string;
  readonly steps: readonly StepStart[];
  /** Number of chosen cells. */
  readonly cells: number;
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
  /** Whether a wildcard or a list decides how many jobs there are. */
  readonly #hasOpenSteps: boolean;
  /** Number of slots and jobs that were settled before the run. */
  readonly #settledBefore: number;
  /** Number of jobs settled in each second of the last minute. */
  readonly #settled = new Map<number, number>();
  #opened = 0;
  #closed = 0;
  /** Number of jobs and slots settled in each open cell, and in all closed ones. */
  readonly #settledIn = new Map<number, number>();
  #settledInClosed = 0;
  /** Number of closed cells in which this run has settled something. Cells that an earlier run finished close at once. */
  #worked = 0;
  #lastFailure: LastFailure | undefined;
  #pause: Extract<RunEvent, { readonly type: 'route:pause' }> | undefined;
  #waiting: string | undefined;
  #stopping = false;
  /** Unix ms of the last change of a job, or of the end of a sleep since. */
  #movedAt: number;
  /** Time that the machine slept, ms: it does not count for the rate. */
  #sleptMs = 0;
  /** The time left that was shown at that moment. */
  #promised: number | undefined;

  /** @param startedAt Unix ms */
  constructor(start: ProgressStart, startedAt: number) {
    this.#start = start;
    this.#startedAt = startedAt;
    this.#movedAt = startedAt;
    this.#ledger = new RunLedger(start);
    this.#hasOpenSteps = start.steps.some(({ isOpen }) => isOpen);
    this.#settledBefore = settledIn(this.#ledger.steps);
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
        return;
      case 'cell:close':
      case 'cell:left':
        this.#closed += 1;
        this.#settledInClosed += this.#settledIn.get(event.cell) ?? 0;
        if (this.#settledIn.delete(event.cell)) this.#worked += 1;
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
      case 'run:notice':
        if (event.code !== 'run.slept') return;
        this.#sleptMs += now - this.#movedAt;
        this.#movedAt = now;
        return;
      case 'run:start':
      case 'run:end':
      case 'request:end':
      case 'route:pace':
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
    const made = settledIn(steps) - this.#settledBefore;
    const open = this.#open(steps, made);
    const isKnown = this.#worked > 0 || this.#stopping || !this.#hasOpenSteps;
    const active = activeIn(steps);
    const estimate = !isKnown
      ? undefined
      : timeLeft({ open, active, made, elapsedMs: now - this.#startedAt - this.#sleptMs });
    this.#promised ??= estimate;
    const promised = this.#promised ?? 0;
    const isStuck = now - this.#movedAt > Math.max(stuckMs, promised);
    // While the last jobs are in progress and none ends, the mean so far says less with each second.
    const isLast = estimate !== undefined && open === active;
    const left = isStuck && open > 0 ? undefined : isLast ? Math.min(estimate, promised) : estimate;
    return {
      name: this.#start.name,
      startedAt: this.#startedAt,
      steps: steps.map(progressOf),
      open,
      tasks: inFlight(steps, false),
      downloads: savingIn(steps),
      texts: inFlight(steps, true),
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
    const { to, error } = event;
    const as = this.#ledger.move(event);
    if (error !== undefined && (as === 'failed' || as === 'in-doubt'))
      this.#lastFailure = { step: event.step, cell: event.cell, error };
    if (!isSettled(to)) return;
    const second = Math.floor(now / 1000);
    this.#settled.set(second, (this.#settled.get(second) ?? 0) + 1);
    this.#settleIn(event.cell);
    this.#forget(now);
  }

  #settleIn(cell: number): void {
    this.#settledIn.set(cell, (this.#settledIn.get(cell) ?? 0) + 1);
  }

  #ruleOut(event: SlotChange): void {
    const { step, cell, status, error, accepted } = event;
    this.#ledger.ruleOut(event);
    if (status !== 'pending') this.#settleIn(cell);
    if (status === 'failed' && error !== undefined && !accepted) this.#lastFailure = { step, cell, error };
  }

  /** Returns the expected number of jobs that are not settled. @param made number that this run has settled */
  #open(steps: readonly StepNow[], made: number): number {
    // Once all cells are closed no more jobs come, whatever was expected.
    if (this.#opened >= this.#start.cells && this.#closed >= this.#opened) return 0;
    const active = activeIn(steps);
    if (this.#stopping) return active;
    const open = this.#start.steps.reduce((sum, { total, left, counts }, index) => {
      const now = steps[index];
      if (now === undefined) return sum;
      return sum + Math.max(activeIn([now]), (total ?? settledOf(counts) + left) - settledOf(now.counts));
    }, 0);
    if (this.#worked === 0 || !this.#hasOpenSteps) return Math.max(1, Math.round(open));
    // The closed cells tell how many jobs a wildcard makes.
    const ahead = (this.#settledInClosed / this.#worked) * (this.#start.cells - this.#closed);
    return Math.round(Math.max(1, active, ahead + this.#settledInClosed - made));
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

/**
 * Returns the expected time until everything is settled, ms; undefined while nothing is settled. The rate is the
 * mean since the run began, for which a job in progress counts as half done.
 *
 * @param work jobs that are not settled, those of them in progress, and those that were settled in `elapsedMs`
 */
export function timeLeft({
  open,
  active,
  made,
  elapsedMs,
}: {
  readonly open: number;
  readonly active: number;
  readonly made: number;
  readonly elapsedMs: number;
}): number | undefined {
  if (open === 0) return 0;
  // The clock may have been set back.
  if (made <= 0 || elapsedMs < 0) return undefined;
  return (elapsedMs * open) / (made + active / 2);
}

const settledOf = ({ done, failed, 'in-doubt': inDoubt, ...others }: StepNow['counts']): number =>
  done + failed + inDoubt + others.skipped + others.blocked + others.accepted;

const activeOf = ({ submitting, running, modal, saving }: StepNow['counts']): number =>
  submitting + running + modal + saving;

const sumOf = (steps: readonly StepNow[], count: (counts: StepNow['counts']) => number): number =>
  steps.reduce((sum, { counts }) => sum + count(counts), 0);

/** Returns the number of jobs and slots that are settled. */
const settledIn = (steps: readonly StepNow[]): number => sumOf(steps, settledOf);

/** Returns the number of jobs that were submitted and are not settled. */
export const activeIn = (steps: readonly StepNow[]): number => sumOf(steps, activeOf);

/** Returns the number of results that are being downloaded or written. */
export const savingIn = (steps: readonly StepNow[]): number => sumOf(steps, ({ saving }) => saving);

/** Converts the counts of a step into its progress. */
export const progressOf = ({ name, total, counts }: StepNow): StepProgress => ({
  name,
  ...(total === undefined ? {} : { total }),
  done: counts.done,
  failed: counts.failed,
  inDoubt: counts['in-doubt'],
  skipped: counts.skipped,
  blocked: counts.blocked,
  accepted: counts.accepted,
  active: activeOf(counts),
});
