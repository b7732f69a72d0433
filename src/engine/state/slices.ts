import type { Connection, EnginePool } from '../postgres/pool.ts';

/** A slice that a worker has taken. */
export interface TakenSlice {
  /** Epoch of this lease; a takeover gets a greater one. */
  readonly epoch: number;
  /** The cells as they were fed. */
  readonly cells: string;
}

const first = async <Row>(
  pool: EnginePool,
  text: string,
  values: readonly unknown[],
): Promise<Row | undefined> => (await pool.query<Row>(text, values)).rows[0];

/** Returns the number of the run with this name; creates it where there is none. @throws EngineError */
export async function registerRun(pool: EnginePool, name: string): Promise<number> {
  const row = await first<{ run: number }>(
    pool,
    // The update changes nothing, but makes PostgreSQL return the existing row.
    'INSERT INTO promptpress.runs (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING run',
    [name],
  );
  return row?.run ?? 0;
}

/** Begins a session of a worker. A worker that has lost slices begins another one. @throws EngineError */
export async function openSession(pool: EnginePool, name: string): Promise<number> {
  const row = await first<{ session: number }>(
    pool,
    'INSERT INTO promptpress.sessions (name) VALUES ($1) RETURNING session::float8 AS session',
    [name],
  );
  return row?.session ?? 0;
}

/** More than the number of sessions of any run, or of takeovers of a slice, since its last backup. */
const beyondForgotten = 1_000_000;

/**
 * Raises the session and epoch numbers of a run whose state was restored from a backup: a disconnected process may still be alive that the
 * state has forgotten, and no new session or lease may get its number.
 *
 * @throws EngineError
 */
export async function passForgotten(pool: EnginePool, run: number): Promise<void> {
  await pool.query(
    `SELECT setval(name, nextval(name) + ${beyondForgotten}) FROM pg_get_serial_sequence('promptpress.sessions', 'session') AS name`,
  );
  await pool.query('UPDATE promptpress.slices SET epoch = epoch + $2 WHERE run = $1', [run, beyondForgotten]);
}

/** Marks a session as ended: it sends nothing more, and all its results are written. @throws EngineError */
export async function endSession(pool: Connection, session: number): Promise<void> {
  await pool.query('UPDATE promptpress.sessions SET over = true, ended = true WHERE session = $1', [session]);
}

/** Marks one lease of a slice as ended: its results are written, and nothing is in flight. @throws EngineError */
export async function endLease(pool: EnginePool, run: number, slice: number, epoch: number): Promise<void> {
  await pool.query('INSERT INTO promptpress.leases_over VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    run,
    slice,
    epoch,
  ]);
}

/** Reports that all cells of a slice are closed. @returns whether this lease was still valid @throws EngineError */
export async function closeSlice(
  pool: EnginePool,
  run: number,
  slice: number,
  epoch: number,
  belowDoubt: boolean,
): Promise<boolean> {
  const { rows } = await pool.query<{ n: number }>(
    `WITH closed AS (
       UPDATE promptpress.slices SET done = true, below_doubt = $4 WHERE run = $1 AND n = $2 AND epoch = $3 RETURNING run, n
     )
     SELECT n, promptpress.fold_totals(run, n) FROM closed`,
    [run, slice, epoch, belowDoubt],
  );
  return rows.length > 0;
}

/** Adds slices to a run; existing ones stay as they are. @throws EngineError */
export async function addSlices(
  pool: EnginePool,
  run: number,
  slices: readonly { readonly n: number; readonly cells: string }[],
): Promise<void> {
  await pool.query(
    `INSERT INTO promptpress.slices (run, n, cells)
     SELECT $1, s.n, s.cells FROM json_to_recordset($2) AS s(n int, cells text) ON CONFLICT DO NOTHING`,
    [run, JSON.stringify(slices)],
  );
}

/**
 * Takes a slice from its holder: waits for its commit in flight, and fences later ones. Undefined where the slice is done, or waits for
 * others.
 *
 * @param invocation absent: any; given: only where the run is open and in this invocation
 * @throws EngineError
 */
export async function takeSlice(
  pool: EnginePool,
  run: number,
  n: number,
  session: number,
  invocation?: number,
): Promise<TakenSlice | undefined> {
  return first(
    pool,
    // A lease that was ended in good order is already marked as ended.
    `UPDATE promptpress.slices s SET epoch = epoch + 1, holder = $3,
       takeovers = takeovers + (holder IS NOT NULL AND NOT EXISTS (
         SELECT FROM promptpress.leases_over o WHERE o.run = s.run AND o.slice = s.n AND o.epoch = s.epoch
       ))::int
     WHERE run = $1 AND n = $2 AND NOT done AND NOT promptpress.waits(run, waits_from, n)
       AND ($4::bigint IS NULL OR EXISTS (
         SELECT FROM promptpress.runs WHERE run = $1 AND state = 'open' AND invocation = $4 FOR SHARE
       ))
     RETURNING epoch::float8 AS epoch, coalesce(cells, '') AS cells`,
    [run, n, session, invocation ?? null],
  );
}
