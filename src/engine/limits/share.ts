import type { Grants, Needs } from './run-allowance.ts';

/** What was granted counts for so long after the question, ms: later it is another's. */
const validMs = 5000;

/** What one worker says of its part of a limit. */
export interface ShareAsk {
  readonly limit: number;
  /** The most that it uses until it has the answer. */
  readonly holds: number;
  readonly used: number;
  /** How much it would use until it asks again; 0: nothing. */
  readonly want: number;
  /** The least that is of use to it: 1, or the tokens of its next call; 0: it leaves. */
  readonly unit: number;
  /** For so long what was used is charged, ms; 0: while it is in use. */
  readonly window: number;
}

/** A worker's part of a limit. */
export interface SharePart {
  /** How much it may use. */
  readonly granted: number;
  /** How much is fair for it: what it has beyond that goes back when it is not in use. */
  readonly fair: number;
}

/** Parts of a worker by kind of limit, and what it was given of what its run may spend, where it asked for that. */
export interface SharesAnswer {
  readonly shares: Readonly<Record<string, SharePart>>;
  readonly spending: Grants | null;
}

/** The heartbeat of a worker's session. */
export interface Heartbeat {
  readonly session: number;
  /**
   * Shows that it is there, and says what it wants of the limits.
   *
   * @param ask the service whose limits these are, what it wants of each, and of what its run may spend: without needs what it was given stays
   * @returns undefined where the session is over, or the engine has an older state than it had
   * @throws EngineError
   */
  beat(ask?: {
    readonly service: string;
    readonly kinds: Readonly<Record<string, unknown>>;
    readonly needs?: Needs | undefined;
  }): Promise<SharesAnswer | undefined>;
}

/**
 * This worker's part of a limit that all workers of a service share. Of a rate it is so much within any window, of tasks so much at once: as
 * the parts together are never above the limit, neither is what all use, whatever their clocks show and however late their requests leave.
 */
export abstract class Share {
  protected readonly limit: number | undefined;
  readonly #windowMs: number;
  /** As it was answered last. */
  protected part: SharePart = { granted: 0, fair: 0 };
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isLeaving = false;
  #peak = 0;
  /** The least that is of use. */
  protected unit = 1;

  /** @param windowMs 0: what is used is charged while it is in use */
  constructor(limit: number | undefined, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  /** How much is in use, or charged. */
  protected abstract used(now: number): number;
  /** How much it would use until it asks again, having so much, of which it has used so much at once since it asked last. Asked once a question. */
  protected abstract wish(now: number, holds: number, peak: number): number;

  /** How much may be in use. */
  cap(now: number): number {
    const { granted, fair } = this.part;
    return now - this.#answeredAt > validMs ? 0 : Math.min(granted, Math.max(fair, this.used(now)));
  }

  /** More is in use than before. */
  protected notePeak(now: number): void {
    this.#peak = Math.max(this.#peak, this.used(now));
  }

  /** Nothing more is wanted. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Empty: there is no limit. */
  ask(now: number): Partial<ShareAsk> {
    const { limit } = this;
    if (limit === undefined) return {};
    const used = this.used(now);
    const has = this.#isLeaving ? 0 : this.cap(now);
    const unit = this.#isLeaving ? 0 : this.unit;
    this.notePeak(now);
    const want = this.#isLeaving ? 0 : this.wish(now, has, this.#peak);
    this.#peak = used;
    // Until the answer is there no more than this is used: others may be given the rest.
    const holds = Math.max(used, has);
    this.part = { ...this.part, granted: holds };
    return { limit, holds, used, want: Math.min(limit, Math.max(want, used)), unit, window: this.#windowMs };
  }

  /** @param at when the question left @returns whether there is more than before */
  onAnswer(at: number, part: SharePart): boolean {
    const isMore = part.granted > this.part.granted;
    this.#answeredAt = at;
    this.part = part;
    return isMore;
  }
}
