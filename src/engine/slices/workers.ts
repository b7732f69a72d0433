import type { EnginePool } from '../postgres/pool.ts';
import { readLacks, type WorkerLack } from './lacks.ts';
import { isAlive, isLed, silentMs } from './lead-lease.ts';

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
  /** Number of its session. A worker that counted as dead gets a new one. */
  readonly session: number;
  /** Unix ms, by the engine's clock. */
  readonly startedAt: number;
  /** Time of the last heartbeat, Unix ms. */
  readonly seenAt: number;
  readonly alive: boolean;
  /** Number of slices that the worker holds. */
  readonly slices: number;
}

/** The rate of requests to the service, over all workers of all its runs. */
export interface RateInUse {
  readonly route: string;
  /** Requests per minute, over the last seconds. */
  readonly perMinute: number;
  /** Remaining pause that the service asked for, ms; absent where there is none. */
  readonly pausedMs?: number;
}

/** Spending limits of all workers of a run, and their use. */
export interface SpendingInUse {
  readonly kind: 'cost' | 'tokens' | 'submits' | 'invocation';
  readonly most: number;
  readonly used: number;
}

/** The status of the workers of a run, at one time. */
export interface WorkersOfRun {
  /** `open`: slices are taken; `stopping`: all workers settle what is in flight; `ended`: nothing more is done. */
  readonly state: 'open' | 'stopping' | 'ended';
  /** True where a coordinator, a process of `promptpress run`, leads the run. */
  readonly led: boolean;
  /** Workers that have not ended. */
  readonly workers: readonly WorkerStatus[];
  readonly slices: {
    /** Number of slices that no worker holds. */
    readonly waiting: number;
    readonly held: number;
    /** Number of slices done in this invocation. */
    readonly done: number;
    /** True where all cells are in slices. */
    readonly fed: boolean;
  };
  /** Number of times that a slice was taken from a worker that had not released it. */
  readonly takeovers: number;
  readonly rates: readonly RateInUse[];
  /** Image tasks in flight on the service, of all its runs; `accepted`: the number above which it refused more. */
  readonly tasks: { readonly granted: number; readonly used: number; readonly accepted?: number };
  readonly spending: readonly SpendingInUse[];
  /** Files that workers lack; absent where there are none. */
  readonly lacks?: readonly WorkerLack[];
}

/** SQL: whether a worker holds the slice `h` and has not released it. */
const isHeld = `(h.holder IS NOT NULL AND NOT promptpress.is_over(h.run, h.holder || '/' || h.n || '/' || h.epoch))`;

/** SQL: counts the slices of a run, by indexes of the unfinished ones: a feeder keeps few slices waiting, however many there are in all. */
export const sliceCounts = `
  SELECT o.waiting, o.held, greatest(0, r.next_slice - r.first_slice - o.own)::int AS done,
    (SELECT coalesce(sum(t.takeovers), 0)::int FROM promptpress.slices t WHERE t.run = r.run AND t.takeovers > 0) AS takeovers
  FROM promptpress.runs r CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE NOT h.held AND NOT promptpress.waits(r.run, h.waits_from, h.n))::int AS waiting, count(*) FILTER (WHERE h.held)::int AS held,
      count(*) FILTER (WHERE h.n >= r.first_slice)::int AS own
    FROM (SELECT h.n, h.waits_from, ${isHeld} AS held FROM promptpress.slices h WHERE h.run = r.run AND NOT h.done OFFSET 0) h
  ) o WHERE r.run = $1`;

/** Returns the status of a run's workers. @param service whose limits are returned; absent: none @throws EngineError */
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
