/** Bits of the filter: one mebibyte. With a million keys, one in twenty new keys is looked up for nothing. */
const bits = 2 ** 23;

/**
 * A Bloom filter of keys that may have been written to a table since it was empty: two bits a key, of constant size. It never denies a
 * noted key, so a denied key is in the table only if somebody else has written it.
 *
 * A key is a hash (`plan/key`), so its own first characters give its bits; all other texts share theirs.
 */
export class NewKeys {
  readonly #filter = new Uint8Array(bits / 8);

  /** Notes a key. Call it before the key is written: if the write fails, the key stays noted, which costs a look-up. */
  note(key: string): void {
    this.#set(first(key));
    this.#set(second(key));
  }

  /** Whether a key may have been noted. False: it was not. */
  mayHave(key: string): boolean {
    return this.#has(first(key)) && this.#has(second(key));
  }

  #set(bit: number): void {
    const at = bit >>> 3;
    this.#filter[at] = (this.#filter[at] ?? 0) | (1 << (bit & 7));
  }

  #has(bit: number): boolean {
    return ((this.#filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }
}

/** Returns the bit of some digits; 0 for a text that is not a number. */
const bitOf = (digits: string): number => Number.parseInt(digits, 16) & (bits - 1);

const first = (key: string): number => bitOf(key.slice(0, 7));
const second = (key: string): number => bitOf(key.slice(7, 14));
