import { SaveError } from '../../../artifacts/failure.ts';
import { EngineError } from '../../../engine/postgres/engine-error.ts';
import { type EngineTrouble, troubleLine } from '../../../engine/postgres/troubles.ts';
import type { SliceQueue } from '../../../engine/queue/queue.ts';
import { pause } from '../../../engine/slices/feeder.ts';
import { WorkerSlots } from '../../../engine/slots.ts';
import { shownLine } from '../../../report/text/printable.ts';
import type { RunEnd, RunListener } from '../../../run/events.ts';
import { StateError } from '../../../state/store.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors/cli-error.ts';
import type { Interrupts } from '../../output/io.ts';
import type { OpenEngine } from '../../service/engine/connect.ts';
import { version } from '../../version.ts';
import { type NamedQueue, openQueue, type QueueChoice } from '../queue.ts';
import { readSpec } from '../spec.ts';
import { prepareRun } from './prepare.ts';
import { workOnRun } from './work.ts';

/** How often to look for open runs, ms. */
const lookMs = 1000;
/** Largest number of runs that a worker works on at the same time. */
const maxRuns = 4;
/** Number of failed attempts to begin a run before a temporary error is reported. */
const saidAfter = 3;

/** The settings of a worker. */
export interface WorkerSettings {
  readonly name: string;
  readonly leaseMs: number;
  readonly slots: number | undefined;
  readonly 'files-root': string | undefined;
  /** Address of the Redis for runs whose queue is on Redis. */
  readonly queue: NamedQueue | undefined;
  /** Absolute paths where this machine may have the folders of runs. */
  readonly folders: readonly string[];
  /** End when no work is left. */
  readonly once: boolean;
}

interface OpenRow {
  readonly run: number;
  readonly name: string;
  readonly invocation: number;
}

/** The main loop of a worker: works on the open runs of an engine until the process ends. */
export class WorkerLoop {
  readonly #engine: OpenEngine;
  readonly #settings: WorkerSettings;
  readonly #interrupts: Interrupts;
  readonly #disposables: Disposables;
  readonly #context: Context;
  readonly #listener: RunListener;
  readonly #busy = new Map<number, Promise<void>>();
  /** Invocations that this process cannot or will not work on. */
  readonly #refused = new Set<string>();
  readonly #queues = new Map<string, Promise<SliceQueue>>();
  /** Number of consecutive failures to begin, by run. */
  readonly #failed = new Map<number, number>();
  #said: string | undefined;
  /** True once an open run was found, whether or not this worker took it. */
  #hasFound = false;
  /** Task slots shared by all runs of this worker. */
  readonly #slots: WorkerSlots;
  #bug: { readonly error: unknown } | undefined;

  constructor(
    engine: OpenEngine,
    settings: WorkerSettings,
    interrupts: Interrupts,
    listener: RunListener,
    disposables: Disposables,
    context: Context,
  ) {
    this.#engine = engine;
    this.#settings = settings;
    this.#interrupts = interrupts;
    this.#listener = listener;
    this.#disposables = disposables;
    this.#context = context;
    this.#slots = new WorkerSlots(settings.slots);
  }

