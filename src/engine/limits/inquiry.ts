import type { Clock } from '../../run/clock.ts';

/** What the limits need of the database. */
export interface Database {
  query(text: string, values: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** Since when the database gives no answer, and why. */
export interface Away {
  readonly since: number;
  readonly error: unknown;
}

/** How soon a question without an answer is repeated, ms. */
const againMs = 500;

/**
 * Asks the database the same question again and again, one at a time, in the background. A failed question is no failure of its user: it
 * is asked again, and until then the user has what the last answer gave.
 */
export class Inquiry {
  readonly #clock: Clock;
  readonly #ask: () => Promise<number | undefined>;
  readonly #leastMs: number;
  #cancel: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #isWoken = false;
  #isOver = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #away: Away | undefined;

  /**
   * @param ask asks once; returns the milliseconds until it is to be asked again, undefined: when it is woken
   * @param leastMs between two questions
   */
  constructor(clock: Clock, ask: () => Promise<number | undefined>, leastMs: number) {
    this.#clock = clock;
    this.#ask = ask;
    this.#leastMs = leastMs;
  }

  /** Undefined while the database answers. */
  get away(): Away | undefined {
    return this.#away;
  }

  /** When the last answered question left. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** The question under way was answered: told before what the answer means is used. */
  onAnswered(): void {
    this.#away = undefined;
    this.#answeredAt = this.#askedAt;
  }

  /** Asks soon. */
  wake(): void {
    this.#isWoken = true;
    if (this.#asking === undefined && this.#away === undefined) this.#askIn(0);
  }

  /** Asks no more. Resolves once no question is under way. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    await this.#asking;
  }

  #askIn(ms: number): void {
    if (this.#isOver) return;
    this.#cancel?.();
    const now = this.#clock.now();
    // The clock may have been set back since.
    const at = Math.max(now + ms, Math.min(this.#askedAt, now) + this.#leastMs);
    this.#cancel = this.#clock.at(at, () => {
      this.#cancel = undefined;
      this.#asking = this.#askOnce();
    });
  }

  async #askOnce(): Promise<void> {
    this.#isWoken = false;
    const now = this.#clock.now();
    this.#askedAt = now;
    let next: number | undefined;
    try {
      next = await this.#ask();
    } catch (error) {
      this.#away ??= { since: now, error };
      next = againMs;
    }
    this.#asking = undefined;
    if (this.#isWoken && this.#away === undefined) next = 0;
    if (next !== undefined) this.#askIn(next);
  }
}
