import type { Rate } from '../../pipeline/pipeline.ts';
import type { TokenSendTimes } from '../ports.ts';

/** Number of parts of a window. Calls answered within one part are counted together. */
const moments = 256;

/**
 * Enforces `limits.tokens`: never more than `count` tokens in any window of `perMs`.
 *
 * It is unknown when the service counts a call's tokens: on arrival, on the reply, or in between. So a call counts from its sending until
 * `perMs` after its reply, with its estimate until the reply and with the actual number afterwards. Whenever the service counts, the calls
 * of a window together take at most `count` tokens, plus the excess over the estimates of the calls that were unanswered when the last one
 * was sent. A single call above the limit is sent when nothing else counts.
 */
export class TokenLimiter implements TokenSendTimes {
  readonly #rate: Rate | undefined;
  /** Estimated tokens of the calls in flight, by job key. */
  readonly #reserved = new Map<string, number>();
  #sum = 0;
  /** Tokens of answered calls, oldest first; each entry counts until `until`. */
  #spent: { readonly until: number; tokens: number }[] = [];

  readonly #shared: TokenSendTimes | undefined;

  /** @param shared a further limit that the run shares with other workers */
  constructor(rate: Rate | undefined, shared?: TokenSendTimes) {
    this.#rate = rate;
    this.#shared = shared;
  }

  /** Whether calls must keep to a token rate. */
  get isLimited(): boolean {
    return this.#rate !== undefined || this.#shared !== undefined;
  }

  /**
   * Unix ms from which a call of this many tokens may be sent; a past time means now, positive infinity: only after calls in flight are
   * answered.
   */
  nextAt(tokens: number): number {
    const own = this.#ownAt(tokens);
    // The shared limit is not asked while the run's own limit blocks the call.
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

  /** Counts a sent call with its estimated tokens. */
  take(key: string, tokens: number, now: number): void {
    this.#shared?.take(key, tokens, now);
    if (this.#rate === undefined) return;
    this.#forget(now);
    this.#reserved.set(key, tokens);
    this.#sum += tokens;
  }

  /** Counts the actual tokens of an answered call; where they are unknown, the estimate remains. */
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
