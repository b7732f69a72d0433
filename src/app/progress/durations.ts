/** This many of the latest durations are kept. */
const mostKept = 64;

/** How long the jobs of one kind take, learned while they settle. Milliseconds. */
export class Durations {
  readonly #latest: number[] = [];
  #next = 0;
  readonly #earlier: number | undefined;
  #count = 0;

  /** @param earlier the usual duration in earlier runs: it counts until this run has durations of its own */
  constructor(earlier?: number) {
    this.#earlier = earlier;
  }

  /** How many this run has learned. */
  get count(): number {
    return this.#count;
  }

  learn(ms: number): void {
    this.#latest[this.#next] = ms;
    this.#next = (this.#next + 1) % mostKept;
    this.#count += 1;
  }

  /**
   * The mean; undefined while nothing is known. Jobs under way count as longer than they have taken so far (Kaplan and Meier):
   * short ones are the first to settle, and would alone make the mean too small.
   *
   * @param elapsed how long each job under way has taken
   */
  mean(elapsed: readonly number[]): number | undefined {
    if (this.#latest.length === 0) return this.#earlier;
    const seen = [
      ...this.#latest.map((ms) => ({ ms, settled: true })),
      ...elapsed.map((ms) => ({ ms, settled: false })),
    ].toSorted((one, other) => one.ms - other.ms);
    let mean = 0;
    let share = 1;
    let at = 0;
    for (const [index, { ms, settled }] of seen.entries()) {
      mean += share * (ms - at);
      at = ms;
      if (settled) share *= 1 - 1 / (seen.length - index);
    }
    return mean;
  }

  /** What is left of a job that has taken this long: the mean of those that took longer. */
  rest(elapsedMs: number, mean: number): number {
    const longer = this.#latest.filter((ms) => ms > elapsedMs);
    if (longer.length > 0) return longer.reduce((total, ms) => total + ms - elapsedMs, 0) / longer.length;
    // It is late already, and nobody knows how late it will be.
    return Math.max(mean - elapsedMs, mean / 10);
  }
}
