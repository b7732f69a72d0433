/**
 * Makes task ids: unix ms and three digits, 16 in all, as decimal strings (gateway 3.4), unique and rising even
 * when the clock goes back. With `shared`, every fifth of a burst is that of the one before (gateway 3.4). `long` ids have a 17th digit and do not fit a JavaScript number (gateway 3.4).
 */
export class TaskIds {
  #last: bigint;
  readonly #long: boolean;

  readonly #shared: boolean;
  #made = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(
    last: string | undefined,
    { long, shared }: { readonly long: boolean; readonly shared: boolean },
  ) {
    this.#last = last === undefined ? 0n : BigInt(last);
    this.#long = long;
    this.#shared = shared;
  }

  next(now: number): string {
    const isBurst = now - this.#lastAt < 1000;
    this.#lastAt = now;
    this.#made += 1;
    if (this.#shared && isBurst && this.#made % 5 === 0) return this.#last.toString();
    let id = BigInt(Math.floor(now)) * 1000n + 137n;
    if (this.#long) id = id * 10n + 7n;
    if (id <= this.#last) id = this.#last + 1n;
    this.#last = id;
    return id.toString();
  }
}
