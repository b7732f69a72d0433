import type { Rate } from '../../pipeline/pipeline.ts';

/** Answers of about one moment are counted as one: so many moments in a window. */
const moments = 256;

/**
 * Holds text calls to `limits.tokens`: never more than `count` tokens in any window of `perMs`.
 *
 * At which moment the service counts a call's tokens, nobody knows: when it comes in, when it is answered, or in between. So
 * a call counts from the moment it leaves until `perMs` after its answer: with its estimate until it is answered, with
 * its true figure from then on. The law that follows, whenever the service counts: the calls of a window together take at most
 * `count` tokens, and what those of them that were not answered when the last one left took beyond their estimates. A
 * single call that is larger than the limit leaves when nothing else counts.
 */
export class TokenLimiter {
  readonly #rate: Rate | undefined;
  /** Estimates of the calls under way. */
  readonly #reserved = new Map<string, number>();
  #sum = 0;
  /** Of answered calls, oldest first; each counts until its moment. */
  #spent: { readonly until: number; tokens: number }[] = [];

  constructor(rate: Rate | undefined) {
    this.#rate = rate;
  }

  /**
   * Unix ms from when on a call of so many tokens may leave; not in the future means now, positive infinity that it
   * waits for the answers of those under way.
   */
  nextAt(tokens: number): number {
    if (this.#rate === undefined) return Number.NEGATIVE_INFINITY;
    let counted = this.#sum;
    let at = Number.NEGATIVE_INFINITY;
    for (const { until, tokens: spent } of this.#spent) {
      if (counted + tokens <= this.#rate.count) return at;
      counted -= spent;
      at = until;
    }
    return this.#reserved.size === 0 || counted + tokens <= this.#rate.count ? at : Number.POSITIVE_INFINITY;
  }

  /** A call leaves that is thought to take so many tokens. */
  take(key: string, tokens: number, now: number): void {
    if (this.#rate === undefined) return;
    this.#forget(now);
    this.#reserved.set(key, tokens);
    this.#sum += tokens;
  }

  /** The call was answered: what it took, where that is known; else its estimate stands. */
  settle(key: string, tokens: number | undefined, now: number): void {
    if (this.#rate === undefined) return;
    this.#forget(now);
    const reserved = this.#reserved.get(key) ?? 0;
    this.#reserved.delete(key);
    const spent = tokens ?? reserved;
    this.#sum += spent - reserved;
    if (spent === 0) return;
    const { perMs } = this.#rate;
    const grain = Math.max(1, perMs / moments);
    const until = Math.ceil((now + perMs) / grain) * grain;
    const last = this.#spent.at(-1);
    if (last !== undefined && last.until >= until) last.tokens += spent;
    else this.#spent.push({ until, tokens: spent });
  }

  #forget(now: number): void {
    const gone = this.#spent.findIndex(({ until }) => until > now);
    for (const { tokens } of this.#spent.splice(0, gone === -1 ? this.#spent.length : gone))
      this.#sum -= tokens;
  }
}
