import { describe, expect, it } from 'vitest';
import { faultNames } from '../rig/gateway/faults.ts';
import { drawScenario } from './draw-scenario.ts';
import { simulateOutcasts } from './outcasts.ts';
import { search } from './search.ts';
import { type Mutant, simulate } from './simulate.ts';

const from = Number(process.env['SEED'] ?? 1);
const seeds = 2;
/**
 * Seeds that together meet every kind of fault, tried first. `npm run sim -- --seeds 300 --cover` finds such seeds again when a kind has
 * come or a change has moved them; until then others are tried, which takes longer. Thousands of histories: `npm run sim`.
 */
const seedsOfMost = [
  231, 10, 450, 115, 96, 7, 20, 14, 477, 186, 22, 66, 108, 81, 419, 437, 43, 4, 441, 55, 120, 436, 102, 9,
  158, 431, 468, 472, 91,
];
const seedsOfAll = new Set([...seedsOfMost, ...Array.from({ length: 200 }, (_, at) => at + 1)]);
/** Seeds in which an outcast probes a kind for all others, is one of the last of a kind that was served, or comes before all others. */
const seedsOfOutcasts = [37, 39, 49, 193, 96, 97, 179, 231];
/** Seeds in which a job of an order is in doubt over a dialog, has failed when it is ordered, or is a text between two rounds. */
const seedsOfOrders = [903, 6078, 5808];

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

  it('pay each job of an order anew once, also where it is in doubt, has failed, or is between two rounds', async () => {
    for (const seed of seedsOfOrders)
      expect([seed, (await simulate(drawScenario(seed))).broken]).toEqual([seed, undefined]);
  }, 300_000);

  it('complete all jobs that do not depend on jobs which the gateway never accepts or never reports', async () => {
    for (const seed of [...Array.from({ length: 2 * seeds }, (_, at) => from + at), ...seedsOfOutcasts])
      expect([seed, await simulateOutcasts(drawScenario(seed))]).toEqual([seed, undefined]);
  }, 300_000);

  it('are the same when they are played again', async () => {
    const scenario = drawScenario(102);
    expect(await simulate(scenario)).toEqual(await simulate(scenario));
  });

  it('notice a run that sends before its intent is durable, and show the simplest history that does', async () => {
    const { found, seeds: needed } = await search(1, 100, 'sends-first');
    expect(needed).toBeLessThanOrEqual(100);
    expect(found?.broken).toMatch(/is (submitted|asked) while its record says|leaves where \d+ are counted/);
    expect(found?.simplest.invocations.length).toBeLessThanOrEqual(1);
  }, 60_000);

  /** What the first history with this mutant breaks, unshortened: that it can be made simpler is proved above. */
  const brokenFirst = async (from: number, mutant: Mutant): Promise<string | undefined> => {
    for (let seed = from; seed < from + 100; seed++) {
      const { broken } = await simulate(drawScenario(seed), mutant);
      if (broken !== undefined) return broken;
    }
    return undefined;
  };

  it('notice a run that presses again where a modal waits', async () => {
    expect(await brokenFirst(29, 'forgets-modals')).toMatch(
      /is submitted again|tasks were made|while its record says/,
    );
  }, 300_000);

  it('notice a run that forgets which jobs of an order it has made', async () => {
    expect(await brokenFirst(16, 'forgets-orders')).toMatch(/is submitted again|is asked more often/);
  }, 300_000);

  it('notice a run that goes on with an order that was cancelled', async () => {
    expect((await simulate(drawScenario(291))).broken).toBeUndefined();
    expect((await simulate(drawScenario(291), 'cancels-nothing')).broken).toContain(
      'is asked more often than it may be',
    );
  }, 60_000);

  it('notice a run that submits again what the service lists', async () => {
    expect(await brokenFirst(295, 'overlooks-tasks')).toContain(
      'is submitted again although the service lists its task',
    );
  }, 60_000);
});
