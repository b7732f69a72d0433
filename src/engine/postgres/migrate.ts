import { EngineError } from './engine-error.ts';
import type { Connection, EnginePool } from './pool.ts';

/** The schema of the database that holds all tables and functions of promptpress. */
export const schemaName = 'promptpress';

/** Any number that nothing else in a database is likely to lock: "PPrs" in ASCII. */
const migrationLock = 0x50507273;

/**
 * Brings the tables of an engine up to date: `run` does so, a worker never does. Any number of processes may call it at once.
 *
 * @param steps the SQL that leads to version 1, 2, …: never changed once released, only added to
 * @throws EngineError `engine.schema` where a newer release has been there
 */
export async function migrate(pool: EnginePool, steps: readonly string[]): Promise<void> {
  if ((await versionOf(pool)) === steps.length) return;
  await pool.transaction(async (connection) => {
    // One after another; the lock goes with the transaction, so that it needs no session of its own.
    await connection.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    await connection.query(`CREATE SCHEMA IF NOT EXISTS ${schemaName}`);
    await connection.query(`SET LOCAL search_path = ${schemaName}`);
    await connection.query('CREATE TABLE IF NOT EXISTS schema_version (version int NOT NULL)');
    const found = await versionOf(connection);
    if (found > steps.length) throw tooNew(pool.shown, found, steps.length);
    if (found === steps.length) return;
    for (const step of steps.slice(found)) await connection.query(step);
    await connection.query('DELETE FROM schema_version');
    await connection.query('INSERT INTO schema_version VALUES ($1)', [steps.length]);
  });
}

/**
 * Refuses an engine whose tables another release made.
 *
 * @param current how many steps this release knows
 * @throws EngineError `engine.empty` | `engine.schema`
 */
export async function checkSchema(pool: EnginePool, current: number): Promise<void> {
  const found = await versionOf(pool);
  if (found > current) throw tooNew(pool.shown, found, current);
  if (found === current) return;
  throw new EngineError(
    found === 0 ? 'empty' : 'schema',
    found === 0
      ? `The engine ${pool.shown} holds no run.`
      : `The engine ${pool.shown} was written by an older release of promptpress (version ${found}; this release needs ${current}).`,
    'Start a run there with this release: `promptpress run FILE --engine …` brings its tables up to date. Workers never do.',
  );
}

const tooNew = (shown: string, found: number, current: number): EngineError =>
  new EngineError(
    'schema',
    `The engine ${shown} was written by a newer release of promptpress (version ${found}; this release knows ${current}).`,
    'Upgrade promptpress here. Until then this process takes no work there.',
  );

/** 0: there are no tables. */
async function versionOf(connection: Connection): Promise<number> {
  const table = `${schemaName}.schema_version`;
  const { rows } = await connection.query<{ known: boolean }>('SELECT to_regclass($1) IS NOT NULL AS known', [
    table,
  ]);
  if (rows[0]?.known !== true) return 0;
  return (await connection.query<{ version: number }>(`SELECT version FROM ${table}`)).rows[0]?.version ?? 0;
}
