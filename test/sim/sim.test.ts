import { describe, expect, it } from 'vitest';
import { faultNames } from '../rig/gateway/faults.ts';
import { drawScenario } from './draw-scenario.ts';
import { simulateOutcasts } from './outcasts.ts';
import { search } from './search.ts';
import { simulate } from './simulate.ts';

const from = Number(process.env['SEED'] ?? 1);
const seeds = 3;
/** Seeds that together meet every kind of fault, or nearly: they are tried first. */
const seedsOfMost = [77, 31, 67, 43, 48, 78, 4, 87, 33, 108, 16, 46, 100, 109, 19, 21, 25, 94, 107, 115, 150];
const seedsOfAll = new Set([...seedsOfMost, ...Array.from({ length: 200 }, (_, at) => at + 1)]);

describe('simulated histories', () => {
  it(`keep every promise (SEED=${from}, ${seeds} seeds)`, async () => {
    const { found } = await search(from, seeds);
    expect(found).toBeUndefined();
  }, 300_000);

  it('meet every kind of fault that is known of gateways', async () => {
    const missing = new Set<string>(faultNames);
    for (const seed of seedsOfAll) {
      const { met, found } = await search(seed, 1);
      expect([seed, found]).toEqual([seed, undefined]);
      for (const fault of met.keys()) missing.delete(fault);
      if (missing.size === 0) break;
    }
    expect([...missing]).toEqual([]);
  }, 300_000);

  it('complete all jobs that do not depend on jobs which the gateway never accepts or never reports', async () => {
    for (let seed = from; seed < from + 2 * seeds; seed++)
      expect([seed, await simulateOutcasts(drawScenario(seed))]).toEqual([seed, undefined]);
  }, 300_000);

  it('are the same when they are played again', async () => {
    const scenario = drawScenario(41);
    expect(await simulate(scenario)).toEqual(await simulate(scenario));
  });

  it('notice a run that sends before its intent is durable, and show the simplest history that does', async () => {
    const { found, seeds: needed } = await search(1, 100, 'sends-first');
    expect(needed).toBeLessThanOrEqual(100);
    expect(found?.broken).toMatch(/is (submitted|asked) while its record says|leaves where \d+ are counted/);
    expect(found?.simplest.invocations.length).toBeLessThanOrEqual(1);
  }, 60_000);

  it('notice a run that presses again where a modal waits', async () => {
    // The first seed that shows it: to make its history simpler takes time.
    const { found } = await search(16, 100, 'forgets-modals');
    expect(found?.broken).toMatch(/is submitted again|tasks were made|while its record says/);
  }, 300_000);

  it('notice a run that submits again what the service lists', async () => {
    const { found } = await search(1, 100, 'overlooks-tasks');
    expect(found?.broken).toContain('is submitted again although the service lists its task');
  }, 60_000);
});
