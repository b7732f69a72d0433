import type { Grants, Needs } from './run-allowance.ts';

/** How long a grant counts after the heartbeat that asked for it, ms: later it belongs to another worker. */
const validMs = 5000;

/** What one worker says about its share of a limit. */
export interface ShareAsk {
  readonly limit: number;
  /** Most that the worker uses until it has the answer. */
  readonly holds: number;
  readonly used: number;
  /** Amount that the worker would use until it asks again; 0: nothing. */
  readonly want: number;
  /** Smallest useful amount: 1, or the tokens of the next call; 0 where the worker leaves. */
  readonly unit: number;
  /** How long a used amount counts, ms; 0: while it is in use. */
  readonly window: number;
}

/** A worker's share of a limit. */
export interface SharePart {
  /** Amount that the worker may use. */
  readonly granted: number;
  /** Fair share of the worker: an unused amount beyond it goes back. */
  readonly fair: number;
}

/** Shares of a worker by kind of limit, and its grant of the run's spending where it asked for one. */
export interface SharesAnswer {
  readonly shares: Readonly<Record<string, SharePart>>;
  readonly spending: Grants | null;
}

/** Sends the heartbeat of a worker's session. */
export interface Heartbeat {
  readonly session: number;
  /**
   * Sends a heartbeat, and asks for shares of the limits.
   *
   * @param ask the service whose limits these are, the shares asked for, and the spending asked for: without needs the grant stays
   * @returns undefined where the session is over, or the engine has an older state than before
   * @throws EngineError
   */
  beat(ask?: {
    readonly service: string;
    readonly kinds: Readonly<Record<string, unknown>>;
    readonly needs?: Needs | undefined;
  }): Promise<SharesAnswer | undefined>;
}

/**
 * This worker's share of a limit that all workers of a service share. For a rate it is an amount within any window, for tasks a number at a
 * time. The shares together never exceed the limit, so neither does their use, whatever the clocks show and however late requests are sent.
 */
export abstract class Share {
  protected readonly limit: number | undefined;
  readonly #windowMs: number;
  /** The share in the last answer. */
  protected part: SharePart = { granted: 0, fair: 0 };
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isLeaving = false;
  #peak = 0;
  /** Smallest useful amount. */
  protected unit = 1;

  /** @param windowMs 0: an amount counts while it is in use */
  constructor(limit: number | undefined, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  /** Returns the amount in use, or still counted. */
  protected abstract used(now: number): number;
  /** Returns the amount wanted until the next heartbeat; called once per heartbeat. @param peak most in use at once since the last */
  protected abstract wish(now: number, holds: number, peak: number): number;

  /** Returns the most that may be in use. */
  cap(now: number): number {
    const { granted, fair } = this.part;
    return now - this.#answeredAt > validMs ? 0 : Math.min(granted, Math.max(fair, this.used(now)));
  }

  /** Notes that more is in use than before. */
  protected notePeak(now: number): void {
    this.#peak = Math.max(this.#peak, this.used(now));
  }

  /** Stops asking for more. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Returns what the next heartbeat asks for; empty where there is no limit. */
  ask(now: number): Partial<ShareAsk> {
    const { limit } = this;
    if (limit === undefined) return {};
    const used = this.used(now);
    const has = this.#isLeaving ? 0 : this.cap(now);
    const unit = this.#isLeaving ? 0 : this.unit;
    this.notePeak(now);
    const want = this.#isLeaving ? 0 : this.wish(now, has, this.#peak);
    this.#peak = used;
    // Until the answer arrives no more than this is used: others may be granted the rest.
    const holds = Math.max(used, has);
    this.part = { ...this.part, granted: holds };
    return { limit, holds, used, want: Math.min(limit, Math.max(want, used)), unit, window: this.#windowMs };
  }

  /** Applies an answer. @param at when its heartbeat was sent @returns whether more is granted than before */
  onAnswer(at: number, part: SharePart): boolean {
    const isMore = part.granted > this.part.granted;
    this.#answeredAt = at;
    this.part = part;
    return isMore;
  }
}
