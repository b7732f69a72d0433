import type { Clock } from '../../run/clock.ts';
import type { RunEnd } from '../../run/events.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { type RunStatus, runStatus } from './runs.ts';
import { every } from './session.ts';

/** How often is looked, ms: an end from elsewhere is known within a second. */
const everyMs = 500;

/** What all workers of an invocation know of its end. */
export class RunWatch {
  readonly #pool: EnginePool;
  readonly #run: number;
  readonly #invocation: number;
  readonly #listeners = new Set<(end: RunEnd) => void>();
  readonly #stop: () => Promise<void>;
  #status: RunStatus | undefined;
  #end: RunEnd | undefined;

  constructor(pool: EnginePool, clock: Clock, run: number, invocation: number) {
    this.#pool = pool;
    this.#run = run;
    this.#invocation = invocation;
    this.#stop = every(clock, everyMs, () => this.look());
  }

  /** As it was when it was looked last. */
  get status(): RunStatus | undefined {
    return this.#status;
  }

  /** No more slices of this invocation are to be taken. */
  get isOver(): boolean {
    return this.#end !== undefined || (this.#status !== undefined && !this.#isOpen(this.#status));
  }

  readonly onEnd = (listener: (end: RunEnd) => void): (() => void) => {
    if (this.#end !== undefined) listener(this.#end);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @throws EngineError */
  async look(): Promise<void> {
    const status = await runStatus(this.#pool, this.#run);
    // A run that was removed ends its workers too.
    this.#status = status ?? { state: 'ended', invocation: this.#invocation, fed: true, waiting: 0 };
    if (this.#isOpen(this.#status) || this.#end !== undefined) return;
    const isDone = this.#status.state === 'ended' && this.#status.end === undefined;
    if (isDone && this.#status.invocation === this.#invocation) return;
    this.#end = this.#status.end ?? { kind: 'interrupted', forced: false };
    for (const listener of this.#listeners) listener(this.#end);
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  #isOpen({ state, invocation }: RunStatus): boolean {
    return state === 'open' && invocation === this.#invocation;
  }
}
