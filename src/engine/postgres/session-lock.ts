import type { Client } from 'pg';
import type { EngineAddress } from './address.ts';
import { engineErrorOf } from './engine-error.ts';
import { poolConfig } from './pool.ts';

/** What advisory locks of a session are about: the first of their two numbers. */
export const lockSpaces = { run: 0x5050726e, session: 0x50507365 } as const;

/** By which a server finds out within half a minute that a machine is gone: without these it may take two hours. */
const keepAlives =
  'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4';

/** A lock that is held as long as a connection of its own: when this process dies, the server lets go of it at once. */
export interface SessionLock {
  /** False once the connection broke: somebody else may have the lock. */
  readonly isHeld: boolean;
  /** Takes it again where its connection broke. @returns false where somebody else has it @throws EngineError */
  renew(): Promise<boolean>;
  close(): Promise<void>;
}

/** A connection that has the lock. */
interface Held {
  readonly isHeld: boolean;
  /** Which process of the server it is, and since when. */
  readonly backend: string;
  close(): Promise<void>;
}

/** Undefined: somebody else has it. @throws EngineError */
export async function trySessionLock(
  address: EngineAddress,
  space: number,
  key: number,
): Promise<SessionLock | undefined> {
  const first = await locked(address, space, key);
  if (first === undefined) return undefined;
  let held: Held = first;
  let isClosed = false;
  return {
    get isHeld() {
      return held.isHeld;
    },
    renew: async () => {
      if (held.isHeld) return true;
      const again = await locked(address, space, key, held.backend);
      if (again === undefined) return false;
      held = again;
      if (isClosed) await again.close();
      return !isClosed;
    },
    close: async () => {
      isClosed = true;
      await held.close();
    },
  };
}

/** The process of the server that has a lock, and since when it is there. */
const holders = `
  SELECT l.pid, l.pid || ' ' || a.backend_start AS backend FROM pg_locks l
  JOIN pg_database d ON d.oid = l.database JOIN pg_stat_activity a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database() AND l.classid::bigint = $1 AND l.objid::bigint = $2`;

/**
 * @param former a connection of this process that is broken: where the server does not know that yet, it is told
 * @throws EngineError
 */
async function locked(
  address: EngineAddress,
  space: number,
  key: number,
  former?: string,
): Promise<Held | undefined> {
  const { Client } = (await import('pg')).default;
  const {
    max: _max,
    idleTimeoutMillis: _idle,
    ...config
  } = poolConfig(address, { name: 'promptpress lock' });
  const client: Client = new Client(config);
  let isHeld = true;
  const lose = (): void => {
    isHeld = false;
  };
  client.on('error', lose);
  client.on('end', lose);
  const close = async (): Promise<void> => {
    isHeld = false;
    await client.end().catch(() => undefined);
  };
  try {
    await client.connect();
    await client.query(keepAlives);
    for (let tries = 0; tries < 2; tries += 1) {
      const { rows } = await client.query<{ locked: boolean; backend: string }>(
        `SELECT pg_try_advisory_lock($1::int, $2::int) AS locked,
           (SELECT pid || ' ' || backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS backend`,
        [space, key],
      );
      const [row] = rows;
      if (row?.locked === true)
        return {
          get isHeld() {
            return isHeld;
          },
          backend: row.backend,
          close,
        };
      if (former === undefined) break;
      const others = await client.query<{ pid: number; backend: string }>(holders, [space, key]);
      const own = others.rows.find(({ backend }) => backend === former);
      if (own === undefined) break;
      await client.query('SELECT pg_terminate_backend($1, 2000)', [own.pid]);
    }
  } catch (error) {
    await close();
    throw engineErrorOf(error, address.shown);
  }
  await close();
  return undefined;
}
