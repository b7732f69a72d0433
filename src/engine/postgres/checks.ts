import { EngineError, engineError } from './engine-error.ts';
import type { EnginePool } from './pool.ts';

/** Oldest supported major version of PostgreSQL. */
const oldest = 15;

interface Facts {
  readonly version: number;
  readonly standby: boolean;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly standbys: string;
  readonly encoding: string;
}

/**
 * Rejects a server that could lose acknowledged data or cannot store a run. Needs no special rights.
 *
 * @throws EngineError `engine.version` | `engine.standby` | `engine.durability` | `engine.encoding`
 */
export async function checkServer(pool: EnginePool): Promise<void> {
  const { rows } = await pool.query<Facts>(`
    SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby,
      current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
      current_setting('synchronous_commit') AS synchronous_commit,
      current_setting('synchronous_standby_names') AS standbys, pg_encoding_to_char(encoding) AS encoding
    FROM pg_database WHERE datname = current_database()`);
  const [facts] = rows;
  if (facts === undefined)
    throw new Error('Internal error: PostgreSQL returned nothing about its own database.');
  const { shown } = pool;
  const { version, standby, encoding } = facts;
  if (version < oldest * 10_000)
    throw new EngineError(
      'version',
      `The engine ${shown} is PostgreSQL ${Math.floor(version / 10_000)}: ${oldest} or newer is needed.`,
      'Upgrade the server, or give the address of a newer one.',
    );
  if (standby) throw engineError('standby', shown);
  if (encoding !== 'UTF8') throw engineError('encoding', shown);
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit'] as const) {
    const value = facts[name];
    // `local` waits for the disk of this server but for no standby: acknowledged data is lost when a standby takes over.
    if (value !== 'off' && !(value === 'local' && facts.standbys !== '')) continue;
    throw new EngineError(
      'durability',
      `The engine ${shown} could lose data that it has acknowledged: ${name} is ${value}.`,
      name === 'synchronous_commit'
        ? 'Finished work would be paid again. Set synchronous_commit to on: `ALTER ROLE user SET synchronous_commit = on`.'
        : `Finished work would be paid again. Set ${name} to on in postgresql.conf.`,
    );
  }
}

/** Returns how far the clock of this machine is certainly ahead of the engine's, ms, by one query: a slow answer proves little. */
export async function clockAhead(pool: Pick<EnginePool, 'query'>, now: () => number): Promise<number> {
  const from = now();
  const { rows } = await pool.query<{ now: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
  );
  const until = now();
  const there = rows[0]?.now ?? Number.NaN;
  // The engine read its clock at some time between both.
  if (from > there) return from - there;
  return until < there ? until - there : 0;
}
