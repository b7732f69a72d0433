import type { Rate } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../run/clock.ts';
import { graceMs } from '../../run/limits/even-moments.ts';
import type { Moments, OnDeparture, TokenMoments } from '../../run/ports.ts';
import { Share, type ShareAsk } from './share.ts';
import { type Charged, WindowCharge } from './window-charge.ts';

/** So much sooner than it may leave a request is decided, ms: its intent is made durable in between. */
const leadMs = 50;
/** While there may soon be more, a worker looks again so often, ms. */
const againMs = 100;
/** A decided request that does not pass for so long never will, ms. */
const decidedMs = 10_000;
/** Requests follow one another at this part of their even distance at least, and at most this time, ms. */
const [spacedBy, longestSpaceMs] = [0.7, 1000];
/** What was sent counts for less the longer ago it was, ms. */
const memoryMs = 10_000;

/** A part of a rate: so much within any window. What has left the window may be used again. */
abstract class WindowShare extends Share {
  protected readonly clock: Clock;
  protected readonly charge: WindowCharge;
  readonly #wake: () => void;
  /** The least that is of use. */
  protected unit = 1;
  #peak = 0;
  #isShort = false;
  /** It wanted something when it asked last. */
  #wanted = false;

  /** @param rate absent: there is no limit @param wake asks the engine soon */
  constructor(rate: Rate | undefined, clock: Clock, wake: () => void) {
    // The ways of two requests to the service are not equally long.
    const windowMs = rate === undefined ? 0 : rate.perMs + graceMs(rate) / 2;
    super(rate?.count, windowMs);
    this.clock = clock;
    this.charge = new WindowCharge(windowMs);
    this.#wake = wake;
  }

  /** What is sure to be used, and not charged yet. */
  protected abstract readonly ahead: number;

  /** When so much more may be used; undefined: nobody knows yet. */
  protected freeAt(now: number, need: number): number | undefined {
    const most = this.cap(now) - this.ahead - need;
    const at = most < 0 ? Number.POSITIVE_INFINITY : this.charge.downTo(most, now);
    if (at > now + leadMs) {
      const isFirst = !this.#isShort && !this.#wanted && most < 0;
      this.#isShort = true;
      if (isFirst) this.#wake();
    }
    return at === Number.POSITIVE_INFINITY ? undefined : at;
  }

  protected notePeak(now: number): void {
    this.#peak = Math.max(this.#peak, this.used(now));
  }

