import type { EnginePool } from '../postgres/pool.ts';

/** The run and the worker for which orphans are counted. */
interface OrphanPorts {
  readonly pool: Pick<EnginePool, 'query'>;
  readonly run: number;
  /** Session of the worker that counts. */
  readonly session: number;
}

/** Largest number of slices that a worker holds when it takes over another whose cells it does not need. */
const maxHeld = 64;

/** Counts the slices of a run that dead workers have left, as seen by one worker from time to time. */
export class Orphans {
  readonly #ports: OrphanPorts;
  readonly #held: () => number;
  readonly #listeners = new Set<(areThere: boolean) => void>();
  /** Number at the last count, without slices taken since. */
  #left = 0;

  /** @param held returns the number of slices that the worker holds */
  constructor(ports: OrphanPorts, held: () => number) {
    this.#ports = ports;
    this.#held = held;
  }

  /** Whether there were any at the last count. */
  get areThere(): boolean {
    return this.#left > 0;
  }

  /**
   * Registers a listener that is called when orphans appear or are gone.
   *
   * @returns a function that removes the listener
   */
  onChange(listener: (areThere: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes that the worker has taken a slice, perhaps one of them, or found none to take. */
  onTaken(): void {
    this.#note(this.#left - 1);
  }

  /** Counts the orphans. @throws EngineError */
  async count(): Promise<void> {
    const { pool, run, session } = this.#ports;
    const { rows } = await pool.query<{ n: number }>(silentHolders, [run, session]);
    this.#note(Math.min(rows[0]?.n ?? 0, maxHeld - this.#held()));
  }

  #note(left: number): void {
    const [were, are] = [this.#left > 0, left > 0];
    this.#left = Math.max(0, left);
    if (were !== are) for (const listener of this.#listeners) listener(are);
  }
}

/**
 * SQL: the number of slices held by workers that were silent for their lease; all of them may be taken over. The clock of the engine is
 * good enough for the search; the epoch decides who owns a slice.
 */
const silentHolders = `
  SELECT count(*)::int AS n FROM promptpress.slices s JOIN promptpress.sessions w ON w.session = s.holder
  WHERE s.run = $1 AND NOT s.done AND s.holder <> $2 AND w.seen < clock_timestamp() - w.lease_ms * interval '1 ms'
    AND NOT EXISTS (SELECT FROM promptpress.leases_over o WHERE o.run = s.run AND o.slice = s.n AND o.epoch = s.epoch)`;
