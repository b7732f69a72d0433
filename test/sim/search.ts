import { drawScenario } from './draw-scenario.ts';
import type { Scenario } from './scenario.ts';
import { simpler } from './simpler.ts';
import { type Mutant, type Outcome, simulate } from './simulate.ts';

/** A broken promise, with the simplest history that breaks it. */
export interface Found {
  readonly seed: number;
  readonly broken: string;
  readonly simplest: Scenario;
}

export interface Searched {
  readonly seeds: number;
  readonly submits: number;
  readonly inDoubt: number;
  /** How often each kind of trouble came about. */
  readonly met: ReadonlyMap<string, number>;
  readonly found?: Found;
}

/** How many simpler histories are tried at the most. */
const patience = 400;

/** Plays seeds until one breaks a promise; that one is replayed ever simpler. */
export async function search(from: number, count: number, mutant?: Mutant): Promise<Searched> {
  let submits = 0;
  let inDoubt = 0;
  const met = new Map<string, number>();
  for (let seed = from; seed < from + count; seed++) {
    const scenario = drawScenario(seed);
    const outcome = await simulate(scenario, mutant);
    submits += outcome.submits;
    inDoubt += outcome.inDoubt;
    for (const [fault, times] of outcome.met) met.set(fault, (met.get(fault) ?? 0) + times);
    if (outcome.broken !== undefined) {
      const [simplest, broken] = await shrink(scenario, outcome.broken, mutant);
      return { seeds: seed - from + 1, submits, inDoubt, met, found: { seed, broken, simplest } };
    }
  }
  return { seeds: count, submits, inDoubt, met };
}

async function shrink(
  scenario: Scenario,
  broken: string,
  mutant: Mutant | undefined,
): Promise<[Scenario, string]> {
  let [simplest, why] = [scenario, broken];
  let tries = 0;
  for (let improved = true; improved; ) {
    improved = false;
    for (const candidate of simpler(simplest)) {
      if (++tries > patience) return [simplest, why];
      const outcome: Outcome = await simulate(candidate, mutant);
      if (outcome.broken === undefined) continue;
      [simplest, why] = [candidate, outcome.broken];
      improved = true;
      break;
    }
  }
  return [simplest, why];
}

/** What a history takes beside its submissions, in submissions. */
const workOfSeed = 20;

/** Seeds that together meet all the kinds that all of them meet, those that meet many for little work first. */
export async function covering(from: number, count: number): Promise<readonly number[]> {
  const played: { readonly seed: number; readonly met: readonly string[]; readonly work: number }[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const { met, submits } = await simulate(drawScenario(seed));
    played.push({ seed, met: [...met.keys()], work: workOfSeed + submits });
  }
  const missing = new Set(played.flatMap(({ met }) => met));
  const chosen: number[] = [];
  while (missing.size > 0) {
    let best = { seed: from, worth: 0, met: [] as readonly string[] };
    for (const { seed, met, work } of played) {
      const worth = met.filter((kind) => missing.has(kind)).length / work;
      if (worth > best.worth) best = { seed, worth, met };
    }
    chosen.push(best.seed);
    for (const kind of best.met) missing.delete(kind);
  }
  return chosen;
}
