import type { Clock } from '../../run/clock.ts';
import type { SendFence } from '../../run/ports.ts';
import type { Heartbeat, SharesAnswer } from '../limits/share.ts';
import type { Connection, EnginePool } from '../postgres/pool.ts';
import { endSession } from '../state/slices.ts';
import { BeatFence, leasesSending } from './beat-fence.ts';

/** A worker's session with a run. Until the session is known to be over, no other worker sends what it intended to send. */
export interface WorkerSession extends Heartbeat {
  /** Random name of the session: after an older database was restored, another session may get its number. */
  readonly token: string;
  /** Lets paid requests be sent while no other process can consider this worker dead. */
  readonly fence: SendFence;
  /** True where others know the session to be over: this worker may decide nothing more. */
  readonly isOver: boolean;
  /** Registers a listener, called once when the session is over. */
  onOver(listener: () => void): void;
  /** Ends the session: nothing is in flight any more, and all results are written. @throws EngineError */
  end(): Promise<void>;
}

/** Settings and ports of a new session. */
export interface SessionPorts {
  readonly pool: Connection;
  readonly clock: Clock;
  /** Monotonic clock in milliseconds. Default: performance.now. */
  readonly elapsed?: () => number;
}

/** Begins a session. @throws EngineError */
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

/** Returns the object of a session that was begun. */
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
      // An engine that has forgotten a heartbeat has an older state than before.
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

/** Returns the number of a run's sessions that are not known to be over. @throws EngineError */
export async function liveSessions(pool: EnginePool, run: number): Promise<number> {
  const { rows } = await pool.query<{ live: number }>(
    'SELECT count(*)::int AS live FROM promptpress.sessions WHERE run = $1 AND NOT over',
    [run],
  );
  return rows[0]?.live ?? 0;
}

/** Longest delay before a failed call is repeated, ms. */
const soonMs = 1000;

/** Calls a function repeatedly, one call at a time; a failed call is repeated soon. @returns a function that ends the calls */
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

/**
 * Begins a session that is over from the start: the writer of a state without a slice, which sends nothing.
 *
 * @returns its number @throws EngineError
 */
export async function sessionOfWriter(connection: Connection, name: string): Promise<number> {
  const { rows } = await connection.query<{ session: number }>(
    'INSERT INTO promptpress.sessions (name, over, ended) VALUES ($1, true, true) RETURNING session::float8 AS session',
    [name],
  );
  return rows[0]?.session ?? 0;
}
