import type { EnginePool } from '../postgres/pool.ts';

/** Whose slices are looked for. */
interface OrphanPorts {
  readonly pool: Pick<EnginePool, 'query'>;
  readonly run: number;
  /** Of the worker that looks. */
  readonly session: number;
}

/** Slices that a worker holds at most when it takes over another whose cells it does not want. */
const mostHeld = 64;

/** The slices of a run that dead workers have left, as one worker counts them from time to time. */
export class Orphans {
  readonly #ports: OrphanPorts;
  readonly #held: () => number;
  readonly #listeners = new Set<(areThere: boolean) => void>();
  /** As they were counted last, without those that were taken since. */
  #left = 0;

  /** @param held how many slices the worker holds */
  constructor(ports: OrphanPorts, held: () => number) {
    this.#ports = ports;
    this.#held = held;
  }

  /** True where there are any, as they were counted last. */
  get areThere(): boolean {
    return this.#left > 0;
  }

  /**
   * Registers a listener that is told whether there are any, when that changes.
   *
   * @returns what removes the listener
   */
  onChange(listener: (areThere: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The worker has taken a slice: one of them, or none is there to be taken. */
  onTaken(): void {
    this.#note(this.#left - 1);
  }

  /** @throws EngineError */
  async count(): Promise<void> {
    const { pool, run, session } = this.#ports;
    const { rows } = await pool.query<{ n: number }>(silentHolders, [run, session]);
    this.#note(Math.min(rows[0]?.n ?? 0, mostHeld - this.#held()));
  }

  #note(left: number): void {
    const [were, are] = [this.#left > 0, left > 0];
    this.#left = Math.max(0, left);
    if (were !== are) for (const listener of this.#listeners) listener(are);
  }
}

/**
 * How many slices are held by workers that were not seen for their lease: all of them may be taken over. By the clock of the engine, which is
 * good enough to look for them; whose a slice is, its epoch says.
 */
const silentHolders = `
  SELECT count(*)::int AS n FROM promptpress.slices s JOIN promptpress.sessions w ON w.session = s.holder
  WHERE s.run = $1 AND NOT s.done AND s.holder <> $2 AND w.seen < clock_timestamp() - w.lease_ms * interval '1 ms'
    AND NOT EXISTS (SELECT FROM promptpress.holds_over o WHERE o.run = s.run AND o.slice = s.n AND o.epoch = s.epoch)`;
