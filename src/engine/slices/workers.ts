import type { EnginePool } from '../postgres/pool.ts';
import { readLacks, type WorkerLack } from './lacks.ts';
import { isAlive, isLed, silentMs } from './lead-hold.ts';

/** Whether a process leads a run, or works on it. @throws EngineError */
export async function isCarriedOut(pool: EnginePool, run: number): Promise<boolean> {
  const { rows } = await pool.query<{ on: boolean }>(
    `SELECT ${isLed} OR EXISTS (SELECT FROM promptpress.sessions s WHERE s.run = r.run AND ${isAlive}) AS on
     FROM promptpress.runs r WHERE r.run = $1`,
    [run],
  );
  return rows[0]?.on === true;
}

/** A worker of a run, as the engine knows it. */
export interface WorkerStatus {
  readonly name: string;
  /** Number of its session: one that was taken for dead comes back under another one. */
  readonly session: number;
  /** Unix ms, by the engine's clock. */
  readonly startedAt: number;
  /** When it showed itself last. */
  readonly seenAt: number;
  readonly alive: boolean;
  /** How many slices it holds. */
  readonly slices: number;
}

/** A rate of the service, over all workers of all runs there. */
export interface RateInUse {
  readonly route: string;
  /** Requests a minute, over the last seconds. */
  readonly perMinute: number;
  /** How long the service asked all to wait from now on, ms; absent: it did not. */
  readonly pausedMs?: number;
}

/** What all workers of a run may spend, and have. */
export interface SpendingInUse {
  readonly kind: 'cost' | 'tokens' | 'submits' | 'invocation';
  readonly most: number;
  readonly used: number;
}

/** How the workers of a run are doing, at one moment. */
export interface WorkersOfRun {
  /** `open`: slices are taken; `stopping`: all workers settle what is in flight; `ended`: nothing more is done. */
  readonly state: 'open' | 'stopping' | 'ended';
  /** A coordinator leads it: a process of `promptpress run`. */
  readonly led: boolean;
  /** Those that have not ended. */
  readonly workers: readonly WorkerStatus[];
  readonly slices: {
    /** Nobody works on them. */
    readonly waiting: number;
    readonly held: number;
    /** Of this invocation. */
    readonly done: number;
    /** All cells are in slices. */
    readonly fed: boolean;
  };
  /** How often a slice was taken from a worker that had not let go of it. */
  readonly takeovers: number;
  readonly rates: readonly RateInUse[];
  /** Image tasks in flight on the service, of all runs there; `accepted`: it refused more than so many. */
  readonly tasks: { readonly granted: number; readonly used: number; readonly accepted?: number };
  readonly spending: readonly SpendingInUse[];
  /** Which workers lack which files as the run has them; absent: none. */
  readonly lacks?: readonly WorkerLack[];
}

/** SQL: whether somebody holds the slice `h` who has not let go of it. */
const isHeld = `(h.holder IS NOT NULL AND NOT promptpress.is_over(h.run, h.holder || '/' || h.n || '/' || h.epoch))`;

/**
 * The slices of a run, by indexes that hold those alone that are not done: a feeder lets no more wait than are soon taken, however many
 * there are in all.
 */
export const sliceCounts = `
  SELECT o.waiting, o.held, greatest(0, r.next_slice - r.first_slice - o.own)::int AS done,
    (SELECT coalesce(sum(t.takeovers), 0)::int FROM promptpress.slices t WHERE t.run = r.run AND t.takeovers > 0) AS takeovers
  FROM promptpress.runs r CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE NOT h.held)::int AS waiting, count(*) FILTER (WHERE h.held)::int AS held,
      count(*) FILTER (WHERE h.n >= r.first_slice)::int AS own
    FROM (SELECT h.n, ${isHeld} AS held FROM promptpress.slices h WHERE h.run = r.run AND NOT h.done OFFSET 0) h
  ) o WHERE r.run = $1`;

/** @param service whose limits are told; absent: none @throws EngineError */
export async function readWorkers(
  pool: EnginePool,
  run: number,
  service: string | undefined,
): Promise<WorkersOfRun | undefined> {
  const ask = async <Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    (await pool.query<Row>(text, values)).rows;
  const [[state], workers, [slices], rates, [tasks], spending, lacks] = await Promise.all([
    ask<Pick<WorkersOfRun, 'state' | 'led'> & { readonly fed: boolean }>(
      `SELECT r.state, r.fed, ${isLed} AS led FROM promptpress.runs r WHERE r.run = $1`,
      run,
    ),
    ask<WorkerStatus>(
      `SELECT s.name, s.session::float8 AS session, extract(epoch FROM s.started)::float8 * 1000 AS "startedAt",
         extract(epoch FROM s.seen)::float8 * 1000 AS "seenAt", ${isAlive} AS alive,
         (SELECT count(*)::int FROM promptpress.slices h
          WHERE h.run = s.run AND h.holder = s.session AND NOT h.done AND ${isHeld}) AS slices
       FROM promptpress.sessions s WHERE s.run = $1 AND NOT s.over ORDER BY s.session`,
      run,
    ),
    ask<Omit<WorkersOfRun['slices'], 'fed'> & Pick<WorkersOfRun, 'takeovers'>>(sliceCounts, run),
    ask<RateInUse & { readonly pausedMs: number }>(
      `SELECT e.key AS route, greatest(0, max((e.value ->> 'pausedMs')::float8 - a.age)) AS "pausedMs",
         coalesce(sum((e.value ->> 'perMinute')::float8) FILTER (WHERE a.age < ${silentMs}), 0) AS "perMinute"
       FROM promptpress.sessions s CROSS JOIN LATERAL jsonb_each(s.shares) e,
         LATERAL (SELECT (extract(epoch FROM clock_timestamp() - s.seen) * 1000)::float8 AS age) a
       WHERE s.service = $1 AND s.shared AND e.value ? 'perMinute' GROUP BY e.key ORDER BY e.key`,
      service ?? null,
    ),
    ask<{ readonly granted: number; readonly used: number; readonly accepted: number | null }>(
      `SELECT coalesce(sum((s.shares -> 'tasks' ->> 'granted')::int), 0)::int AS granted,
         coalesce(sum((s.shares -> 'tasks' ->> 'used')::int), 0)::int AS used,
         (SELECT t.accepted FROM promptpress.accepted_tasks t WHERE t.service = $1) AS accepted
       FROM promptpress.sessions s WHERE s.service = $1 AND s.shared`,
      service ?? null,
    ),
    ask<SpendingInUse>(
      `SELECT p.kind, p.most, coalesce(sum(w.used), 0)::float8 AS used
       FROM promptpress.purse p LEFT JOIN promptpress.purse_worker w USING (run, kind)
       WHERE p.run = $1 GROUP BY p.kind, p.most ORDER BY p.kind`,
      run,
    ),
    readLacks(pool, run),
  ]);
  if (state === undefined || slices === undefined || tasks === undefined) return undefined;
  const { fed, ...ofRun } = state;
  const { takeovers, ...counts } = slices;
  const { accepted, ...inUse } = tasks;
  return {
    ...ofRun,
    workers,
    slices: { ...counts, fed },
    takeovers,
    rates: rates.map(({ route, perMinute, pausedMs }) => ({
      route,
      perMinute: Number(perMinute.toFixed(1)),
      ...(pausedMs === 0 ? {} : { pausedMs: Math.round(pausedMs) }),
    })),
    tasks: { ...inUse, ...(accepted === null ? {} : { accepted }) },
    spending,
    ...(lacks.length === 0 ? {} : { lacks }),
  };
}
