import type { EnginePool } from '../postgres/pool.ts';
import { lockSpaces } from '../postgres/session-lock.ts';

/** A worker without its connection is taken for gone after so long, ms: one that connects anew shows itself before. */
const silentMs = 15_000;

/** SQL: whether a process holds the advisory lock of this space and key. */
const isLocked = (space: number, key: string): string => `EXISTS (
  SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
  WHERE l.locktype = 'advisory' AND d.datname = current_database() AND l.granted AND l.classid::bigint = ${space} AND l.objid::bigint = ${key})`;

/** SQL: whether the worker of the session \`s\` lives, as far as can be seen. */
const isAlive = `(NOT s.over AND (s.seen > clock_timestamp() - interval '${silentMs} ms' OR ${isLocked(lockSpaces.session, 's.session')}))`;

/** Whether a process leads a run, or works on it. @throws EngineError */
export async function isCarriedOut(pool: EnginePool, run: number): Promise<boolean> {
  const { rows } = await pool.query<{ on: boolean }>(
    `SELECT ${isLocked(lockSpaces.run, '$1::bigint')}
       OR EXISTS (SELECT FROM promptpress.sessions s WHERE s.run = $1 AND ${isAlive}) AS on`,
    [run],
  );
  return rows[0]?.on === true;
}
