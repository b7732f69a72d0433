import type { EnginePool } from '../../../engine/postgres/pool.ts';
import { type RunStatus, runStatus } from '../../../engine/slices/runs.ts';
import { liveSessions } from '../../../engine/slices/session.ts';
import type { Planned } from '../../../report/facts/planned.ts';
import { inFlight, noCounts, type StepNow } from '../../../results/run-ledger.ts';
import { settledJobs } from '../../../results/sums.ts';
import type { RunEvent } from '../../../run/events.ts';
import type { StateReader, StoreTotals } from '../../../state/reader.ts';
import {
  activeIn,
  type LastFailure,
  type Progress,
  type ProgressStart,
  progressOf,
  savingIn,
  timeLeft,
} from '../../progress/model.ts';
import type { ProgressSource } from '../../progress/show.ts';

/** How often the sums are read, ms. */
const everyMs = 1000;

/** Largest share of time spent counting jobs by step: with many jobs, one count takes seconds. */
const countingShare = 0.02;

const rateWindowMs = 60_000;

/** The progress of a run over all its workers, read from the sums of the engine at intervals. */
export class EngineProgress implements ProgressSource {
  readonly #start: ProgressStart & { readonly planned?: Planned };
  readonly #startedAt: number;
  readonly #pool: EnginePool;
  readonly #run: number;
  readonly #reader: StateReader;
  /** Error codes of failures that the pipeline accepts. */
  readonly #accepted: readonly string[];
  /** The sums as of the first look: they hold jobs of other plans and selections too. */
  #before: StoreTotals | undefined;
  #totals: StoreTotals | undefined;
  #status: RunStatus | undefined;
  #workers = 0;
  /** True while slices wait and no worker has been seen. */
  #lacksWorkers = false;
  /** Jobs of each step, over all workers. */
  #steps: readonly StepNow[];
  #countedAt = Number.NEGATIVE_INFINITY;
  #countingMs = 0;
  /** Total of settled jobs, by the second in which it was read. */
  readonly #settled: { readonly at: number; readonly jobs: number }[] = [];
  #lastFailure: LastFailure | undefined;
  #isStopping = false;

  constructor(
    start: ProgressStart & { readonly planned?: Planned },
    startedAt: number,
    engine: {
      readonly pool: EnginePool;
      readonly run: number;
      readonly reader: StateReader;
      readonly accepted?: readonly string[] | undefined;
    },
  ) {
    this.#start = start;
    this.#steps = start.steps;
    this.#startedAt = startedAt;
    this.#pool = engine.pool;
    this.#run = engine.run;
    this.#reader = engine.reader;
    this.#accepted = engine.accepted ?? [];
  }

  /** How often to call {@link look}, ms. */
  static readonly everyMs = everyMs;

  /** Sums over all jobs as of the last look. */
  get totals(): StoreTotals | undefined {
    return this.#totals;
  }

