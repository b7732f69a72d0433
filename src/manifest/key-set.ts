/**
 * A compact set of job keys: each key is kept as a 64-bit fingerprint in an open-addressed table, 10 to 22 bytes per key whatever its length
 * (a `Set<string>` takes about ten times that). A million keys fit in 16 MiB.
 *
 * Two different keys count as one if their fingerprints are equal: for ten million keys the chance that this happens to any pair at all is
 * about 3 in 1,000,000. Keys are hashes of content, never chosen by an adversary.
 */
export class KeySet {
  #slots = new Uint32Array(2 * 64);
  /** The number at each place; undefined: keys have no numbers. */
  #numbers: Uint32Array | undefined;
  #mask = 63;
  #size = 0;

  /** @param withNumbers give each key a number, in 5 to 11 more bytes */
  constructor(withNumbers = false) {
    if (withNumbers) this.#numbers = new Uint32Array(64);
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the number of a key; undefined: the key is not in the set. */
  numberOf(key: string): number | undefined {
    const [high, low] = fingerprint(key);
    const place = this.#find(high, low);
    return this.#slots[2 * place] === 0 ? undefined : this.#numbers?.[place];
  }

  /** Adds a key; returns false if it was there already, which keeps its number. @param number below 2^32 */
  add(key: string, number = 0): boolean {
    // Three quarters full at most, so that runs of occupied places stay short.
    if (4 * (this.#size + 1) > 3 * (this.#mask + 1)) this.#grow();
    const [high, low] = fingerprint(key);
    const place = this.#find(high, low);
    if (this.#slots[2 * place] !== 0) return false;
    this.#slots[2 * place] = high;
    this.#slots[2 * place + 1] = low;
    if (this.#numbers !== undefined) this.#numbers[place] = number;
    this.#size += 1;
    return true;
  }

  has(key: string): boolean {
    const [high, low] = fingerprint(key);
    return this.#slots[2 * this.#find(high, low)] !== 0;
  }

  /** Returns the place of a fingerprint, or the free place for it. */
  #find(high: number, low: number): number {
    let place = low & this.#mask;
    for (;;) {
      const there = this.#slots[2 * place];
      if (there === 0 || (there === high && this.#slots[2 * place + 1] === low)) return place;
      place = (place + 1) & this.#mask;
    }
  }

  #grow(): void {
    const before = this.#slots;
    const numbers = this.#numbers;
    this.#mask = 2 * (this.#mask + 1) - 1;
    this.#slots = new Uint32Array(2 * (this.#mask + 1));
    if (numbers !== undefined) this.#numbers = new Uint32Array(this.#mask + 1);
    for (let index = 0; index < before.length; index += 2) {
      const high = before[index] as number;
      if (high === 0) continue;
      const low = before[index + 1] as number;
      const place = this.#find(high, low);
      this.#slots[2 * place] = high;
      this.#slots[2 * place + 1] = low;
      if (numbers !== undefined && this.#numbers !== undefined)
        this.#numbers[place] = numbers[index / 2] as number;
    }
  }
}

/** Returns two 32-bit halves, mixed from every character; the high one is never 0, which marks a free place. */
function fingerprint(key: string): readonly [number, number] {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let index = 0; index < key.length; index += 1) {
    const unit = key.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x85ebca77);
    low = Math.imul(low ^ unit, 0xc2b2ae3d);
  }
  high = Math.imul(high ^ (high >>> 16), 0x21f0aaad) ^ Math.imul(low ^ (low >>> 13), 0x735a2d97);
  low = Math.imul(low ^ (low >>> 16), 0x735a2d97) ^ Math.imul(high ^ (high >>> 15), 0x21f0aaad);
  return [high >>> 0 || 1, low >>> 0];
}
