import type { Connection, EnginePool } from '../postgres/pool.ts';

/** A slice that was taken. */
export interface TakenSlice {
  /** Names this holding of it: whoever takes it over gets a greater one. */
  readonly epoch: number;
  /** As it was fed. */
  readonly cells: string;
}

const first = async <Row>(
  pool: EnginePool,
  text: string,
  values: readonly unknown[],
): Promise<Row | undefined> => (await pool.query<Row>(text, values)).rows[0];

/** The number of the run of this name; where there is none, it is made. @throws EngineError */
export async function registerRun(pool: EnginePool, name: string): Promise<number> {
  const row = await first<{ run: number }>(
    pool,
    // The update changes nothing: it makes the row that is there one that is returned.
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

/** More than any run has of sessions, or of takeovers of a slice, since it was backed up. */
const beyondForgotten = 1_000_000;

/**
 * Goes on with a state that is older than its run: a process that the state has forgotten may live, cut off, and no session and no holding of a
 * slice that there is gets the number of one of its.
 *
 * @throws EngineError
 */
export async function passForgotten(pool: EnginePool, run: number): Promise<void> {
  await pool.query(
    `SELECT setval(name, nextval(name) + ${beyondForgotten}) FROM pg_get_serial_sequence('promptpress.sessions', 'session') AS name`,
  );
  await pool.query('UPDATE promptpress.slices SET epoch = epoch + $2 WHERE run = $1', [run, beyondForgotten]);
}

/** Says that a session sends nothing more, and that all it has heard is written. @throws EngineError */
export async function endSession(pool: Connection, session: number): Promise<void> {
  await pool.query('UPDATE promptpress.sessions SET over = true, ended = true WHERE session = $1', [session]);
}

/** Says the same of one holding of a slice: what was heard for it is written, and nothing is under way. @throws EngineError */
export async function endHold(pool: EnginePool, run: number, slice: number, epoch: number): Promise<void> {
  await pool.query('INSERT INTO promptpress.holds_over VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    run,
    slice,
    epoch,
  ]);
}

/** Adds slices to a run; those that it has stay as they are. @throws EngineError */
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
 * Takes a slice, from whoever holds it: waits for that holder's commit under way, and fences all later ones. Undefined where it is done.
 *
 * @param invocation absent: whichever the run is in; given: only where the run is open and in this one
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
    // Who has ended a holding in good order has said so.
    `UPDATE promptpress.slices s SET epoch = epoch + 1, holder = $3,
       takeovers = takeovers + (holder IS NOT NULL AND NOT EXISTS (
         SELECT FROM promptpress.holds_over o WHERE o.run = s.run AND o.slice = s.n AND o.epoch = s.epoch
       ))::int
     WHERE run = $1 AND n = $2 AND NOT done
       AND ($4::bigint IS NULL OR EXISTS (
         SELECT FROM promptpress.runs WHERE run = $1 AND state = 'open' AND invocation = $4 FOR SHARE
       ))
     RETURNING epoch::float8 AS epoch, coalesce(cells, '') AS cells`,
    [run, n, session, invocation ?? null],
  );
}
