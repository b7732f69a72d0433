import type { Clock } from '../../run/clock.ts';
import type { EngineAddress } from '../postgres/address.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { lockSpaces, type SessionLock, trySessionLock } from '../postgres/session-lock.ts';
import { endSession } from '../state/slices.ts';

/** A worker's session with a run: what it intends to send is its own until the session is known to be over. */
export interface WorkerSession {
  readonly session: number;
  /** Shows that it is there. @returns false where others know it to be over: it may decide nothing more @throws EngineError */
  beat(): Promise<boolean>;
  /** Nothing is under way any more, and all that was heard is written. @throws EngineError */
  end(): Promise<void>;
}

/** @throws EngineError */
export async function beginSession(
  { address, pool }: { readonly address: EngineAddress; readonly pool: EnginePool },
  run: number,
  name: string,
): Promise<WorkerSession> {
  const { rows } = await pool.query<{ session: number }>(
    'INSERT INTO promptpress.sessions (name, run) VALUES ($1, $2) RETURNING session::float8 AS session',
    [name, run],
  );
  const session = rows[0]?.session ?? 0;
  let lock: SessionLock | undefined = await trySessionLock(address, lockSpaces.session, session);
  return {
    session,
    beat: async () => {
      if (lock?.isHeld !== true) lock = await trySessionLock(address, lockSpaces.session, session);
      const seen = await pool.query<{ session: number }>(
        'UPDATE promptpress.sessions SET seen = clock_timestamp() WHERE session = $1 AND NOT over RETURNING session::float8 AS session',
        [session],
      );
      return seen.rows.length > 0;
    },
    end: async () => {
      await endSession(pool, session);
      await lock?.close();
    },
  };
}

/**
 * Says of sessions of a run that they are over whose worker is gone: its connection was closed, and for so long it has not come back. A
 * worker that is only stopped keeps its connection.
 *
 * @throws EngineError
 */
export async function endDeadSessions(pool: EnginePool, run: number, silentMs: number): Promise<void> {
  await pool.query(
    `UPDATE promptpress.sessions s SET over = true
     WHERE s.run = $1 AND NOT s.over AND s.seen < clock_timestamp() - $2 * interval '1 ms'
       AND NOT EXISTS (
         SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
         WHERE l.locktype = 'advisory' AND d.datname = current_database() AND l.granted
           AND l.classid::bigint = $3 AND l.objid::bigint = s.session
       )`,
    [run, silentMs, lockSpaces.session],
  );
}

/** How many sessions of a run are not known to be over. @throws EngineError */
export async function liveSessions(pool: EnginePool, run: number): Promise<number> {
  const { rows } = await pool.query<{ live: number }>(
    'SELECT count(*)::int AS live FROM promptpress.sessions WHERE run = $1 AND NOT over',
    [run],
  );
  return rows[0]?.live ?? 0;
}

/** For how long the oldest of a run's sessions has been there that is not known to be over, ms; 0: there is none. @throws EngineError */
export async function liveForMs(pool: EnginePool, run: number): Promise<number> {
  const { rows } = await pool.query<{ ms: number | null }>(
    `SELECT (extract(epoch FROM clock_timestamp() - min(started)) * 1000)::float8 AS ms
     FROM promptpress.sessions WHERE run = $1 AND NOT over`,
    [run],
  );
  return rows[0]?.ms ?? 0;
}

/** Calls again and again, one call at a time, until it is ended; a call that fails is the next one's matter. @returns what ends it */
export function every(clock: Clock, ms: number, call: () => Promise<void>): () => Promise<void> {
  let isOver = false;
  let cancel: (() => void) | undefined;
  let calling: Promise<void> = Promise.resolve();
  const arm = (): void => {
    if (isOver) return;
    cancel = clock.at(clock.now() + ms, () => {
      calling = call()
        .catch(() => undefined)
        .then(arm);
    });
  };
  arm();
  return async () => {
    isOver = true;
    cancel?.();
    await calling;
  };
}
