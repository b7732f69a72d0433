/** How often each of some words went to a server, counted in the bytes of its cable: what left is known, whatever came of it. */
export class Traffic {
  readonly #words: RegExp;
  readonly #longest: number;
  readonly #seen = new Map<string, number>();

  /** @param longest bytes of a word at most @param words global; ASCII alone */
  constructor(words: RegExp, longest: number) {
    this.#words = words;
    this.#longest = longest;
  }

  /** Of one connection. */
  tap(): (chunk: Buffer) => void {
    let rest = '';
    return (chunk) => {
      const text = rest + chunk.toString('latin1');
      let from = 0;
      for (const match of text.matchAll(this.#words)) {
        const [word] = match;
        this.#seen.set(word, (this.#seen.get(word) ?? 0) + 1);
        from = match.index + word.length;
      }
      rest = text.slice(Math.max(from, text.length - this.#longest));
    };
  }

  /** As it is now. */
  counts(): ReadonlyMap<string, number> {
    return new Map(this.#seen);
  }
}
