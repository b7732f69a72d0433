import type { Clock } from '../../run/clock.ts';
import type { EnginePool } from '../postgres/pool.ts';
import type { SliceQueue } from '../queue/queue.ts';
import { refeed } from '../queue/refeed.ts';
import { leasesSilent } from './beat-fence.ts';
import { LateFacts } from './late-facts.ts';
import { isLed } from './lead-lease.ts';
import { every } from './session.ts';

/**
 * SQL: ends silent sessions and selects the live ones. A heartbeat that comes first keeps the session; one that comes later finds it over.
 * It fails where heartbeats fail: while the engine is read-only.
 */
const open = `
  WITH gone AS (
    UPDATE promptpress.sessions s SET over = true FROM unnest($2::bigint[], $3::timestamptz[]) AS silent(session, seen)
    WHERE s.run = $1 AND s.session = silent.session AND s.seen = silent.seen AND NOT s.over RETURNING s.session
  )
  SELECT session::float8 AS session, seen::text AS seen, lease_ms AS lease FROM promptpress.sessions
  WHERE run = $1 AND NOT over AND session NOT IN (SELECT session FROM gone)`;

interface OpenRow {
  readonly session: number;
  readonly seen: string;
  /** Lease that the worker itself uses, ms: it may send that long. */
  readonly lease: number;
}

/**
 * Ends the sessions of a run without a heartbeat for two of their leases: their workers are gone, or were stopped that long, and send
 * nothing more.
 *
 * The time is measured in this process by a clock that is never set; the clocks of the engine and of the worker are not used.
 */
export class DeadSessions {
  readonly #pool: EnginePool;
  readonly #run: number;
  readonly #elapsed: () => number;
  /** Last heartbeat of each session, and when this process first saw it. */
  #seen: ReadonlyMap<number, { readonly beat: string; readonly since: number; readonly silentMs: number }> =
    new Map();

  /** @param elapsed monotonic clock in milliseconds */
  constructor(
    pool: EnginePool,
    run: number,
    { elapsed = () => performance.now() }: { readonly elapsed?: () => number } = {},
  ) {
    this.#pool = pool;
    this.#run = run;
    this.#elapsed = elapsed;
  }

  /** Reads the heartbeats, and ends silent sessions. @throws EngineError */
  async look(): Promise<void> {
    const before = this.#seen;
    const asked = this.#elapsed();
    const silent = [...before].filter(([, { since, silentMs }]) => asked - since >= silentMs);
    // While the engine takes no heartbeats, no session counts as silent.
    this.forget();
    const { rows } = await this.#pool.query<OpenRow>(open, [
      this.#run,
      silent.map(([session]) => session),
      silent.map(([, { beat }]) => beat),
    ]);
    // The answer was true before now, so the heartbeats are at least this old.
    const now = this.#elapsed();
    this.#seen = new Map(
      rows.map(({ session, seen, lease }) => {
        const known = before.get(session);
        return [
          session,
          known?.beat === seen ? known : { beat: seen, since: now, silentMs: leasesSilent * lease },
        ];
      }),
    );
  }

  /** Starts measuring again, because the engine may have taken no heartbeats for a while. */
  forget(): void {
    this.#seen = new Map();
  }
}

/** Interval at which the workers of a run check whether one of them takes care of it, ms. */
const everyMs = 5000;
/** Time after which a silent caretaker is replaced, ms. */
const caresMs = 12_000;

/** SQL: makes this worker the caretaker of the run, unless a coordinator leads it or another worker is caretaker. */
const caring = `
  UPDATE promptpress.runs r SET carer = $2, cared_until = clock_timestamp() + interval '${caresMs} ms'
  WHERE run = $1 AND NOT ${isLed} AND (carer = $2 OR cared_until IS NULL OR cared_until < clock_timestamp()) RETURNING run`;

/** Work of one worker for a run without a coordinator: it detects dead workers and feeds lost slices again. */
export class RunCare {
  readonly #stop: () => Promise<void>;

  /**
   * @param worker a unique name
   * @param endLacked ends the run where no worker has its files
   */
  constructor(
    { pool, clock, queue }: { readonly pool: EnginePool; readonly clock: Clock; readonly queue: SliceQueue },
    run: number,
    worker: string,
    endLacked: () => Promise<void>,
  ) {
    const dead = new DeadSessions(pool, run);
    const late = new LateFacts(pool, run);
    this.#stop = every(clock, everyMs, async () => {
      const { rows } = await pool.query(caring, [run, worker]).catch((error: unknown) => {
        dead.forget();
        throw error;
      });
      if (rows.length === 0) return;
      await dead.look();
      await late.feed();
      await endLacked();
      await refeed(queue, pool, run);
    });
  }

  /** Stops; resolves once nothing is in flight. */
  async stop(): Promise<void> {
    await this.#stop();
  }
}