  /** Reads the sums from the engine. @throws EngineError */
  async look(now: () => number): Promise<void> {
    const [totals, status, workers] = await Promise.all([
      this.#reader.totals(),
      runStatus(this.#pool, this.#run),
      liveSessions(this.#pool, this.#run),
    ]);
    this.#before ??= totals;
    this.#totals = totals;
    this.#status = status;
    this.#workers = workers;
    const at = now();
    this.#settled.push({ at, jobs: settledJobs(totals) });
    while ((this.#settled[0]?.at ?? at) < at - rateWindowMs) this.#settled.shift();
    if (at - this.#countedAt < this.#countingMs / countingShare) return;
    const { rows } = await this.#pool.scan<{ step: string; status: string; jobs: number }>(
      `SELECT step, CASE WHEN status = 'failed' AND code = ANY($2) THEN 'accepted' ELSE status END AS status, count(*)::float8 AS jobs
       FROM promptpress.jobs WHERE run = $1 GROUP BY 1, 2`,
      [this.#run, this.#accepted],
    );
    this.#countedAt = now();
    this.#countingMs = this.#countedAt - at;
    this.#steps = this.#start.steps.map(({ name, isText, total, counts: { skipped, blocked, accepted } }) => {
      const own = rows.filter(({ step, status: of }) => step === name && of !== 'pending');
      const counts = Object.fromEntries(own.map(({ status: of, jobs }) => [of, jobs]));
      // At the start, what accepted failures block is among them.
      const settled = { skipped, blocked, accepted: Math.max(accepted, counts.accepted ?? 0) };
      const now = { name, isText, counts: { ...noCounts, ...counts, ...settled } };
      return total === undefined ? now : { ...now, total };
    });
  }

  /** Returns a message, once, when workers have joined a run that waited for them. */
  joined(): string | undefined {
    const { waiting = 0 } = this.#status ?? {};
    if (this.#workers === 0) this.#lacksWorkers ||= waiting > 0;
    else if (this.#lacksWorkers) {
      this.#lacksWorkers = false;
      return `${this.#workers === 1 ? 'A worker has' : `${this.#workers} workers have`} joined: the run continues.`;
    }
    return undefined;
  }

  /** The jobs of each step, over all workers. */
  get steps(): readonly StepNow[] {
    return this.#steps;
  }

  take(event: RunEvent): void {
    if (event.type === 'run:stopping') this.#isStopping = true;
    if (event.type === 'job:status' && event.to === 'failed' && event.error !== undefined && !event.accepted)
      this.#lastFailure = { step: event.step, cell: event.cell, error: event.error };
  }

  progress(now: number): Progress {
    const active = activeIn(this.#steps);
    const made = this.#made(active);
    const isStopping = this.#isStopping || (this.#status !== undefined && this.#status.state !== 'open');
    const open = this.#open(active, made, isStopping);
    const elapsedMs = now - this.#startedAt;
    // How many jobs a wildcard makes is not known here.
    const isKnown = open === 0 || isStopping || !this.#start.steps.some(({ isOpen }) => isOpen);
    const left = isKnown ? timeLeft({ open, active, made, elapsedMs }) : undefined;
    const cost = Math.max(0, (this.#totals?.cost ?? 0) - this.#start.earlier.cost);
    return {
      name: this.#start.name,
      startedAt: Math.min(now, this.#startedAt),
      steps: this.#steps.map(progressOf),
      open,
      tasks: inFlight(this.#steps, false),
      downloads: savingIn(this.#steps),
      texts: inFlight(this.#steps, true),
      ...(left === undefined ? {} : { leftMs: left }),
      ...(cost > 0 ? { cost } : {}),
      earlier: this.#start.earlier,
      perMinute: this.#perMinute(),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
      ...this.#notice(),
      stopping: isStopping,
    };
  }

  /** Returns the number of jobs that this run has settled. @param active number in progress */
  #made(active: number): number {
    const [before, now] = [this.#before, this.#totals];
    if (before === undefined || now === undefined) return 0;
    const more = settledJobs(now) - settledJobs(before);
    // Jobs that are made again were settled before, so only their submissions show how many have ended.
    return this.#start.planned?.again === true
      ? Math.max(more, now.attempts - before.attempts - active)
      : more;
  }

  #open(active: number, made: number, isStopping: boolean): number {
    const status = this.#status;
    if (status?.fed === true && status.waiting === 0) return 0;
    if (isStopping) return active;
    const left = this.#start.steps.reduce((sum, step) => sum + step.left, 0);
    return Math.max(1, active, Math.round(left - made));
  }

  #perMinute(): number {
    const [first] = this.#settled;
    const last = this.#settled.at(-1);
    if (first === undefined || last === undefined || last.at - first.at < everyMs / 2) return 0;
    return (Math.max(0, last.jobs - first.jobs) * 60_000) / (last.at - first.at);
  }

  #notice(): { readonly notice?: string } {
    const status = this.#status;
    if (status === undefined) return {};
    const { waiting } = status;
    if (this.#workers === 0 && waiting > 0)
      return { notice: 'no worker is at work: promptpress worker --engine … starts one' };
    const workers = `${this.#workers} ${this.#workers === 1 ? 'worker' : 'workers'}`;
    return { notice: `${workers}, ${waiting} ${waiting === 1 ? 'slice' : 'slices'} left` };
  }
}
