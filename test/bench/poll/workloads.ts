import { seededRandom } from '../../rig/virtual-run.ts';

/** What becomes of the tasks of a run: the nth of them, from 1, by chance alone. The same however often it is asked. */
export interface Workload {
  readonly durationMs: (task: number, random: () => number) => number;
}

/** Random numbers of one task of a run. @param seed of the run */
export const chance = (seed: number, task: number): (() => number) =>
  seededRandom(seed * 1_000_003 + task * 7919);

/** Durations whose logarithm is normal, by their mean. */
const logNormal = (random: () => number, meanMs: number, sigma: number): number => {
  const gauss = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.round(meanMs * Math.exp(sigma * gauss - sigma ** 2 / 2));
};

export const minute = 60_000;

export const spread = (sigma: number, meanMs = minute): Workload => ({
  durationMs: (_, random) => logNormal(random, meanMs, sigma),
});

/** Half of the tasks take half a minute, the others a minute and a half. */
export const bimodal: Workload = {
  durationMs: (_, random) => {
    const meanMs = random() < 0.5 ? 30_000 : 90_000;
    return logNormal(random, meanMs, 0.1);
  },
};

/** From this task on all take twice as long. */
export const doubledFrom = (first: number, sigma: number): Workload => ({
  durationMs: (task, random) => logNormal(random, task < first ? minute : 2 * minute, sigma),
});

/** One task of twenty ends only after ten minutes. */
export const stuck = (sigma: number): Workload => ({
  durationMs: (_, random) => (random() < 0.05 ? 600_000 : logNormal(random, minute, sigma)),
});
