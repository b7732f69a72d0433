import { describe, expect, it } from 'vitest';
import { drawWorkers } from './scenario.ts';
import { searchWorkers, simulateWorkers } from './simulate.ts';
import type { WorkersMutant } from './worker.ts';

const from = Number(process.env['SEED'] ?? 1);

/** Thousands of histories: `npx tsx test/sim/main.ts --workers 0 --seeds 10000`. */
describe('histories of several workers on one state', () => {
  it(`lose nothing, pay nothing twice, and leave in doubt what cannot be known (SEED=${from})`, async () => {
    const { found, submits } = await searchWorkers(from, 8);
    expect(found).toBeUndefined();
    expect(submits).toBeGreaterThan(0);
  }, 60_000);

  /** Each of these rules is left out, and the first of these histories shows it. */
  const mutants = { 'no-epoch': 1, 'no-claim': 1, 'holds-first': 6, 'left-is-closed': 2 } as const;
  it.each(Object.entries(mutants) as [WorkersMutant, number][])(
    'notice a run with %s (seed %i)',
    async (mutant, seed) => {
      const { found } = await searchWorkers(seed, 1, { mutant });
      expect(found?.seed).toBe(seed);
    },
    60_000,
  );

  it('are the same when they are played again', async () => {
    expect(await simulateWorkers(drawWorkers(19))).toEqual(await simulateWorkers(drawWorkers(19)));
  }, 60_000);
});
