/** Returns a stream of 32-bit words that starts from a text (xmur3). */
function wordsOf(text: string): () => number {
  let h = 1779033703 ^ text.length;
  for (let i = 0; i < text.length; i += 1) {
    h = Math.imul(h ^ text.charCodeAt(i), 3432918353);
    h = (h << 13) | (h >>> 19);
  }
  return () => {
    h = Math.imul(h ^ (h >>> 16), 2246822507);
    h = Math.imul(h ^ (h >>> 13), 3266489909);
    h ^= h >>> 16;
    return h >>> 0;
  };
}

/** Returns a stream of numbers in [0, 1) that depends only on the text (sfc32). */
function streamOf(text: string): () => number {
  const word = wordsOf(text);
  let a = word();
  let b = word();
  let c = word();
  let d = word();
  return () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
}

/** Largest change of a continuous choice by one nudge, as a share of its range. */
const nudgeReach = 0.16;

/**
 * Random choices that depend only on a seed and on nudges. Nudges change continuous choices a little and the others not at all: a
 * nudged scene is the same scene, slightly different everywhere.
 */
export class Random {
  readonly #seed: string;
  readonly #nudges: readonly string[];
  readonly #stream: () => number;
  readonly #shifts: readonly (() => number)[];

  constructor(seed: string, nudges: readonly string[] = []) {
    this.#seed = seed;
    this.#nudges = nudges;
    this.#stream = streamOf(seed);
    this.#shifts = nudges.map((nudge) => streamOf(`${nudge} ${seed}`));
  }

  /** Returns an independent stream for one part of the scene. */
  fork(name: string): Random {
    return new Random(`${this.#seed}/${name}`, this.#nudges);
  }

  /** Returns a number from low to high, nudged. */
  range(low: number, high: number): number {
    let share = this.#stream();
    for (const shift of this.#shifts) share += (shift() - 0.5) * nudgeReach;
    if (share < 0) share = -share;
    if (share > 1) share = 2 - share;
    return low + share * (high - low);
  }

  /** Returns a whole number from low to high, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.#stream() * (high - low + 1));
  }

  chance(share: number): boolean {
    return this.#stream() < share;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#stream() * choices.length)];
    if (choice === undefined) throw new Error('Internal error: nothing to choose from');
    return choice;
  }
}
