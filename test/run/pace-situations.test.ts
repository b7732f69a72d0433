import { describe, expect, it } from 'vitest';
import { isPaid, pacedRun } from '../rig/paced-run.ts';
import { paceSituations } from '../rig/strangers/pace.ts';

/** Chance keeps the last of many back, for whoever asks. */
const nearlyAll = 0.95;
const allWithinMs = 240_000;

describe('a run, where servers were found to slow it down', () => {
  it.each(paceSituations)(
    'is served about as soon as by a client that never waits in vain: $name',
    async (situation) => {
      const { setting, rows, withinS } = situation;
      const { log } = await pacedRun({ ...setting, untilMs: allWithinMs });
      const served = log.filter((asked) => isPaid(asked) && asked.refusal === undefined);
      expect(new Set(served.map(({ kind, key }) => `${kind} ${key}`)).size).toBe(served.length);
      expect(served.filter(({ endsAt }) => endsAt <= 1000 * withinS).length).toBeGreaterThanOrEqual(
        nearlyAll * rows,
      );
      expect(served).toHaveLength(rows);
    },
  );
});
