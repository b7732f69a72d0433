import type { Clock } from '../../run/clock.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { lockSpaces } from '../postgres/session-lock.ts';
import type { SliceQueue } from '../queue/queue.ts';
import { refeed } from '../queue/refeed.ts';
import { leasesSilent } from './beat-fence.ts';
import { LateFacts } from './late-facts.ts';
import { every } from './session.ts';

/** Sessions of a run that no connection holds. */
const silent = `
  SELECT s.session::float8 AS session, s.seen::text AS seen, s.lease_ms AS lease FROM promptpress.sessions s
  WHERE s.run = $1 AND NOT s.over AND NOT EXISTS (
    SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND d.datname = current_database() AND l.granted
      AND l.classid::bigint = $2 AND l.objid::bigint = s.session
  )`;

interface SilentRow {
  readonly session: number;
  readonly seen: string;
  /** How long its worker itself takes a lease to be, ms: for so long it may send. */
  readonly lease: number;
}

/**
 * Says of sessions of a run that they are over whose worker is gone: its connection was closed, and no beat of it came for two of its
 * leases. A worker that is only stopped keeps its connection.
 *
 * That time is measured here, by a clock that is never set: no other clock takes part, neither the engine's nor the worker's.
 */
export class DeadSessions {
  readonly #pool: EnginePool;
  readonly #run: number;
  readonly #elapsed: () => number;
  /** The last beat of sessions without a connection, and since when it is known here. */
  #seen: ReadonlyMap<number, { readonly beat: string; readonly since: number; readonly silentMs: number }> =
    new Map();

  /** @param elapsed milliseconds since whenever, never going back */
  constructor(
    pool: EnginePool,
    run: number,
    { elapsed = () => performance.now() }: { readonly elapsed?: () => number } = {},
  ) {
    this.#pool = pool;
    this.#run = run;
    this.#elapsed = elapsed;
  }

  /** @throws EngineError */
  async look(): Promise<void> {
    const { rows } = await this.#pool.query<SilentRow>(silent, [this.#run, lockSpaces.session]);
    // What was answered was true before now: since then at least it is known.
    const now = this.#elapsed();
    const before = this.#seen;
    this.#seen = new Map(
      rows.map(({ session, seen, lease }) => {
        const known = before.get(session);
        return [
          session,
          known?.beat === seen ? known : { beat: seen, since: now, silentMs: leasesSilent * lease },
        ];
      }),
    );
    for (const [session, { beat, since, silentMs }] of this.#seen)
      if (now - since >= silentMs)
        // A beat that comes first keeps the session; one that comes later finds it over.
        await this.#pool.query(
          'UPDATE promptpress.sessions SET over = true WHERE session = $1 AND seen = $2::timestamptz',
          [session, beat],
        );
  }
}

/** How often a worker looks whether anybody leads its run, ms. */
const everyMs = 5000;

/** Whether a connection holds the run, as whoever leads it does. */
const led = `
  SELECT EXISTS (
    SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND d.datname = current_database() AND l.granted
      AND l.classid::bigint = $1 AND l.objid::bigint = $2
  ) AS led`;

/** What a worker does for a run that nobody leads: who is gone is found out, and what is lost is fed again. */
export class RunCare {
  readonly #stop: () => Promise<void>;

  constructor(
    { pool, clock, queue }: { readonly pool: EnginePool; readonly clock: Clock; readonly queue: SliceQueue },
    run: number,
  ) {
    const dead = new DeadSessions(pool, run);
    const late = new LateFacts(pool, run);
    this.#stop = every(clock, everyMs, async () => {
      const { rows } = await pool.query<{ led: boolean }>(led, [lockSpaces.run, run]);
      if (rows[0]?.led !== false) return;
      await dead.look();
      await late.feed();
      await refeed(queue, pool, run);
    });
  }

  /** Resolves once nothing is under way. */
  async stop(): Promise<void> {
    await this.#stop();
  }
}
