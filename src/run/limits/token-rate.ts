import type { Rate } from '../../pipeline/pipeline.ts';
import type { TokenSendTimes } from '../ports.ts';

/** A window has this many moments; calls answered within one moment are counted together. */
const moments = 256;

/**
 * Holds text calls to `limits.tokens`: never more than `count` tokens in any window of `perMs`.
 *
 * Nobody knows when the service counts a call's tokens: on arrival, on the reply, or in between. So a call counts from the
 * moment it leaves until `perMs` after its reply: with its estimate until the reply, with its true number from then on. The
 * law that follows, whenever the service counts: the calls of a window together take at most `count` tokens, plus the tokens
 * by which calls that were unanswered when the last one left exceed their estimates. A single call that is larger than the
 * limit leaves when nothing else counts.
 */
export class TokenLimiter implements TokenSendTimes {
  readonly #rate: Rate | undefined;
  /** Estimates of the calls under way. */
  readonly #reserved = new Map<string, number>();
  #sum = 0;
  /** Tokens of answered calls, oldest first; each entry counts until `until`. */
  #spent: { readonly until: number; tokens: number }[] = [];

  readonly #shared: TokenSendTimes | undefined;

  /** @param shared the limit that the run shares with others */
  constructor(rate: Rate | undefined, shared?: TokenSendTimes) {
    this.#rate = rate;
    this.#shared = shared;
  }

  /** False: a call of any size may leave at any time. */
  get isLimited(): boolean {
    return this.#rate !== undefined || this.#shared !== undefined;
  }

  /**
   * Unix ms from when on a call of this many tokens may leave; not in the future means now, positive infinity: only after
   * calls under way are answered.
   */
  nextAt(tokens: number): number {
    const own = this.#ownAt(tokens);
    // Where its own limit holds a call, none is asked for of the shared one.
    return own === Number.POSITIVE_INFINITY ? own : Math.max(own, this.#shared?.nextAt(tokens) ?? own);
  }

  #ownAt(tokens: number): number {
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

  /** Counts a call that leaves, with its estimated tokens. */
  take(key: string, tokens: number, now: number): void {
    this.#shared?.take(key, tokens, now);
    if (this.#rate === undefined) return;
    this.#forget(now);
    this.#reserved.set(key, tokens);
    this.#sum += tokens;
  }

  /** Counts the true tokens of an answered call, where they are known; else its estimate stands. */
  settle(key: string, tokens: number | undefined, now: number): void {
    this.#shared?.settle(key, tokens, now);
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
