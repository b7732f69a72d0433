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
  close(): Promise<void>;
}

/** Undefined: somebody else has it. @throws EngineError */
export async function trySessionLock(
  address: EngineAddress,
  space: number,
  key: number,
): Promise<SessionLock | undefined> {
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
    const { rows } = await client.query<{ locked: boolean }>(
      'SELECT pg_try_advisory_lock($1::int, $2::int) AS locked',
      [space, key],
    );
    if (rows[0]?.locked === true)
      return {
        get isHeld() {
          return isHeld;
        },
        close,
      };
  } catch (error) {
    await close();
    throw engineErrorOf(error, address.shown);
  }
  await close();
  return undefined;
}
