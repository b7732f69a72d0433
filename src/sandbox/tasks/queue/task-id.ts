/**
 * Makes task ids: unix ms and three digits, 16 in all, as decimal strings (gateway 3.4), unique and rising even
 * when the clock goes back. `long` ids have a 17th digit and do not fit a JavaScript number (gateway 3.4).
 */
export class TaskIds {
  #last: bigint;
  readonly #long: boolean;

  constructor(last: string | undefined, long: boolean) {
    this.#last = last === undefined ? 0n : BigInt(last);
    this.#long = long;
  }

  next(now: number): string {
    let id = BigInt(Math.floor(now)) * 1000n + 137n;
    if (this.#long) id = id * 10n + 7n;
    if (id <= this.#last) id = this.#last + 1n;
    this.#last = id;
    return id.toString();
  }
}
