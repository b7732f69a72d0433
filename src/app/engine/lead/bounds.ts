import { stopRun } from '../../../engine/slices/runs.ts';
import type { RunSettings } from '../../../run/ports.ts';
import { lasted } from '../../../run/scheduler/state/lifecycle.ts';
import type { BegunOnEngine } from './begin.ts';

/** Ends a run at the bounds that only its coordinator sees. */
export interface BoundsWatch {
  begin(invocation: number): void;
  end(): void;
}

/** What ends a run of several workers after some time (`--max-duration`). What else bounds it, every worker sees. */
export function watchBounds(
  { engine: { pool, clock }, run }: BegunOnEngine,
  { maxDurationMs }: RunSettings,
): BoundsWatch {
  let cancel: (() => void) | undefined;
  return {
    begin: (invocation) => {
      if (maxDurationMs === undefined) return;
      const end = (): void => {
        stopRun(pool, run, invocation, lasted).catch(() => undefined);
      };
      cancel = clock.at(clock.now() + maxDurationMs, end);
    },
    end: () => cancel?.(),
  };
}
