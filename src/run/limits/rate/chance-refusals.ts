/** So many accepted requests show a pace that the service accepts. */
const fewestShown = 20;
/** A limit does not refuse what is slower than this part of a pace that it has accepted. */
const farBelow = 0.85;
/** With fewer accepted requests before it, a refusal shows a limit that has fallen. */
const fewestBetween = 5;
/** So many refusals far below a pace that was accepted are no coincidence; every accepted request makes them less by a part. */
const mostInVain = 4;
const forgotten = 0.003;
/** The part by which every accepted request makes the pace less that was accepted: limits change. */
const faded = 0.0001;

/**
 * Tells refusals that come by chance, or by the requests of others, from those of a limit: a limit ends where less is sent than it has
 * accepted; refusals by chance come at any pace.
 */
export class ChanceRefusals {
  /** The highest rate at which requests were accepted lately, requests per ms. */
  #shown = 0;
  #inVain = 0;
  #accepted = 0;
  #ms = 0;

  /** True where lower paces do not end the refusals. */
  get isProven(): boolean {
    return this.#inVain >= mostInVain;
  }

  /** Requests per ms that were accepted before the pace was lowered. */
  get shown(): number {
    return this.#shown;
  }

  /**
   * A pace is refused.
   *
   * @param accepted requests at about this pace since the refusal before
   * @param ms since then
   */
  onRefused(pace: number, accepted: number, ms: number): void {
    this.#inVain = Math.max(0, this.#inVain - forgotten * accepted);
    this.#shown *= (1 - faded) ** accepted;
    this.#accepted += accepted;
    this.#ms += ms;
    if (this.#accepted >= fewestShown) {
      this.#shown = Math.max(this.#shown, this.#accepted / this.#ms);
      this.#accepted = 0;
      this.#ms = 0;
    }
    if (accepted >= fewestBetween && pace < farBelow * this.#shown) this.#inVain += 1;
  }
}
