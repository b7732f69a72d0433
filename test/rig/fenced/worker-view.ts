import type { Attempt, JobRecord } from '../../../src/plan/job.ts';
import type { Lease } from '../../../src/run/ports.ts';
import type { LateFact, TaskClaims, Turn } from '../../../src/state/store.ts';
import { type FencedState, type Request, type Row, rowsOf } from './fenced-state.ts';

/** A row as it is shown; `turn`: the turn of this worker that decided it. */
type Shown = Row & { readonly turn?: number };

/**
 * What one worker knows of a shared state: what its decisions are made from. What it has decided is shown from the moment at which the turn
 * leaves, as it will be once the turn is written.
 */
export class WorkerView {
  readonly #state: FencedState;
  readonly #now: () => number;
  readonly #rows = new Map<string, Shown>();
  #turns = 0;
  /** The last turn that is over. */
  #settled = 0;

  /** @param now by the clock of the worker, Unix ms */
  constructor(state: FencedState, now: () => number = () => 0) {
    this.#state = state;
    this.#now = now;
  }

  get(key: string): JobRecord | undefined {
    return this.#rows.get(key)?.record;
  }

  /** How far the job is of an open order to make it anew, as it was read with its record. */
  redoOf(key: string): Row['redo'] {
    return this.#rows.get(key)?.redo;
  }

  leaseOf(key: string): Lease | undefined {
    const row = this.#rows.get(key);
    return row && { slice: row.slice, epoch: Math.floor(row.rev / 2 ** 32), basis: row.version };
  }

  /** Reads these records, again or for the first time. @returns what was heard late of them */
  read(keys: Iterable<string>): readonly LateFact[] {
    const { rows, lateFacts } = this.#state.read(keys);
    // What was decided in a turn that is under way is not in it.
    for (const [key, row] of rows)
      if ((this.#rows.get(key)?.turn ?? 0) <= this.#settled) this.#rows.set(key, row);
    return lateFacts;
  }

  attempts(key: string): readonly Attempt[] {
    return this.#state.attempts(key);
  }

  /** Who got a task; their records are shown from then on, and those that they come from. */
  claims(record: JobRecord): TaskClaims {
    const claims = this.#state.claims(record, this.#now());
    for (let keys = claims.keys.filter((key) => key !== record.key); keys.length > 0; ) {
      this.read(keys);
      keys = keys.flatMap((key) => this.get(key)?.parent ?? []);
    }
    return claims;
  }

  /** A turn, to be committed whenever it arrives. */
  request(turn: Turn): Request {
    this.#turns += 1;
    const number = this.#turns;
    for (const { row, redo = this.redoOf(row.record.key) } of rowsOf({ turn, number }))
      this.#rows.set(row.record.key, { ...row, redo: redo === 'made' ? undefined : redo, turn: number });
    return { turn, number };
  }

  /** The answer to a turn has come, or there is none. What was not written is shown no more. */
  settled({ turn, number }: Request): void {
    this.#settled = number;
    const keys = turn.records.map(({ key }) => key);
    for (const key of keys) if (!this.#state.rows.has(key)) this.#rows.delete(key);
    this.read(keys);
  }
}
