/**
 * Chance that is named, not drawn in sequence: the same seed and name always give the same number, so that taking one
 * fault out of a scenario leaves every other decision as it was. That is what lets a failing scenario shrink.
 */
export class Chance {
  readonly seed: number;

  constructor(seed: number) {
    this.seed = seed;
  }

  /** Uniform in [0, 1). */
  of(...name: readonly (string | number)[]): number {
    let hash = (this.seed ^ 0x9e37_79b9) >>> 0;
    for (const part of name) {
      const text = `${part}|`;
      for (let at = 0; at < text.length; at++)
        hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193) >>> 0;
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d) >>> 0;
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b) >>> 0;
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35) >>> 0;
    return ((hash ^ (hash >>> 16)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number, ...name: readonly (string | number)[]): number {
    return least + Math.floor(this.of(...name) * (most - least + 1));
  }

  happens(probability: number, ...name: readonly (string | number)[]): boolean {
    return this.of(...name) < probability;
  }

  pick<T>(items: readonly T[], ...name: readonly (string | number)[]): T {
    const item = items[Math.floor(this.of(...name) * items.length)];
    if (item === undefined) throw new Error('Nothing to pick from.');
    return item;
  }
}
