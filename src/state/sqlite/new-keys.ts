/** Bits of the filter: a mebibyte. With a million keys in it, one in twenty that was never written is asked for in vain. */
const bits = 2 ** 23;

/**
 * Which keys may have been written to a table since it was seen empty: a Bloom filter of two bits a key, of one size however many
 * there are. It never denies a key that was noted. So a key that it denies is in the table only where somebody else has written it.
 *
 * A key is a hash (`plan/key`), so its own first characters say its bits; what is no hash shares them with all that is none.
 */
export class NewKeys {
  readonly #filter = new Uint8Array(bits / 8);

  /** To be called before the key is written: a write that fails leaves it noted, which costs a look. */
  note(key: string): void {
    this.#set(first(key));
    this.#set(second(key));
  }

  /** False: it was never noted. */
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

/** What is no number becomes 0. */
const bitOf = (digits: string): number => Number.parseInt(digits, 16) & (bits - 1);

const first = (key: string): number => bitOf(key.slice(0, 7));
const second = (key: string): number => bitOf(key.slice(7, 14));
