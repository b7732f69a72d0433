import { createHash } from 'node:crypto';
import { EngineError } from './engine-error.ts';
import type { Connection, EnginePool } from './pool.ts';

/** Name of the database schema that contains all tables and functions of promptpress. */
export const schemaName = 'promptpress';

/** An arbitrary lock number that nothing else in a database is likely to use: "PPrs" in ASCII. */
const schemaLock = 0x50507273;

/** The tables and functions that a release creates in an engine's database. */
export interface EngineSchema {
  /** Raised with each release that changes them: it tells users which release is newer. Whether they are the same, `sql` decides. */
  readonly version: number;
  readonly sql: string;
}

/**
 * Creates the tables of an engine that has none; called by `run`, never by a worker. Any number of processes may call it at once.
 *
 * @throws EngineError `engine.schema` where another release made them
 */
export async function makeTables(pool: EnginePool, schema: EngineSchema): Promise<void> {
  if (await areMade(pool, pool, schema)) return;
  await pool.transaction(async (connection) => {
    // One process at a time. The lock ends with the transaction, so it needs no session of its own.
    await connection.query('SELECT pg_advisory_xact_lock($1)', [schemaLock]);
    if (await areMade(pool, connection, schema)) return;
    await connection.query(`CREATE SCHEMA IF NOT EXISTS ${schemaName}`);
    await connection.query(`SET LOCAL search_path = ${schemaName}`);
    await connection.query('CREATE TABLE IF NOT EXISTS schema_version (version int NOT NULL, sha256 text)');
    await connection.query(schema.sql);
    await connection.query('INSERT INTO schema_version VALUES ($1, $2)', [schema.version, sha256Of(schema)]);
  });
}

/**
 * Rejects an engine without tables, or with tables of another release.
 *
 * @throws EngineError `engine.empty` | `engine.schema`
 */
export async function checkTables(pool: EnginePool, schema: EngineSchema): Promise<void> {
  if (await areMade(pool, pool, schema)) return;
  throw new EngineError(
    'empty',
    `The engine ${pool.shown} holds no run.`,
    'Start a run there: `promptpress run FILE --engine …`.',
  );
}

/** The hash of a schema, whatever its comments and line breaks. */
const sha256Of = ({ sql }: EngineSchema): string =>
  createHash('sha256').update(sql.replace(/--.*/g, '').split(/\s+/).join(' ').trim()).digest('hex');

/** Whether the tables exist. @throws EngineError `engine.schema` */
async function areMade(
  { shown }: EnginePool,
  connection: Connection,
  schema: EngineSchema,
): Promise<boolean> {
  // Not to_regclass: a session that found no table remembers that until its transaction ends.
  const { rows } = await connection.query(
    `SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = 'schema_version'`,
    [schemaName],
  );
  if (rows.length === 0) return false;
  const { version } = schema;
  const [row] = (
    await connection.query<{ version: number; sha256: string | null }>(
      `SELECT version, to_jsonb(v) ->> 'sha256' AS sha256 FROM ${schemaName}.schema_version v`,
    )
  ).rows;
  if (row === undefined) return false;
  if (row.version === version && row.sha256 === sha256Of(schema)) return true;
  const isNewer = row.version > version;
  const [by, facts] =
    row.version === version
      ? ['another build', `version ${version} in both, with other tables or functions`]
      : [
          isNewer ? 'a newer release' : 'an older release',
          `version ${row.version}; this release ${isNewer ? 'knows' : 'needs'} ${version}`,
        ];
  throw new EngineError(
    'schema',
    `The engine ${shown} was written by ${by} of promptpress (${facts}).`,
    isNewer
      ? 'Upgrade promptpress here. Until then this process takes no work there.'
      : `Nothing was changed there. Continue its runs with the release that began them (before 0.1.0: the commit 73d08d41), or use another database here. \`DROP SCHEMA ${schemaName} CASCADE\` there removes the states of all its runs; their files stay.`,
  );
}
