import type { Clock } from '../../run/clock.ts';
import type { SendFence } from '../../run/ports.ts';
import type { Heartbeat, SharesAnswer } from '../limits/share.ts';
import type { Connection, EnginePool } from '../postgres/pool.ts';
import { endSession } from '../state/slices.ts';
import { BeatFence, leasesSending } from './beat-fence.ts';

/** A worker's session with a run: what it intends to send is its own until the session is known to be over. */
export interface WorkerSession extends Heartbeat {
  /** Its random name: after an older database was restored, another session may get its number. */
  readonly token: string;
  /** Lets paid requests leave while nobody can take this worker for dead. */
  readonly fence: SendFence;
  /** Others know it to be over: it may decide nothing more. */
  readonly isOver: boolean;
  /** Told once that it is over. */
  onOver(listener: () => void): void;
  /** Nothing is under way any more, and all that was heard is written. @throws EngineError */
  end(): Promise<void>;
}

/** What a session is begun with. */
export interface SessionPorts {
  readonly pool: Connection;
  readonly clock: Clock;
  /** Milliseconds since whenever, never going back. Default: performance.now. */
  readonly elapsed?: () => number;
}

/** @throws EngineError */
export async function beginSession(
  ports: SessionPorts,
  run: number,
  { name, leaseMs }: { readonly name: string; readonly leaseMs: number },
): Promise<WorkerSession> {
  const fence = fenceOf(ports, leaseMs);
  const asked = fence.moment();
  const { rows } = await ports.pool.query<{ session: number; token: string }>(
    'INSERT INTO promptpress.sessions (name, run, lease_ms) VALUES ($1, $2, $3) RETURNING session::float8 AS session, token',
    [name, run, Math.ceil(leaseMs)],
  );
  fence.onSeen(asked);
  return sessionOf(ports, rows[0] ?? { session: 0, token: '' }, fence);
}

const fenceOf = ({ clock, elapsed = () => performance.now() }: SessionPorts, leaseMs: number): BeatFence =>
  new BeatFence({ clock, elapsed }, leasesSending * leaseMs);

/** A session that was begun. */
export function sessionOf(
  { pool }: SessionPorts,
  { session, token }: Pick<WorkerSession, 'session' | 'token'>,
  fence: BeatFence,
): WorkerSession {
  const listeners: (() => void)[] = [];
  let [asked, answered] = [0, 0];
  let isOver = false;
  return {
    session,
    token,
    fence,
    get isOver() {
      return isOver;
    },
    onOver: (listener) => void listeners.push(listener),
    beat: async ({ service, kinds, needs } = { service: '', kinds: {} }) => {
      if (isOver) return undefined;
      const sent = fence.moment();
      asked += 1;
      const number = asked;
      let answer: (SharesAnswer & { readonly before: number }) | undefined;
      try {
        ({
          rows: [answer],
        } = await pool.query<SharesAnswer & { readonly before: number }>(
          'SELECT before::float8 AS before, shares, spending FROM promptpress.share($1, $2, $3, $4, $5, $6)',
          [session, token, service, number, JSON.stringify(kinds), needs ?? null],
        ));
      } catch (error) {
        fence.suspend();
        throw error;
      }
      // An engine that has forgotten a heartbeat has an older state than it had.
      if (answer === undefined || answer.before < answered) {
        isOver = true;
        fence.close();
        for (const listener of listeners) listener();
        return undefined;
      }
      answered = number;
      fence.onSeen(sent);
      return answer;
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
