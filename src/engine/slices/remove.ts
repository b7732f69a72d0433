import type { EnginePool } from '../postgres/pool.ts';
import { removeBullmqRun } from '../queue/bullmq-postgres.ts';
import { isLed } from './lead-lease.ts';

/** Number of rows that one statement deletes. */
const atOnce = 2000;

/** Tables with rows of a run, except that of the runs. */
const tables = [
  'jobs',
  'attempts',
  'facts_late',
  'totals',
  'facts',
  'redos',
  'inputs',
  'lacks',
  'replies',
  'tables',
  'leases_over',
  'purse',
  'purse_worker',
  'slices',
  'sessions',
] as const;

/** Prefix of a removed run's name. No run can have such a name: pipeline names contain no slash. */
const removed = 'removed/';

/** SQL: whether `name` is the name of a run. */
export const isNamed = `name NOT LIKE '${removed}%'`;

/**
 * Deletes everything of a run in an engine, and the rest of an interrupted removal. From the start there is no run of this name, so nothing
 * can continue with half of it.
 *
 * @param onDeleted called now and then with the number of deleted rows
 * @throws EngineError
 */
export async function removeRun(
  pool: EnginePool,
  run: number,
  onDeleted: (rows: number) => void = () => undefined,
): Promise<void> {
  await pool.query(
    `UPDATE promptpress.runs SET name = '${removed}' || run, state = 'ended', ended = NULL WHERE run = $1`,
    [run],
  );
  const { rows } = await pool.query<{ run: number }>(
    `SELECT run FROM promptpress.runs WHERE name LIKE '${removed}%'`,
  );
  let deleted = 0;
  for (const left of rows) {
    await removeBullmqRun(pool, left.run);
    for (const table of tables)
      for (let last = atOnce; last === atOnce; ) {
        const gone = await pool.query<{ count: number }>(
          `WITH gone AS (
             DELETE FROM promptpress.${table}
             WHERE ctid = ANY (ARRAY(SELECT ctid FROM promptpress.${table} WHERE run = $1 LIMIT ${atOnce})) RETURNING 1
           ) SELECT count(*)::int AS count FROM gone`,
          [left.run],
        );
        last = gone.rows[0]?.count ?? 0;
        deleted += last;
        onDeleted(deleted);
      }
    await pool.query('DELETE FROM promptpress.runs WHERE run = $1', [left.run]);
  }
}

/** Removes a run that was refused before anything began. @throws EngineError */
export async function forgetEmptyRun(pool: EnginePool, run: number): Promise<void> {
  await pool.query(
    `WITH empty AS (
       DELETE FROM promptpress.runs r WHERE r.run = $1 AND r.spec IS NULL
         AND NOT ${isLed} AND NOT EXISTS (SELECT FROM promptpress.jobs j WHERE j.run = r.run) RETURNING run
     ) DELETE FROM promptpress.facts f USING empty WHERE f.run = empty.run`,
    [run],
  );
}
