import type { Clock } from '../../run/clock.ts';
import { StateError } from '../../state/store.ts';
import type { Connection, EnginePool } from '../postgres/pool.ts';
import { pause } from './feeder.ts';
import { every } from './session.ts';

/** Silence after which a coordinator or worker counts as gone, by the engine's clock, ms. */
export const silentMs = 8000;
/** Interval at which a coordinator renews its lease, and at which a process waiting for that lease checks it, ms. */
const renewMs = 2000;
const lookMs = 500;

/** SQL: whether a process appears to lead the run `r`. */
export const isLed = 'coalesce(r.lead_until > clock_timestamp(), false)';

/** SQL: whether the worker of the session `s` appears to be alive. */
export const isAlive = `(NOT s.over AND s.seen > clock_timestamp() - interval '${silentMs} ms')`;

/** A coordinator's lease of a run. It is renewed until it is closed; everything that a coordinator writes for the run names its epoch. */
export interface RunLease {
  /** Greater than the epoch of every earlier coordinator. */
  readonly epoch: number;
  /** Renews the lease. @returns false where another process has taken it since @throws EngineError */
  renew(): Promise<boolean>;
  /** Releases the lease. Where the engine is unavailable, the lease expires. */
  close(): Promise<void>;
}

/** Settings for taking the coordinator lease. */
export interface LeaseSettings {
  /** Ends the wait for a coordinator that is silent. */
  readonly signal?: AbortSignal;
  /** Called once when the wait for a silent coordinator begins, with its longest duration in ms. Absent: no wait. */
  readonly onWait?: (ms: number) => void;
}

/**
 * Takes the lease of a run, which one process has at a time. Waits for the lease of a dead process to expire, at most 8 s.
 *
 * @param name of the run, for messages
 * @throws StateError `state.locked` where another process leads the run; EngineError
 */
export async function leaseRun(
  { pool, clock }: { readonly pool: EnginePool; readonly clock: Clock },
  run: number,
  name: string,
  { signal, onWait }: LeaseSettings = {},
): Promise<RunLease> {
  for (let first: string | undefined; ; ) {
    const { rows } = await pool.query<{ epoch: number; until: string }>(
      `UPDATE promptpress.runs r SET lead_epoch = lead_epoch + 1, lead_until = ${deadline}
       WHERE run = $1 AND NOT ${isLed} RETURNING lead_epoch::float8 AS epoch, lead_until::text AS until`,
      [run],
    );
    const [taken] = rows;
    if (taken !== undefined) return held(pool, clock, run, name, taken);
    const { until, leftMs } = await leadOf(pool, run);
    // A process that renewed its lease meanwhile is alive.
    const isThere = until !== undefined && first !== undefined && until !== first;
    if (onWait === undefined || signal?.aborted === true || isThere) throw leadElsewhere(pool, name);
    if (until === undefined) continue;
    if (first === undefined) onWait(leftMs);
    first = until;
    await pause(clock, lookMs, signal ?? new AbortController().signal);
  }
}

const deadline = `clock_timestamp() + interval '${silentMs} ms'`;

function held(
  pool: EnginePool,
  clock: Clock,
  run: number,
  name: string,
  { epoch, until }: { readonly epoch: number; readonly until: string },
): RunLease {
  let known = until;
  const renew = async (): Promise<boolean> => {
    const { rows } = await pool.query<{ until: string; isOlder: boolean }>(
      `UPDATE promptpress.runs r SET lead_until = ${deadline} FROM promptpress.runs b
       WHERE r.run = $1 AND r.lead_epoch = $2 AND b.run = r.run
       RETURNING r.lead_until::text AS until, coalesce(b.lead_until < $3, true) AS "isOlder"`,
      [run, epoch, known],
    );
    const [row] = rows;
    if (row?.isOlder === false) {
      known = row.until;
      return true;
    }
    // This process may do nothing more for the run.
    pool.troubles.fail(row === undefined ? leadElsewhere(pool, name) : restored(pool, name));
    return false;
  };
  const stop = every(clock, renewMs, async () => {
    await renew();
  });
  return {
    epoch,
    renew,
    close: async () => {
      await stop();
      await pool
        .query('UPDATE promptpress.runs SET lead_until = NULL WHERE run = $1 AND lead_epoch = $2', [
          run,
          epoch,
        ])
        .catch(() => undefined);
    },
  };
}

async function leadOf(
  pool: Connection,
  run: number,
): Promise<{ readonly until: string | undefined; readonly leftMs: number }> {
  const { rows } = await pool.query<{ until: string | null; left: number | null }>(
    `SELECT lead_until::text AS until, (extract(epoch FROM lead_until - clock_timestamp()) * 1000)::float8 AS left
     FROM promptpress.runs WHERE run = $1`,
    [run],
  );
  const [row] = rows;
  if (row === undefined) throw new StateError('state.gone', 'The run was removed meanwhile.');
  return { until: row.until ?? undefined, leftMs: Math.max(0, row.left ?? 0) };
}

const restored = ({ shown }: EnginePool, name: string): StateError =>
  new StateError(
    'state.old',
    `The engine ${shown} has an older state of the run ${name} than a moment ago: its database was restored.`,
    { hint: 'Give the same command again: it says how much is missing in that state, and how to continue.' },
  );

/** Creates the error of a process that may not lead a run, because another process leads it. */
export const leadElsewhere = ({ shown }: Pick<EnginePool, 'shown'>, name: string): StateError =>
  new StateError('state.locked', `Another process leads the run ${name} of the engine ${shown}.`, {
    hint: 'Work on it too: `promptpress worker --engine …`; or wait for its end.',
  });
