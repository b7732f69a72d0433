/**
 * A 64-bit hash in two lanes of 32 bits. The hash of a cell is the lane-wise sum over its variables, so that it does not depend on their
 * order, and enumeration only adds.
 */
export interface PairHash {
  readonly a: number;
  readonly b: number;
}

/** The hashes of an axis's values, by index. */
export interface PairHashes {
  a(index: number): number;
  b(index: number): number;
}

/** Returns the hash of a variable with its rendered value. Not cryptographic: it only distributes values. */
export function pairHash(name: string, text: string): PairHash {
  const pair = `${name}\u0000${text}`;
  let a = 0x3c6ef372;
  let b = 0x1f83d9ab;
  for (let index = 0; index < pair.length; index++) {
    const unit = pair.charCodeAt(index);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
    a ^= a >>> 15;
    b ^= b >>> 13;
  }
  return { a: mix(a ^ (b >>> 16)), b: mix(b ^ pair.length ^ (a >>> 16)) };
}

/**
 * Returns the rank of a cell in a sample: 53 bits as a number, from the sum of its hashes and the seed's hash. Changing either changes
 * about half of the bits.
 */
export function rankOf(a: number, b: number, seed: PairHash): number {
  let x = mix(a ^ seed.a);
  const y = mix(b ^ seed.b ^ x);
  x = mix((x + y) | 0);
  return (x >>> 0) * 0x200000 + (y >>> 11);
}

/** Mixes a value by the last step of MurmurHash3 (public domain): every bit of the input affects every bit of the output. */
function mix(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** Hashes of values in memory. */
export class ValueHashes implements PairHashes {
  readonly #a: Int32Array;
  readonly #b: Int32Array;

  constructor(hashes: readonly PairHash[]) {
    this.#a = Int32Array.from(hashes, ({ a }) => a);
    this.#b = Int32Array.from(hashes, ({ b }) => b);
  }

  a(index: number): number {
    return this.#a[index] as number;
  }

  b(index: number): number {
    return this.#b[index] as number;
  }
}

/** Hashes that are added while the rows of a table are read: eight bytes per row. */
export class RowHashes implements PairHashes {
  #a = new Int32Array(64);
  #b = new Int32Array(64);
  #length = 0;

  push({ a, b }: PairHash): void {
    if (this.#length === this.#a.length) {
      this.#a = grown(this.#a);
      this.#b = grown(this.#b);
    }
    this.#a[this.#length] = a;
    this.#b[this.#length++] = b;
  }

  a(index: number): number {
    return this.#a[index] as number;
  }

  b(index: number): number {
    return this.#b[index] as number;
  }
}

function grown(lane: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(lane.length * 2);
  larger.set(lane);
  return larger;
}

/** Hashes of a range: stored for a short range, computed each time for a long one. */
export class RangeHashes implements PairHashes {
  static readonly listed = 1_000_000;
  readonly #list: ValueHashes | undefined;
  readonly #compute: (index: number) => PairHash;
  #lastIndex = -1;
  #last: PairHash = { a: 0, b: 0 };

  constructor(size: number, compute: (index: number) => PairHash) {
    this.#compute = compute;
    if (size > RangeHashes.listed) return;
    const hashes: PairHash[] = [];
    for (let index = 0; index < size; index++) hashes.push(compute(index));
    this.#list = new ValueHashes(hashes);
  }

  a(index: number): number {
    return this.#list?.a(index) ?? this.#at(index).a;
  }

  b(index: number): number {
    return this.#list?.b(index) ?? this.#at(index).b;
  }

  #at(index: number): PairHash {
    if (index !== this.#lastIndex) {
      this.#last = this.#compute(index);
      this.#lastIndex = index;
    }
    return this.#last;
  }
}
