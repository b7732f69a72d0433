import { fairShare, type Member } from './divide.ts';
import type { Grants, Needs } from './run-allowance.ts';

/** What was granted counts for so long after the question, ms: later it is another's. */
const validMs = 5000;

/** What one worker says of its part of a limit. */
export interface ShareAsk {
  /** Null: there is none, and only what is sent is told. */
  readonly limit: number | null;
  /** The most that it uses until it has the answer. */
  readonly holds: number;
  readonly used: number;
  readonly want: number;
  readonly unit: number;
  /** What is fair for it, as far as it knows the others. */
  readonly target: number;
  /** For so long what was used is charged, ms. */
  readonly window: number;
}

/** What the service's workers have of one limit, as the engine answers. */
export interface ShareRow extends Pick<ShareAsk, 'used' | 'want' | 'unit'> {
  readonly id: string;
  readonly granted: number;
  readonly forMs: number;
  /** It was not heard of for some seconds: it has what it has, and gets no part. */
  readonly isSilent: boolean;
}

/** What a worker wants of each limit, by kind, and the service whose limits these are. */
export interface SharesAsk {
  readonly service: string;
  readonly kinds: Readonly<Record<string, unknown>>;
  /** What it wants of what its run may spend; absent: what it was given stays. */
  readonly needs?: Needs;
}

/** What a worker of the service has of each limit. */
export interface SharesRow {
  readonly session: number;
  /** How long ago it was heard of, ms. */
  readonly age: number;
  readonly shares: Readonly<Record<string, unknown>>;
  /** By the engine's clock, Unix ms. */
  readonly now: number;
  /** Of who asked for it: what it was given of what its run may spend. */
  readonly spending: Grants | null;
}

/** The heartbeat of a worker's session. */
export interface Heartbeat {
  readonly session: number;
  /**
   * Shows that it is there, and says what it wants of the limits.
   *
   * @returns what all workers of the service have of them; empty where the session is over, or the engine has an older state than it had
   * @throws EngineError
   */
  beat(ask?: SharesAsk): Promise<readonly SharesRow[]>;
}

/**
 * This worker's part of a limit that all workers of a service share. Of a rate it is so much within any window, of tasks so much at once: as
 * the parts together are never above the limit, neither is what all use, whatever their clocks show and however late their requests leave.
 */
export abstract class Share {
  protected readonly limit: number | undefined;
  readonly #windowMs: number;
  #others: readonly ShareRow[] | undefined;
  #granted = 0;
  /** As the engine knows it. */
  #own: ShareRow | undefined;
  /** What was fair when it asked last: what it has beyond that goes back when it is not in use. */
  #fair = 0;
  #askedAt = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** How much more may be asked for: so much as has left the window since, if all was used evenly. */
  #credit = 0;
  #isLeaving = false;

  /** @param windowMs 0: what is used is charged while it is in use */
  constructor(limit: number | undefined, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  /** How much is in use, or charged. */
  protected abstract used(now: number): number;
  /** How much it would use until it asks again, having so much, and the least that is of use. Asked once a question. */
  protected abstract wish(now: number, holds: number): { readonly want: number; readonly unit: number };

  /** How much may be in use. */
  cap(now: number): number {
    if (now - this.#answeredAt > validMs) return 0;
    return Math.min(this.#granted, Math.max(this.#fair, this.used(now)));
  }

  /** The part that is fair, as it was when it asked last. */
  protected get fair(): number {
    return this.#fair;
  }

  /** True once the engine has answered. */
  get isKnown(): boolean {
    return this.#answeredAt > Number.NEGATIVE_INFINITY;
  }

  /** Nothing more is wanted. */
  leave(): void {
    this.#isLeaving = true;
  }

  ask(now: number): ShareAsk {
    const { limit } = this;
    const used = this.used(now);
    const has = this.cap(now);
    const { want, unit } = this.wish(now, has);
    const window = this.#windowMs;
    if (limit === undefined) return { limit: null, holds: 0, used: 0, want: 0, unit: 1, target: 0, window };
    const { id = '', granted = 0, forMs = 0 } = this.#own ?? {};
    const wants = Math.min(limit, Math.max(this.#isLeaving ? 0 : want, used));
    const own: Member = { id, want: wants, unit, granted, forMs };
    // Whoever does not know the others yet takes nothing.
    this.#fair = this.#others === undefined || this.#isLeaving ? 0 : fairOf(limit, this.#others, own);
    this.#credit += window > 0 ? (this.#fair * (now - this.#askedAt)) / window : limit;
    this.#credit = Math.min(this.#credit, Math.max(2, this.#fair));
    this.#askedAt = now;
    const more = Math.max(has < unit ? unit : 0, Math.floor(this.#credit));
    const target = Math.min(this.#fair, has + more);
    const holds = Math.max(used, Math.min(has, this.#fair));
    // Until the answer is there no more than this is used: others may be given the rest.
    this.#granted = holds;
    return { limit, holds, used, want: own.want, unit, target, window };
  }

  /** @param at when the question left @returns whether there is more than before */
  onAnswer(at: number, own: ShareRow, others: readonly ShareRow[]): boolean {
    const isMore = own.granted > this.#granted;
    if (isMore) this.#credit = Math.max(0, this.#credit - (own.granted - this.#granted));
    this.#answeredAt = at;
    this.#granted = own.granted;
    this.#own = own;
    this.#others = others;
    return isMore;
  }
}

function fairOf(limit: number, others: readonly ShareRow[], own: Member): number {
  const taken = others.reduce(
    (sum, { isSilent, granted, used }) => sum + (isSilent ? Math.max(granted, used) : 0),
    0,
  );
  const members = others.filter(({ isSilent }) => !isSilent);
  return fairShare(Math.max(0, limit - taken), [...members, own], own.id);
}
