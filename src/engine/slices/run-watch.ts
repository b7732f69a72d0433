import type { Clock } from '../../run/clock.ts';
import type { RunEnd } from '../../run/events.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { type RunStatus, runStatus } from './runs.ts';
import { every } from './session.ts';

/** Poll interval, ms: an end caused elsewhere is known within a second. */
const everyMs = 900;

/** Settings of a RunWatch. */
export interface WatchSettings {
  /** Version of the engine's tables that this release supports. */
  readonly schema?: number;
  /** Called with each status of an open run. */
  readonly onLook?: (status: RunStatus) => void;
}

/** Polls the status of an invocation, including its end, for one process. The loss of the engine is the end for this process. */
export class RunWatch {
  readonly #pool: EnginePool;
  readonly #run: number;
  readonly #invocation: number;
  readonly #listeners = new Set<(end: RunEnd) => void>();
  readonly #stop: () => Promise<void>;
  readonly #settings: WatchSettings;
  readonly #unwatch: () => void;
  #status: RunStatus | undefined;
  #end: RunEnd | undefined;

  constructor(pool: EnginePool, clock: Clock, run: number, invocation: number, settings: WatchSettings = {}) {
    this.#settings = settings;
    this.#unwatch = pool.troubles.onTrouble(() => this.#onTrouble());
    this.#pool = pool;
    this.#run = run;
    this.#invocation = invocation;
    this.#stop = every(clock, everyMs, () => this.look());
  }

  /** The last status. */
  get status(): RunStatus | undefined {
    return this.#status;
  }

  /** True where no more slices of this invocation are to be taken. */
  get isOver(): boolean {
    return this.#end !== undefined || (this.#status !== undefined && !this.#isOpen(this.#status));
  }

  readonly onEnd = (listener: (end: RunEnd) => void): (() => void) => {
    if (this.#end !== undefined) listener(this.#end);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Reads the status once. @throws EngineError */
  async look(): Promise<void> {
    const status = await runStatus(this.#pool, this.#run);
    // The removal of a run ends its workers too.
    this.#status = status ?? removed(this.#invocation);
    const { schema, onLook } = this.#settings;
    if (status !== undefined && schema !== undefined && status.schema !== schema)
      this.#pool.troubles.fail(otherSchema(this.#pool.shown, status.schema, schema));
    if (status !== undefined && this.#isOpen(status)) onLook?.(status);
    if (this.#isOpen(this.#status) || this.#end !== undefined) return;
    const isDone = this.#status.state === 'ended' && this.#status.end === undefined;
    if (isDone && this.#status.invocation === this.#invocation) return;
    this.#tell(this.#status.end ?? { kind: 'interrupted', forced: false });
  }

  async stop(): Promise<void> {
    this.#unwatch();
    await this.#stop();
  }

  #onTrouble(): void {
    const { lost } = this.#pool.troubles;
    if (lost !== undefined && this.#end === undefined)
      this.#tell({ kind: 'disk', code: lost.code, message: lost.message });
  }

  #tell(end: RunEnd): void {
    this.#end = end;
    for (const listener of this.#listeners) listener(end);
  }

  #isOpen({ state, invocation }: RunStatus): boolean {
    return state === 'open' && invocation === this.#invocation;
  }
}

const removed = (invocation: number): RunStatus => ({
  state: 'ended',
  invocation,
  fed: true,
  waiting: 0,
  lastedMs: 0,
  failures: 0,
  redosFailed: 0,
  gridsCut: 0,
  timedOutAgain: 0,
  known: [],
  closed: [],
  schema: 0,
});

const otherSchema = (shown: string, found: number, known: number): EngineError =>
  new EngineError(
    'schema',
    `The tables of the engine ${shown} were changed by another release of promptpress (version ${found}; this release knows ${known}).`,
    'Use that release here, too.',
  );