  /** Runs the loop. @throws EngineError for a lasting fault of the engine; Error beginning `Internal error:` for a bug */
  async run(): Promise<void> {
    const { clock, pool } = this.#engine;
    const { drain } = this.#interrupts;
    const { troubles } = pool;
    const unlisten = troubles.onTrouble((trouble) => this.#onTrouble(trouble));
    try {
      while (!drain.aborted && this.#bug === undefined && troubles.lost === undefined) {
        const isIdle = await this.#look();
        if (isIdle && this.#settings.once) {
          if (!this.#hasFound) this.#say('no run is open on the engine: there was nothing to do.');
          break;
        }
        await Promise.race([pause(clock, lookMs, drain), ...this.#busy.values()]);
      }
      await Promise.all(this.#busy.values());
    } finally {
      unlisten();
    }
    if (this.#bug !== undefined) throw this.#bug.error;
    if (troubles.lost !== undefined) throw troubles.lost;
  }

  #onTrouble(trouble: EngineTrouble): void {
    // The error that ends this process is reported at its end.
    if (trouble.kind !== 'lost') this.#say(troubleLine(trouble, this.#engine.address.shown));
  }

  /** Starts work on open runs. @returns whether nothing is left to do */
  async #look(): Promise<boolean> {
    let rows: readonly OpenRow[];
    try {
      ({ rows } = await this.#engine.pool.query<OpenRow>(
        `SELECT run, name, invocation::float8 AS invocation FROM promptpress.runs r
         WHERE state = 'open' AND spec IS NOT NULL
           AND (NOT fed OR EXISTS (SELECT FROM promptpress.slices s WHERE s.run = r.run AND NOT s.done)) ORDER BY run`,
      ));
    } catch (error) {
      // Engine errors are reported once they last.
      if (!(error instanceof StateError)) throw error;
      return false;
    }
    if (rows.length > 0) this.#hasFound = true;
    const open = rows.filter((row) => !this.#refused.has(nameOf(row)));
    for (const row of open) {
      if (this.#busy.has(row.run) || this.#busy.size >= maxRuns) continue;
      const work = this.#workOn(row).finally(() => this.#busy.delete(row.run));
      this.#busy.set(row.run, work);
    }
    return open.length === 0 && this.#busy.size === 0;
  }

  /** Works on one run. Never rejects. */
  async #workOn(row: OpenRow): Promise<void> {
    try {
      await this.#begin(row);
    } catch (error) {
      if (this.#engine.pool.troubles.lost !== undefined) return;
      if (error instanceof EngineError && error.code === 'engine.damaged')
        return this.#refuse(row, error.message, error.hint);
      if (error instanceof StateError) {
        this.#onFailure(row, error);
        return await pause(this.#engine.clock, lookMs, this.#interrupts.drain);
      }
      if (error instanceof CliError) return this.#refuse(row, error.message, error.hint);
      if (error instanceof SaveError) return this.#refuse(row, error.failure.message);
      this.#bug ??= { error };
    }
  }

  async #begin(row: OpenRow): Promise<void> {
    const { run, name, invocation } = row;
    const { pool, address } = this.#engine;
    const { rows } = await pool.query<{ spec: string | null }>(
      'SELECT spec FROM promptpress.runs WHERE run = $1 AND invocation = $2',
      [run, invocation],
    );
    if (rows[0] === undefined) return;
    const read = readSpec(rows[0].spec);
    if (!('spec' in read))
      return this.#refuse(
        row,
        read.other === undefined
          ? 'Its description in the engine cannot be read.'
          : `It was begun by promptpress ${read.other}, and this worker is ${version}.`,
        'Start a worker of that release for it, or give the command of the run again with this one.',
      );
    const { spec } = read;
    const of = { pool, run, invocation, shown: `the run ${address.shown}#${name}` };
    const prepared = await prepareRun(spec, this.#settings, of, this.#context);
    const queue = await this.#queueOf(spec.queue);
    const { leaseMs, once, folders } = this.#settings;
    this.#failed.delete(run);
    this.#said = undefined;
    this.#say(`${name}: started.`);
    const report = await workOnRun(
      this.#engine,
      {
        run,
        invocation,
        spec,
        prepared,
        name: this.#settings.name,
        leaseMs,
        slots: this.#slots,
        queue,
        once,
        folders,
      },
      this.#interrupts,
      this.#listenerOf(name),
      this.#context,
    );
    this.#say(`${name}: ${endWords(report.end)}; ${report.submits} submissions of this worker.`);
    if (report.listenerError !== undefined) this.#bug ??= { error: report.listenerError };
  }

  /** Returns a listener that reports an unavailable place of the files and, once per run, files that differ on this machine. */
  #listenerOf(name: string): RunListener {
    let hasSaid = false;
    return (event) => {
      this.#listener(event);
      if (event.type === 'run:notice' && event.code === 'results.away')
        this.#say(`${name}: ${event.message}`);
      if (hasSaid) return;
      const said =
        event.type === 'slot:status' && event.error?.code.startsWith('input.') === true
          ? event.error.message
          : event.type === 'run:notice' && event.code === 'input.differs'
            ? event.message
            : undefined;
      if (said === undefined) return;
      hasSaid = true;
      this.#say(`${name}: ${said}`);
    };
  }

  #queueOf(choice: QueueChoice): Promise<SliceQueue> {
    const name = JSON.stringify(choice);
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const { name: worker, leaseMs, queue: named } = this.#settings;
    const opening = openQueue(this.#engine, choice, { worker, leaseMs, mayMigrate: false, named });
    this.#queues.set(name, opening);
    opening.then(
      (queue) => this.#disposables.add(() => queue.close()),
      () => this.#queues.delete(name),
    );
    return opening;
  }

  #refuse(row: OpenRow, message: string, hint?: string): void {
    this.#refused.add(nameOf(row));
    this.#say(`${row.name}: not started. ${message}${hint === undefined ? '' : `\n  ${hint}`}`);
  }

  #onFailure({ run, name }: OpenRow, error: StateError): void {
    const failed = (this.#failed.get(run) ?? 0) + 1;
    this.#failed.set(run, failed);
    if (error instanceof EngineError && error.mayPass && failed < saidAfter) return;
    this.#sayOnce(`${name}: ${error.message}`);
  }

  #sayOnce(text: string): void {
    if (this.#said === text) return;
    this.#said = text;
    this.#say(`${text} It is tried again.`);
  }

  #say(text: string): void {
    const { io } = this.#context;
    const lines = text.split('\n').map(shownLine).join('\n');
    io.err(`${new Date(io.now()).toISOString()} ${this.#settings.name}: ${lines}\n`);
  }
}

const nameOf = ({ run, invocation }: OpenRow): string => `${run}/${invocation}`;

const endWords = (end: RunEnd): string =>
  'message' in end ? `ended: ${end.message}` : end.kind === 'complete' ? 'nothing left to do' : 'stopped';
