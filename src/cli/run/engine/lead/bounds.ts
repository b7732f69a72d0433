import { stopRun } from '../../../../engine/slices/runs.ts';
import { every } from '../../../../engine/slices/session.ts';
import { maxFailuresCode, type RunEnd } from '../../../../run/events.ts';
import type { RunSettings } from '../../../../run/ports.ts';
import { lasted } from '../../../../run/scheduler/state/lifecycle.ts';
import type { BegunOnEngine } from './begin.ts';

/** How often the failures of all workers are counted, ms. */
const everyMs = 1000;

/** Ends a run at the bounds that only its coordinator sees. */
export interface BoundsWatch {
  begin(invocation: number): void;
  end(): Promise<void>;
}

/** What ends a run of several workers: `--max-duration`, and `--max-failures` over all of them. What the engine shares ends it elsewhere. */
export function watchBounds(
  { engine: { pool, clock }, run }: BegunOnEngine,
  { maxDurationMs, maxFailures }: RunSettings,
): BoundsWatch {
  let cancel: (() => void) | undefined;
  let stopCounting: (() => Promise<void>) | undefined;
  const stop = (invocation: number, end: RunEnd): Promise<void> =>
    stopRun(pool, run, invocation, end).catch(() => undefined);
  const count = async (invocation: number, most: number): Promise<void> => {
    const { rows } = await pool.query<{ failed: number }>(
      `SELECT count(*)::int AS failed FROM promptpress.jobs
       WHERE run = $1 AND trouble AND status = 'failed' AND (doc::json ->> 'invocation')::bigint = $2`,
      [run, invocation],
    );
    if ((rows[0]?.failed ?? 0) < most) return;
    const message = `${most === 1 ? 'A job has' : `${most} jobs have`} failed in this run, for all of its workers (--max-failures).`;
    await stop(invocation, { kind: 'fail-fast', code: maxFailuresCode, message });
  };
  return {
    begin: (invocation) => {
      if (maxDurationMs !== undefined)
        cancel = clock.at(clock.now() + maxDurationMs, () => void stop(invocation, lasted));
      if (maxFailures !== undefined)
        stopCounting = every(clock, everyMs, () => count(invocation, maxFailures));
    },
    end: async () => {
      cancel?.();
      await stopCounting?.();
    },
  };
}
