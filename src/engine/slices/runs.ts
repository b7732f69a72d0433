import { isRunEnd, type RunEnd } from '../../run/events.ts';
import { closedKindsOf, forgetClosedKinds } from '../limits/closed-kinds.ts';
import { knownOfService } from '../limits/known-service.ts';
import { type Bounds, openAllowance } from '../limits/run-allowance.ts';
import { documentOf } from '../postgres/engine-error.ts';
import type { Connection, EnginePool } from '../postgres/pool.ts';
import { settledFact } from './late-facts.ts';
import { isAlive, leadElsewhere } from './lead-lease.ts';

/** The status of a run, as all of its processes see it. */
export interface RunStatus {
  /** `open`: slices are taken. `stopping`: all workers drain. `ended`: nothing more is done. */
  readonly state: 'open' | 'stopping' | 'ended';
  /** Number that separates the jobs settled by this run from those of earlier ones. */
  readonly invocation: number;
  /** True where all cells are in slices. */
  readonly fed: boolean;
  /** Number of slices that are not done. */
  readonly waiting: number;
  /** Duration of this invocation so far, by the engine's clock, ms. */
  readonly lastedMs: number;
  /** Number of jobs that failed in this invocation. */
  readonly failures: number;
  /** Number of finished jobs whose redo failed in this invocation; they stay as they were. */
  readonly redosFailed: number;
  /** Number of grids cut into frames in this invocation. */
  readonly gridsCut: number;
  /** Number of tasks that timed out at the gateway in this invocation and were submitted again. */
  readonly timedOutAgain: number;
  /** What its workers know of its service, as selected by `knownOfService`. */
  readonly known: readonly string[];
  /** The kinds that its workers have closed, as selected by `closedKindsOf`. */
  readonly closed: readonly string[];
  /** Version of the engine's tables. */
  readonly schema: number;
  /** Why the invocation ended before everything was done. */
  readonly end?: RunEnd;
}

/** Prefix of the facts with the totals that each session has reported. */
const workFact = 'work.told';

interface StatusRow extends Omit<RunStatus, 'end'> {
  readonly ended: string | null;
}

