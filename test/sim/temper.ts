import { Chance } from './chance.ts';
import type { AskFault, FetchFault, SubmitFault, saveFailures } from './faults.ts';
import type { Scenario } from './scenario.ts';

/** Routes on which the same can happen. */
const families: Readonly<Partial<Record<string, string>>> = {
  modal: 'submit',
  list: 'fetch',
  'task list': 'fetch',
};

/** What a simulated gateway is given to: the troubles that its scenario has in store. Healed, it has none. */
export class Temper {
  healed = false;
  /** How often each kind of trouble came about. */
  readonly met = new Map<string, number>();
  readonly scenario: Scenario;
  readonly chance: Chance;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.chance = new Chance(scenario.seed);
  }

  /** It never takes this job. */
  isBarred(key: string): boolean {
    return !this.healed && this.scenario.barred !== undefined && this.chance.happens(0.15, 'barred', key);
  }

  /** It no longer reports this job's tasks. */
  isHidden(key: string): boolean {
    return !this.healed && this.scenario.hidden !== undefined && this.chance.happens(0.15, 'hidden', key);
  }

  /** What goes wrong with the nth request, which is one of this route. Undefined: nothing. */
  fault<K extends SubmitFault | FetchFault | AskFault | keyof typeof saveFailures>(
    kinds: readonly K[],
    rates: Readonly<Partial<Record<K, number>>>,
    route: string,
    n: number,
  ): K | undefined {
    if (this.healed || n <= (this.scenario.calm ?? 0)) return undefined;
    const drawn = kinds.filter(
      (kind) => rates[kind] !== undefined && this.chance.happens(rates[kind], route, kind, n),
    );
    const fault = drawn.length > 1 ? this.chance.pick(drawn, route, 'which', n) : drawn[0];
    if (fault !== undefined) this.meet(`${families[route] ?? route}:${fault}`);
    return fault;
  }

  /** This trouble came about. */
  meet(fault: string): void {
    this.met.set(fault, (this.met.get(fault) ?? 0) + 1);
  }

  /** How long the nth request takes, ms. */
  latency(n: number): number {
    return this.chance.whole(20, 2000, 'latency', n);
  }
}
