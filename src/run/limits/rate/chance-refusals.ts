/** How many of the last results are looked at, and the fewest that tell a share. */
const lastResults = 20;
const fewestResults = 8;
/** Where no more than this part of them are refusals, a limit is not far below the pace. */
const fewRefused = 0.35;
/** Then so many lowerings do not leave the pace above a limit. Every request makes them less by a part. */
const mostLowerings = 6;
const forgotten = 0.003;

/**
 * Tells refusals that come by chance, or by requests of others, from those of a limit: a limit that refuses few requests is left behind
 * by few lowerings of the pace; of refusals by chance as many come at any pace.
 */
export class ChanceRefusals {
  /** True for each of the last results that is a refusal. */
  readonly #results: boolean[] = [];
  /** Lowerings with few refusals around them, and the pace before the first. */
  #lowerings = 0;
  #paceBefore: number | undefined;

  /** True where lower paces do not end the refusals. */
  get isProven(): boolean {
    return this.#lowerings >= mostLowerings;
  }

  /** The pace before it was lowered for such refusals, requests per ms. */
  get paceBefore(): number | undefined {
    return this.#paceBefore;
  }

  onSent(): void {
    this.#lowerings = Math.max(0, this.#lowerings - forgotten);
  }

  onResult(isRefused: boolean): void {
    this.#results.push(isRefused);
    if (this.#results.length > lastResults) this.#results.shift();
  }

  /**
   * The pace is lowered.
   *
   * @param measured part of the pace that was accepted over some time; less than the results allow: the service also asks for pauses
   * @returns the smallest factor on the pace that the last results allow
   */
  onLowered(pace: number, measured = 1): number {
    const { length } = this.#results;
    if (length < fewestResults) return 0;
    const share = this.#results.filter(Boolean).length / length;
    if (share > fewRefused || measured < 0.95 * (1 - share)) return 0;
    if (this.#lowerings < 1) this.#paceBefore = pace;
    this.#lowerings += 1;
    return 0.95 * (1 - share);
  }
}