/** Returns the status of a run; undefined where there is no such run. @throws EngineError */
export async function runStatus(pool: EnginePool, run: number): Promise<RunStatus | undefined> {
  const { rows } = await pool.query<StatusRow>(
    `SELECT state, invocation::float8 AS invocation, fed, ended,
       (SELECT count(*)::int FROM promptpress.slices s WHERE s.run = r.run AND NOT s.done) AS waiting,
       (extract(epoch FROM clock_timestamp() - begun) * 1000)::float8 AS "lastedMs",
       ((SELECT coalesce(sum(t.failures), 0) FROM promptpress.totals t WHERE t.run = r.run AND t.status = '') - failed_before)::float8 AS failures,
       redos_failed::float8 AS "redosFailed", grids_cut::float8 AS "gridsCut", timed_out::float8 AS "timedOutAgain",
       ${knownOfService} AS known, ${closedKindsOf} AS closed, (SELECT max(version) FROM promptpress.schema_version) AS schema
     FROM promptpress.runs r WHERE run = $1`,
    [run],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { ended, ...status } = row;
  return {
    ...status,
    ...(ended === null ? {} : { end: documentOf(ended, isRunEnd, pool.shown, 'the end of a run') }),
  };
}

/** A run with waiting work. */
export interface OpenRun {
  readonly run: number;
  readonly name: string;
  readonly invocation: number;
  /** Number of its slices that a worker could take and no live worker holds. */
  readonly waiting: number;
}

/**
 * Returns the open runs of an engine with waiting slices, the oldest first: what a worker may do next, and how many workers are missing.
 *
 * @throws EngineError
 */
export async function openRuns(pool: EnginePool): Promise<readonly OpenRun[]> {
  const { rows } = await pool.query<OpenRun>(
    `SELECT r.run, r.name, r.invocation::float8 AS invocation, s.waiting
     FROM promptpress.runs r CROSS JOIN LATERAL (
       SELECT count(*)::int AS waiting FROM promptpress.slices s
       WHERE s.run = r.run AND NOT s.done AND NOT promptpress.waits(s.run, s.waits_from, s.n) AND (s.holder IS NULL
         OR EXISTS (SELECT FROM promptpress.sessions w WHERE w.session = s.holder AND w.over)
         OR EXISTS (SELECT FROM promptpress.leases_over h WHERE h.run = s.run AND h.slice = s.n AND h.epoch = s.epoch))
     ) s
     WHERE r.state = 'open' AND s.waiting > 0 ORDER BY r.run`,
  );
  return rows;
}

/** The data with which a coordinator begins an invocation. */
export interface BegunInvocation {
  /** Description of the run for its workers, as text. */
  readonly spec: string;
  /** Epoch of the coordinator. */
  readonly epoch: number;
  /** Spending limits of all workers together. */
  readonly bounds: Bounds;
}

/**
 * Begins an invocation of a run, or continues the open one if its description is equal.
 *
 * Requests that earlier invocations left in flight stay with their slices, which are fenced, lose their cells, and are fed again where one
 * of their jobs is not settled.
 *
 * @returns its number, and whether it continues one whose coordinator was gone
 * @throws StateError `state.locked` where another process leads the run by now; EngineError
 */
export async function beginInvocation(
  pool: EnginePool,
  run: number,
  { spec, epoch, bounds }: BegunInvocation,
): Promise<{ readonly invocation: number; readonly goesOn: boolean }> {
  return await pool.transaction(async (connection) => {
    const { rows } = await connection.query<{
      readonly name: string;
      readonly lead: number;
      readonly state: string;
      readonly spec: string | null;
      readonly invocation: number;
    }>(
      `SELECT name, lead_epoch::float8 AS lead, state, spec, invocation::float8 AS invocation FROM promptpress.runs
       WHERE run = $1 FOR UPDATE`,
      [run],
    );
    const { name = '', lead, state, spec: before, invocation = 0 } = rows[0] ?? {};
    if (lead !== epoch) throw leadElsewhere(pool, name);
    if (state === 'open' && before === spec) return { invocation, goesOn: true };
    await connection.query(
      `UPDATE promptpress.runs SET state = 'open', spec = $2, invocation = invocation + 1, fed = false, fed_upto = 0, ended = NULL,
         first_slice = next_slice, redos_failed = 0, grids_cut = 0, timed_out = 0,
         begun = clock_timestamp(),
         failed_before = (SELECT coalesce(sum(failures), 0) FROM promptpress.totals WHERE run = $1 AND status = '')
       WHERE run = $1`,
      [run, spec],
    );
    await fenceSlices(connection, run);
    await connection.query('DELETE FROM promptpress.slices WHERE run = $1 AND done', [run]);
    await connection.query('DELETE FROM promptpress.lacks WHERE run = $1', [run]);
    await connection.query(forgetClosedKinds, [run]);
    await connection.query(
      `DELETE FROM promptpress.facts WHERE run = $1 AND (starts_with(name, '${workFact} ') OR name = '${settledFact}')`,
      [run],
    );
    await openAllowance(connection, run, bounds);
    return { invocation: invocation + 1, goesOn: false };
  });
}

/** The workers of these slices write nothing more. Slices lose their cells; those with unsettled jobs stay. */
const fenceSlices = (connection: Connection, run: number): Promise<unknown> =>
  connection.query(
    `UPDATE promptpress.slices s SET epoch = epoch + 1, holder = NULL, lease_holder = NULL, lease_until = NULL, not_before = NULL,
       cells = '', last_cell = NULL, waits_from = NULL, done = NOT EXISTS (SELECT FROM promptpress.jobs j WHERE j.run = s.run AND j.slice = s.n AND j.open)
     WHERE s.run = $1`,
    [run],
  );

/**
 * Ends a run, so that its coordinator can change data that workers rely on: no worker takes a slice of it, and a disconnected worker writes
 * nothing more. The next invocation continues it.
 *
 * @param epoch of the coordinator
 * @param mayBeAtWork true: fences busy workers, too
 * @returns the number of busy workers; where they may not be fenced, nothing is changed
 * @throws StateError `state.locked` where another process leads the run by now; EngineError
 */
export async function closeRun(
  pool: EnginePool,
  run: number,
  epoch: number,
  mayBeAtWork = false,
): Promise<number> {
  return await pool.transaction(async (connection) => {
    const { rows } = await connection.query<{ name: string; lead: number; workers: number }>(
      `SELECT name, lead_epoch::float8 AS lead,
         (SELECT count(*)::int FROM promptpress.sessions s WHERE s.run = r.run AND ${isAlive}) AS workers
       FROM promptpress.runs r WHERE run = $1 FOR UPDATE`,
      [run],
    );
    const { name = '', lead, workers = 0 } = rows[0] ?? {};
    if (lead !== epoch) throw leadElsewhere(pool, name);
    if (workers > 0 && !mayBeAtWork) return workers;
    const end: RunEnd = { kind: 'interrupted', forced: false };
    await connection.query(
      `UPDATE promptpress.runs SET state = 'ended', ended = coalesce(ended, $2) WHERE run = $1 AND state <> 'ended'`,
      [run, JSON.stringify(end)],
    );
    await fenceSlices(connection, run);
    return workers;
  });
}

/** Ends a run before everything is done: every worker drains within a second. The first end counts. @throws EngineError */
export async function stopRun(pool: EnginePool, run: number, invocation: number, end: RunEnd): Promise<void> {
  await pool.query(
    `UPDATE promptpress.runs SET state = 'stopping', ended = $3 WHERE run = $1 AND invocation = $2 AND state = 'open'`,
    [run, invocation, JSON.stringify(end)],
  );
}

/** Totals of a worker's results that its records do not contain. */
export type TalliedWork = Pick<RunStatus, 'redosFailed' | 'gridsCut' | 'timedOutAgain'>;

/** Adds a worker's new totals to those of its invocation. Repeating the same totals changes nothing. @throws EngineError */
export async function tellWork(
  pool: EnginePool,
  {
    run,
    invocation,
    session,
  }: { readonly run: number; readonly invocation: number; readonly session: number },
  done: TalliedWork,
): Promise<void> {
  const more = (name: keyof TalliedWork): string =>
    `(told.work ->> '${name}')::bigint - coalesce((told.before ->> '${name}')::bigint, 0)`;
  await pool.query(
    `WITH was AS (SELECT value::json AS work FROM promptpress.facts WHERE run = $1 AND name = $3),
       noted AS (
         INSERT INTO promptpress.facts SELECT run, $3, $4 FROM promptpress.runs WHERE run = $1 AND invocation = $2
         ON CONFLICT (run, name) DO UPDATE SET value = excluded.value RETURNING value::json AS work
       ),
       told AS (SELECT noted.work, was.work AS before FROM noted LEFT JOIN was ON true)
     UPDATE promptpress.runs SET redos_failed = redos_failed + ${more('redosFailed')}, grids_cut = grids_cut + ${more('gridsCut')},
       timed_out = timed_out + ${more('timedOutAgain')}
     FROM told WHERE run = $1 AND invocation = $2`,
    [run, invocation, `${workFact} ${invocation} ${session}`, JSON.stringify(done)],
  );
}

/** Ends this invocation. @param epoch of the coordinator; absent where there is none @throws EngineError */
export async function endRun(
  pool: EnginePool,
  run: number,
  invocation: number,
  epoch?: number,
): Promise<void> {
  await pool.query(
    `UPDATE promptpress.runs SET state = 'ended' WHERE run = $1 AND invocation = $2 AND ($3::bigint IS NULL OR lead_epoch = $3)`,
    [run, invocation, epoch ?? null],
  );
}
