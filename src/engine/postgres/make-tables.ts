import { EngineError } from './engine-error.ts';
import type { Connection, EnginePool } from './pool.ts';

/** Name of the database schema that contains all tables and functions of promptpress. */
export const schemaName = 'promptpress';

/** An arbitrary lock number that nothing else in a database is likely to use: "PPrs" in ASCII. */
const schemaLock = 0x50507273;

/** The tables and functions that a release creates in an engine's database. */
export interface EngineSchema {
  /** Version number, raised with each release that changes them. */
  readonly version: number;
  readonly sql: string;
}

/**
 * Creates the tables of an engine that has none; called by `run`, never by a worker. Any number of processes may call it at once.
 *
 * @throws EngineError `engine.schema` where another release made them
 */
export async function makeTables(pool: EnginePool, { version, sql }: EngineSchema): Promise<void> {
  if (await areMade(pool, pool, version)) return;
  await pool.transaction(async (connection) => {
    // One process at a time. The lock ends with the transaction, so it needs no session of its own.
    await connection.query('SELECT pg_advisory_xact_lock($1)', [schemaLock]);
    if (await areMade(pool, connection, version)) return;
    await connection.query(`CREATE SCHEMA IF NOT EXISTS ${schemaName}`);
    await connection.query(`SET LOCAL search_path = ${schemaName}`);
    await connection.query('CREATE TABLE IF NOT EXISTS schema_version (version int NOT NULL)');
    await connection.query(sql);
    await connection.query('INSERT INTO schema_version VALUES ($1)', [version]);
  });
}

/**
 * Rejects an engine without tables, or with tables of another release.
 *
 * @throws EngineError `engine.empty` | `engine.schema`
 */
export async function checkTables(pool: EnginePool, { version }: EngineSchema): Promise<void> {
  if (await areMade(pool, pool, version)) return;
  throw new EngineError(
    'empty',
    `The engine ${pool.shown} holds no run.`,
    'Start a run there: `promptpress run FILE --engine …`.',
  );
}

/** Whether the tables exist. @throws EngineError `engine.schema` */
async function areMade({ shown }: EnginePool, connection: Connection, version: number): Promise<boolean> {
  // Not to_regclass: a session that found no table remembers that until its transaction ends.
  const { rows } = await connection.query(
    `SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = 'schema_version'`,
    [schemaName],
  );
  if (rows.length === 0) return false;
  const [row] = (
    await connection.query<{ version: number }>(`SELECT version FROM ${schemaName}.schema_version`)
  ).rows;
  if (row === undefined || row.version === version) return row !== undefined;
  const isNewer = row.version > version;
  throw new EngineError(
    'schema',
    `The engine ${shown} was written by ${isNewer ? 'a newer' : 'an older'} release of promptpress (version ${row.version}; this release ${isNewer ? 'knows' : 'needs'} ${version}).`,
    isNewer
      ? 'Upgrade promptpress here. Until then this process takes no work there.'
      : `Nothing was changed there. Continue its runs with the release that began them (before 0.1.0: the commit 73d08d41), or use another database here. \`DROP SCHEMA ${schemaName} CASCADE\` there removes the states of all its runs; their files stay.`,
  );
}
