import type { Clock } from '../../run/clock.ts';
import type { SendFence } from '../../run/ports.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { endSession } from '../state/slices.ts';
import { BeatFence, leasesSending } from './beat-fence.ts';

/** A worker shows that it is there so often at least, ms. */
export const beatMs = 2000;

/** A worker's session with a run: what it intends to send is its own until the session is known to be over. */
export interface WorkerSession {
  readonly session: number;
  /** Lets paid requests leave while nobody can take this worker for dead. */
  readonly fence: SendFence;
  /**
   * Shows that it is there. @returns false where others know it to be over, or the engine has an older state than it had: it may decide
   * nothing more @throws EngineError
   */
  beat(): Promise<boolean>;
  /** Nothing is under way any more, and all that was heard is written. @throws EngineError */
  end(): Promise<void>;
}

/** What a session is begun with. */
export interface SessionPorts {
  readonly pool: EnginePool;
  readonly clock: Clock;
  /** Milliseconds since whenever, never going back. Default: performance.now. */
  readonly elapsed?: () => number;
}

/** @throws EngineError */
export async function beginSession(
  { pool, clock, elapsed = () => performance.now() }: SessionPorts,
  run: number,
  { name, leaseMs }: { readonly name: string; readonly leaseMs: number },
): Promise<WorkerSession> {
  const fence = new BeatFence({ clock, elapsed }, leasesSending * leaseMs);
  const asked = fence.moment();
  const { rows } = await pool.query<{ session: number; seen: string }>(
    'INSERT INTO promptpress.sessions (name, run, lease_ms) VALUES ($1, $2, $3) RETURNING session::float8 AS session, seen::text',
    [name, run, Math.ceil(leaseMs)],
  );
  fence.onSeen(asked);
  const { session = 0, seen: begun } = rows[0] ?? {};
  let known = begun;
  return {
    session,
    fence,
    beat: async () => {
      const sent = fence.moment();
      try {
        const { rows } = await pool.query<{ seen: string }>(
          'UPDATE promptpress.sessions SET seen = clock_timestamp() WHERE session = $1 AND NOT over AND seen >= $2 RETURNING seen::text',
          [session, known],
        );
        known = rows[0]?.seen;
      } catch (error) {
        fence.suspend();
        throw error;
      }
      if (known === undefined) fence.close();
      else fence.onSeen(sent);
      return known !== undefined;
    },
    end: async () => {
      fence.close();
      await endSession(pool, session);
    },
  };
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

/** A call that failed is repeated this soon at the latest, ms. */
const soonMs = 1000;

/** Calls again and again, one call at a time, until it is ended; a call that fails is repeated soon. @returns what ends it */
export function every(clock: Clock, ms: number, call: () => Promise<void>): () => Promise<void> {
  let isOver = false;
  let cancel: (() => void) | undefined;
  let calling: Promise<void> = Promise.resolve();
  const arm = (inMs: number): void => {
    if (isOver) return;
    cancel = clock.at(clock.now() + inMs, () => {
      calling = call().then(
        () => arm(ms),
        () => arm(Math.min(ms, soonMs)),
      );
    });
  };
  arm(ms);
  return async () => {
    isOver = true;
    cancel?.();
    await calling;
  };
}
