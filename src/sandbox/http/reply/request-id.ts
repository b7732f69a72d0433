import { digestOf } from '../../seeded.ts';

/** Request ids as the family writes them: the time to the second, then random-looking characters (gateway 8.1). */
export class RequestIds {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  next(now: number): string {
    this.#count += 1;
    const time = new Date(now).toISOString().replaceAll(/\D/g, '');
    return `${time}${digestOf(`request ${this.#seed} ${this.#count}`).slice(0, 8)}`;
  }
}
