import type { Clock } from '../../run/clock.ts';
import type { EnginePool } from '../postgres/pool.ts';
import type { SliceQueue } from '../queue/queue.ts';
import { refeed } from '../queue/refeed.ts';
import { leasesSilent } from './beat-fence.ts';
import { LateFacts } from './late-facts.ts';
import { isLed } from './lead-hold.ts';
import { every } from './session.ts';

/**
 * Says of sessions that they are over, and finds those that are not. A beat that comes first keeps the session; one that comes later finds it
 * over. It is refused where beats are: while the engine only reads.
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
  /** How long its worker itself takes a lease to be, ms: for so long it may send. */
  readonly lease: number;
}

/**
 * Says of sessions of a run that they are over of which no beat came for two of their leases: their workers are gone, or have been stopped
 * for so long, and send nothing more.
 *
 * That time is measured here, by a clock that is never set: no other clock takes part, neither the engine's nor the worker's.
 */
export class DeadSessions {
  readonly #pool: EnginePool;
  readonly #run: number;
  readonly #elapsed: () => number;
  /** The last beat of each session, and since when it is known here. */
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
    const before = this.#seen;
    const asked = this.#elapsed();
    const silent = [...before].filter(([, { since, silentMs }]) => asked - since >= silentMs);
    // While it takes no beats, nobody is silent.
    this.forget();
    const { rows } = await this.#pool.query<OpenRow>(open, [
      this.#run,
      silent.map(([session]) => session),
      silent.map(([, { beat }]) => beat),
    ]);
    // What was answered was true before now: since then at least it is known.
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

  /** Counts anew: for a while the engine may have taken no beats. */
  forget(): void {
    this.#seen = new Map();
  }
}

/** How often the workers of a run look whether anybody cares for it, ms. */
const everyMs = 5000;
/** Who has not cared for so long cares no more, ms. */
const caresMs = 12_000;

/** Cares for the run from now on, unless somebody leads it or another worker does so. */
const caring = `
  UPDATE promptpress.runs r SET carer = $2, cared_until = clock_timestamp() + interval '${caresMs} ms'
  WHERE run = $1 AND NOT ${isLed} AND (carer = $2 OR cared_until IS NULL OR cared_until < clock_timestamp()) RETURNING run`;

/** What one worker does for a run that nobody leads: who is gone is found out, and what is lost is fed again. */
export class RunCare {
  readonly #stop: () => Promise<void>;

  /**
   * @param worker a name that no other has
   * @param endLacked ends the run where nobody has its files
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

  /** Resolves once nothing is under way. */
  async stop(): Promise<void> {
    await this.#stop();
  }
}
