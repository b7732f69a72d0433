import type { Clock } from '../clock.ts';

/** While many requests are in flight, commits take at most one part in `pauseFactor + 1` of the time. */
const pauseFactor = 3;

/** Longest time that a decision waits to share a commit with others, ms. */
export const longestPauseMs = 8;

/** A commit starts once one in this many requests in flight has been answered. */
const enoughShare = 4;

/**
 * Decides when decisions become durable: in one commit per turn of the event loop, or a little later where commits would take most of the
 * time. A decision then waits for others: for a quarter of the requests in flight, for three times the duration of a commit, or for
 * {@link longestPauseMs}, whichever comes first. With few requests in flight, or with time between commits, nothing waits.
 */
export class CommitTurn {
  readonly #clock: Clock;
  readonly #commit: () => void;
  readonly #underWay: () => number;
  #isDue = false;
  #cancelPause: (() => void) | undefined;
  /** Number of inputs since the last commit. */
  #inputs = 0;
  /** How long a commit blocks the process, ms: a moving mean. Asynchronous work of the store does not count. */
  #tookMs = 0;
  #endedAt = Number.NEGATIVE_INFINITY;

  /** @param underWay returns the number of requests in flight */
  constructor(clock: Clock, commit: () => void, underWay: () => number) {
    this.#clock = clock;
    this.#commit = commit;
    this.#underWay = underWay;
  }

  /** Plans a commit after an input was decided. */
  onInput(): void {
    this.#inputs += 1;
    this.soon();
  }

  /** Plans a commit. */
  soon(): void {
    if (this.#isDue) return;
    const now = this.#clock.now();
    const at = this.#endedAt + Math.min(longestPauseMs, pauseFactor * this.#tookMs);
    if (at <= now || this.#inputs * enoughShare >= this.#underWay()) return this.#atEndOfTurn();
    this.#cancelPause ??= this.#clock.at(at, () => this.#atEndOfTurn());
  }

  /** Runs the write of a commit and measures how long it took. */
  measure<T>(write: () => T): T {
    const from = this.#clock.now();
    const result = write();
    this.#endedAt = this.#clock.now();
    this.#tookMs += (this.#endedAt - from - this.#tookMs) / 8;
    return result;
  }

  /** Cancels the planned commit and plans no more. */
  end(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
  }

  #atEndOfTurn(): void {
    this.end();
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#inputs = 0;
      this.#commit();
    });
  }
}
