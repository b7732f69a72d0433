import { isSettled, type JobRecord, type JobStatus } from '../../plan/job.ts';
import type { Database, Statement } from './sqlite.ts';
import { type DocumentRow, documents } from './texts.ts';
import { type SummedJob, summed } from './totals.ts';

/** A row of `jobs` without its key and its document. */
export interface JobRow extends SummedJob {
  readonly status: JobStatus;
  /** 1: a job without a parent. */
  readonly root: 0 | 1;
  readonly slot: string;
}

/** Returns the row of a record. */
export const rowOf = ({
  status,
  error,
  parent,
  origin,
  attempts,
  cost,
  usage,
  doubtful,
  assumed,
}: JobRecord): JobRow => ({
  status,
  code: error?.code ?? '',
  root: parent === undefined ? 1 : 0,
  slot: origin.slot,
  attempts,
  cost: cost ?? 0,
  tokens: usage?.total ?? 0,
  possible: (doubtful?.cost ?? 0) + (assumed?.cost ?? 0),
  assumed: (doubtful?.tokens ?? 0) + (assumed?.tokens ?? 0),
});

/** Most rows of jobs in work that are kept in memory: a few hundred bytes each. */
const maxKnown = 8192;

interface WrittenRow extends JobRow {
  readonly id: number;
}

/** The result of writing a job. */
export interface Written {
  /** Number of the job. */
  readonly id: number;
  /** The row before; undefined: there was none. */
  readonly last: JobRow | undefined;
}

/**
 * Writes the rows of `jobs`. For an existing row it sets only the columns that differ, because SQLite rewrites the entries of every
 * index whose columns are set, each on its own page in large tables.
 *
 * A job is found by its key once (a new one by the insert itself), and by its number from then on.
 *
 * While it is open, nobody else may write these rows: written rows are not read again until the job is settled.
 */
export class JobRows {
  readonly #database: Database;
  readonly #known = new Map<string, WrittenRow>();
  readonly #before: Statement<WrittenRow>;
  readonly #insert: Statement;
  /** For a row with the same status, code and slot. */
  readonly #updateSums: Statement;
  /** For a row with the same slot. */
  readonly #updateStatus: Statement;
  readonly #updateAll: Statement;
  readonly #one: Statement<DocumentRow>;

  constructor(database: Database) {
    const update = (columns: readonly string[]): Statement =>
      database.prepare(`UPDATE jobs SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`);
    const sums = [...summed, 'doc'];
    this.#database = database;
    this.#before = database.prepare<WrittenRow>(
      `SELECT status, code, root, slot, ${summed.join(', ')}, id FROM jobs WHERE key = ?`,
    );
    const columns = [...sums, 'status', 'code', 'root', 'slot', 'key'];
    this.#insert = database.prepare(
      `INSERT INTO jobs (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT (key) DO NOTHING`,
    );
    this.#updateSums = update(sums);
    this.#updateStatus = update([...sums, 'status', 'code']);
    this.#updateAll = update([...sums, 'status', 'code', 'root', 'slot']);
    this.#one = database.prepare(documents('WHERE key = ?'));
  }

  read(key: string): DocumentRow | undefined {
    return this.#one.get(key);
  }

  /** Runs a transaction of the database. If it fails, cached rows are discarded. */
  transaction<T>(work: () => T): T {
    try {
      return this.#database.transaction(work);
    } catch (failure) {
      this.#known.clear();
      throw failure;
    }
  }

  /** Writes a row within a transaction. The id of a row stays, and with it the order in which jobs came. */
  write(key: string, row: JobRow, doc: string): Written {
    const { status, code, root, slot, attempts, cost, tokens, possible, assumed } = row;
    let last = this.#known.get(key);
    let id = last?.id;
    if (id === undefined) {
      id = this.#insert.insert(attempts, cost, tokens, possible, assumed, doc, status, code, root, slot, key);
      if (id === undefined) {
        last = this.#before.get(key);
        if (last === undefined) throw new Error(`Internal error: job ${key} is there and is not found.`);
        id = last.id;
      }
    }
    if (last !== undefined) {
      if (last.root !== root || last.slot !== slot)
        this.#updateAll.run(attempts, cost, tokens, possible, assumed, doc, status, code, root, slot, id);
      else if (last.status !== status || last.code !== code)
        this.#updateStatus.run(attempts, cost, tokens, possible, assumed, doc, status, code, id);
      else this.#updateSums.run(attempts, cost, tokens, possible, assumed, doc, id);
    }
    if (isSettled(status)) {
      if (last !== undefined) this.#known.delete(key);
    } else {
      if (this.#known.size >= maxKnown) this.#known.clear();
      this.#known.set(key, { ...row, id });
    }
    return { id, last };
  }
}
