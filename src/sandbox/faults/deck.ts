import { unitOf } from '../seeded.ts';
import { type Fault, isSubmit, routesOf } from './fault.ts';

/**
 * Decides which faults strike. Each fault counts the requests it could meet, and strikes by that count and the seed
 * alone: the same sequence of requests meets the same faults.
 */
export class FaultDeck {
  readonly #faults: readonly Fault[];
  readonly #seed: string;
  readonly #counts: number[];

  constructor(faults: readonly Fault[], seed: string) {
    this.#faults = faults;
    this.#seed = seed;
    this.#counts = faults.map(() => 0);
  }

  /** The faults that this request meets, in the order they were given; none where its route has no name. */
  draw(route: string): readonly Fault[] {
    if (route === '') return [];
    return this.#faults.filter((fault, index) => {
      if (!meets(fault, route)) return false;
      const number = (this.#counts[index] ?? 0) + 1;
      this.#counts[index] = number;
      return strikes(fault, number, `${this.#seed} ${index} ${fault.text} ${number}`);
    });
  }
}

function meets(fault: Fault, route: string): boolean {
  const submission = isSubmit(route);
  const only = routesOf(fault.effect);
  if (only === 'submit' ? !submission : only !== undefined && route !== only) return false;
  const text = route === 'generate' || route === 'chat';
  return (
    fault.route === 'any' ||
    fault.route === route ||
    (fault.route === 'submit' && submission) ||
    (fault.route === 'text' && text)
  );
}

function strikes({ when }: Fault, number: number, draw: string): boolean {
  switch (when.kind) {
    case 'probability':
      return unitOf(draw) < when.share;
    case 'every':
      return number % when.count === 0;
    case 'first':
      return number <= when.count;
    case 'at':
      return number === when.number;
  }
}
