import type { Clock } from '../clock.ts';

/** Shares of the time: what commits may take of it is one part of `pauseFactor + 1` while much is under way. */
const pauseFactor = 3;

/** The longest that a decision waits for others to be made durable with, in ms. */
export const longestPauseMs = 8;

/** Of the requests under way, one in so many is enough company. */
const enoughShare = 4;

/**
 * When the decisions of a run are made durable: in one commit for all that happens in a turn of the event loop, and for a little longer
 * where commits come so thick that writing them would take most of the time. A decision then waits for company: for a quarter of
 * what is under way, for three times as long as commits take, or for {@link longestPauseMs}, whichever comes first. With little
 * under way, or with time between commits, nothing waits.
 */
export class CommitTurn {
  readonly #clock: Clock;
  readonly #commit: () => void;
  readonly #underWay: () => number;
  #isDue = false;
  #cancelPause: (() => void) | undefined;
  /** Inputs since the last commit. */
  #inputs = 0;
  /** How long a commit holds up the process, in ms: a moving mean. What a store does in its promise is no part of it. */
  #tookMs = 0;
  #endedAt = Number.NEGATIVE_INFINITY;

  /** @param underWay how many requests have been sent and not been answered */
  constructor(clock: Clock, commit: () => void, underWay: () => number) {
    this.#clock = clock;
    this.#commit = commit;
    this.#underWay = underWay;
  }

  /** Something was decided, on an input: a commit follows. */
  onInput(): void {
    this.#inputs += 1;
    this.soon();
  }

  /** A commit follows. */
  soon(): void {
    if (this.#isDue) return;
    const now = this.#clock.now();
    const at = this.#endedAt + Math.min(longestPauseMs, pauseFactor * this.#tookMs);
    if (at <= now || this.#inputs * enoughShare >= this.#underWay()) return this.#atEndOfTurn();
    this.#cancelPause ??= this.#clock.at(at, () => this.#atEndOfTurn());
  }

  /** Does the write of a commit, and notes how long it took. */
  measure<T>(write: () => T): T {
    const from = this.#clock.now();
    const result = write();
    this.#endedAt = this.#clock.now();
    this.#tookMs += (this.#endedAt - from - this.#tookMs) / 8;
    return result;
  }

  /** Nothing more is made durable in turns. */
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
