import type { Connection } from '../postgres/pool.ts';
import type { SliceQueue, Turn } from './queue.ts';

/**
 * A queue of slices in the rows of the slices themselves: with no second store, nothing can be lost or duplicated. Only the clock of the
 * database counts, and each call is one statement, which works through a pooler.
 */
export class LeaseQueue implements SliceQueue {
  readonly #database: Connection;
  readonly #worker: string;
  readonly #leaseMs: number;

  /** @param worker a unique name */
  constructor(database: Connection, settings: { readonly worker: string; readonly leaseMs: number }) {
    this.#database = database;
    this.#worker = settings.worker;
    this.#leaseMs = settings.leaseMs;
  }

  async take(run: number, session?: number): Promise<Turn | undefined> {
    const { rows } = await this.#database.query<Turn>(
      `UPDATE promptpress.slices s
       SET lease_holder = $1, lease_until = clock_timestamp() + $2 * interval '1 ms', not_before = NULL
       FROM (
         SELECT w.run, w.n FROM promptpress.slices w JOIN promptpress.runs r USING (run)
         WHERE w.run = $3 AND NOT w.done AND r.state = 'open' AND (w.lease_until IS NULL OR w.lease_until < clock_timestamp())
           AND (w.not_before IS NULL OR w.not_before <= clock_timestamp())
           AND NOT EXISTS (SELECT FROM promptpress.lacks l WHERE l.run = w.run AND l.session = $4 AND l.slice = w.n)
           AND NOT promptpress.waits(w.run, w.waits_from, w.n)
         ORDER BY w.n LIMIT 1 FOR NO KEY UPDATE OF w SKIP LOCKED
       ) free
       WHERE s.run = free.run AND s.n = free.n RETURNING s.run, s.n AS slice`,
      [this.#worker, this.#leaseMs, run, session ?? null],
    );
    return rows[0];
  }

  async keep(turns: readonly Turn[]): Promise<readonly Turn[]> {
    if (turns.length === 0) return [];
    const { rows } = await this.#database.query<Turn>(
      `UPDATE promptpress.slices s SET lease_until = clock_timestamp() + $2 * interval '1 ms'
       FROM unnest($3::int[], $4::int[]) AS held(run, n)
       WHERE s.run = held.run AND s.n = held.n AND s.lease_holder = $1 RETURNING s.run, s.n AS slice`,
      [this.#worker, this.#leaseMs, turns.map(({ run }) => run), turns.map(({ slice }) => slice)],
    );
    const kept = new Set(rows.map((turn) => nameOf(turn)));
    return turns.filter((turn) => !kept.has(nameOf(turn)));
  }

  async giveBack({ run, slice }: Turn, delayMs: number): Promise<void> {
    await this.#database.query(
      `UPDATE promptpress.slices SET lease_holder = NULL, lease_until = NULL, not_before = clock_timestamp() + $4 * interval '1 ms'
       WHERE run = $1 AND n = $2 AND lease_holder = $3`,
      [run, slice, this.#worker, delayMs],
    );
  }

  async done({ run, slice }: Turn): Promise<void> {
    await this.#database.query(
      `UPDATE promptpress.slices SET lease_holder = NULL, lease_until = NULL, not_before = NULL
       WHERE run = $1 AND n = $2 AND lease_holder = $3`,
      [run, slice, this.#worker],
    );
  }

  /** Does nothing: the rows of the slices are the queue. */
  async feed(): Promise<void> {}

  async leave(): Promise<void> {}

  /** Does nothing: the rows are removed with their run. */
  async remove(): Promise<void> {}

  async close(): Promise<void> {}
}

const nameOf = ({ run, slice }: Turn): string => `${run}-${slice}`;
