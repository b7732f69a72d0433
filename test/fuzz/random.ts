/** A small seeded generator (mulberry32): the same seed gives the same inputs on every machine. */
export class Random {
  #state: number;

  constructor(...seeds: readonly number[]) {
    this.#state = 0x9e37_79b9;
    for (const seed of seeds) {
      this.#state = Math.imul(this.#state ^ (seed >>> 0), 0x85eb_ca6b) >>> 0;
      this.#state = (this.#state ^ (this.#state >>> 13)) >>> 0;
      this.next();
    }
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** A whole number whose size, not whose value, is uniform: mostly small, sometimes as large as can be. */
  size(most: number): number {
    return Math.min(most, Math.floor(Math.exp(this.next() * Math.log(most + 1))));
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('Nothing to pick from.');
    return item;
  }

  /** Some items, each drawn again. */
  some<T>(least: number, most: number, draw: () => T): readonly T[] {
    return Array.from({ length: this.whole(least, most) }, draw);
  }
}