  protected wish(now: number): { readonly want: number; readonly unit: number } {
    const { unit } = this;
    const peak = Math.max(this.#peak, this.used(now));
    const want = this.#isShort ? Number.POSITIVE_INFINITY : peak === 0 ? 0 : peak + unit;
    if (!this.#isShort) this.unit = 1;
    this.#peak = 0;
    this.#isShort = false;
    this.#wanted = want > 0;
    return { want, unit };
  }
}

/** What a worker tells of a route beside its part of the limit. */
export interface RouteAsk extends ShareAsk {
  /** Requests a minute, over the last seconds. */
  readonly perMinute: number;
  /** How long the requests of this worker rest, ms. */
  readonly pausedMs: number;
}

/** Requests of one route. */
export class RouteShare extends WindowShare implements Moments {
  /** When requests were decided that have not passed. */
  #decided: number[] = [];
  /** Requests that have passed and not left. */
  #passed = 0;
  #spacedAt = Number.NEGATIVE_INFINITY;
  readonly #waiting = new Set<() => void>();
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #perMs = 0;
  #sentAt = 0;

  nextAt(): number {
    if (this.limit === undefined) return Number.NEGATIVE_INFINITY;
    const now = this.clock.now();
    this.#decided = this.#decided.filter((at) => now - at < decidedMs);
    const soon = now + leadMs + againMs;
    const at = this.freeAt(now, 1 + this.#decided.length) ?? soon;
    // There may be more before that.
    return Math.max(this.cap(now) < this.limit ? Math.min(at, soon) : at, this.#spacedAt) - leadMs;
  }

  take(now: number): void {
    if (this.limit === undefined) return;
    this.#decided.push(now);
    const even = (spacedBy * this.charge.windowMs) / Math.max(1, this.fair);
    this.#spacedAt = Math.max(this.#spacedAt, now) + Math.min(longestSpaceMs, even);
  }

  pass(signal: AbortSignal): OnDeparture | Promise<OnDeparture | undefined> {
    if (this.limit === undefined || (this.#waiting.size === 0 && this.#mayPass)) return this.#depart();
    return new Promise((resolve) => {
      let cancel: (() => void) | undefined;
      const end = (departure?: OnDeparture): void => {
        cancel?.();
        this.#waiting.delete(look);
        signal.removeEventListener('abort', onAbort);
        resolve(departure);
      };
      const look = (): void => {
        cancel?.();
        if (this.#mayPass) return end(this.#depart());
        const now = this.clock.now();
        const soon = now + againMs;
        cancel = this.clock.at(Math.min(this.freeAt(now, 1) ?? soon, soon), look);
      };
      const onAbort = (): void => {
        this.#decided.shift();
        end();
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(look);
      look();
    });
  }

  /** The requests of this worker rest: whoever looks at the run is told so, the other workers find out for themselves. */
  pause(untilMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, untilMs);
  }

  override ask(now: number): RouteAsk {
    const perMinute = Math.round(600_000 * this.#perMsAt(now)) / 10;
    return { ...super.ask(now), perMinute, pausedMs: Math.max(0, this.#pausedUntil - now) };
  }

  /** There may be more than before. */
  onMore(): void {
    for (const look of this.#waiting) look();
  }

  protected get ahead(): number {
    return this.#passed;
  }

  protected used(now: number): number {
    return this.charge.at(now) + this.#passed;
  }

  get #mayPass(): boolean {
    const now = this.clock.now();
    return (this.freeAt(now, 1) ?? Number.POSITIVE_INFINITY) <= now;
  }

  #perMsAt(now: number): number {
    return this.#perMs * Math.exp(-Math.max(0, now - this.#sentAt) / memoryMs);
  }

  #depart(): OnDeparture {
    this.#decided.shift();
    this.#passed += 1;
    this.notePeak(this.clock.now());
    return (hasLeft) => {
      const now = this.clock.now();
      this.#passed -= 1;
      if (hasLeft) {
        this.#perMs = this.#perMsAt(now) + 1 / memoryMs;
        this.#sentAt = now;
        if (this.limit !== undefined) this.charge.add(now, 1);
      }
      this.onMore();
    };
  }
}

/** Tokens of text calls. */
export class TokenShare extends WindowShare implements TokenMoments {
  readonly #reserved = new Map<string, { readonly charged: Charged; readonly tokens: number }>();
  protected readonly ahead = 0;

  nextAt(tokens: number): number {
    const { limit } = this;
    if (limit === undefined) return Number.NEGATIVE_INFINITY;
    const now = this.clock.now();
    const need = Math.min(limit, Math.max(1, tokens));
    this.unit = Math.max(this.unit, need);
    const at = this.freeAt(now, need);
    return at !== undefined && at <= now ? at : Math.min(at ?? Number.POSITIVE_INFINITY, now + againMs);
  }

  take(key: string, tokens: number, now: number): void {
    if (this.limit === undefined) return;
    this.#reserved.set(key, { charged: this.charge.add(now, tokens), tokens });
    this.notePeak(now);
  }

  settle(key: string, tokens: number | undefined): void {
    const reserved = this.#reserved.get(key);
    this.#reserved.delete(key);
    if (reserved !== undefined && tokens !== undefined)
      this.charge.change(reserved.charged, tokens - reserved.tokens);
  }

  protected used(now: number): number {
    return this.charge.at(now);
  }
}
