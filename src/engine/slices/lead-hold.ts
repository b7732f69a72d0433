import type { Clock } from '../../run/clock.ts';
import { StateError } from '../../state/store.ts';
import type { Connection, EnginePool } from '../postgres/pool.ts';
import { pause } from './feeder.ts';
import { every } from './session.ts';

/** Whoever leads a run or works on it is taken for gone when nothing was heard of it for so long, by the engine's clock, ms. */
export const silentMs = 8000;
/** How often a lead shows that it is there, and how often somebody who waits for its end looks, ms. */
const renewMs = 2000;
const lookMs = 500;

/** SQL: whether a process leads the run `r`, as far as can be seen. */
export const isLed = 'coalesce(r.lead_until > clock_timestamp(), false)';

/** SQL: whether the worker of the session `s` is there, as far as can be seen. */
export const isAlive = `(NOT s.over AND s.seen > clock_timestamp() - interval '${silentMs} ms')`;

/** The lead of a run. It is renewed until it is closed; what a lead writes for the run names its epoch. */
export interface RunHold {
  /** Greater than that of every lead before it. */
  readonly epoch: number;
  /** Shows that it is there. @returns false where another process has taken the lead since @throws EngineError */
  renew(): Promise<boolean>;
  /** Lets go of it. Where the engine is away, it ends with its time. */
  close(): Promise<void>;
}

/** How a lead is taken. */
export interface HoldSettings {
  /** Ends the wait for one that was not heard of. */
  readonly signal?: AbortSignal;
  /** Told once where it is waited for one that may be gone, with how long at most, ms. Absent: it is not waited for. */
  readonly onWait?: (ms: number) => void;
}

/**
 * Takes the lead of a run, which one process has at a time. One that has died is waited for until its time is over, at most 8 s.
 *
 * @param name of the run, for messages
 * @throws StateError `state.locked` where another process leads the run; EngineError
 */
export async function holdRun(
  { pool, clock }: { readonly pool: EnginePool; readonly clock: Clock },
  run: number,
  name: string,
  { signal, onWait }: HoldSettings = {},
): Promise<RunHold> {
  for (let first: string | undefined; ; ) {
    const { rows } = await pool.query<{ epoch: number; until: string }>(
      `UPDATE promptpress.runs r SET lead_epoch = lead_epoch + 1, lead_until = ${deadline}
       WHERE run = $1 AND NOT ${isLed} RETURNING lead_epoch::float8 AS epoch, lead_until::text AS until`,
      [run],
    );
    const [taken] = rows;
    if (taken !== undefined) return held(pool, clock, run, name, taken);
    const { until, leftMs } = await leadOf(pool, run);
    // One that was heard of meanwhile is there.
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
): RunHold {
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
    // Nothing more may be done here for the run.
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
    { hint: 'Give the same command again: it says how much is missing in that state, and how to go on.' },
  );

/** Said to whoever wants to lead a run that another process leads. */
export const leadElsewhere = ({ shown }: Pick<EnginePool, 'shown'>, name: string): StateError =>
  new StateError('state.locked', `Another process leads the run ${name} of the engine ${shown}.`, {
    hint: 'Work on it too: `promptpress worker --engine …`; or wait for its end.',
  });
