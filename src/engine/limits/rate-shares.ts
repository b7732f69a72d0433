import type { Rate } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../run/clock.ts';
import { SendQueue } from '../../run/effects/route-gate.ts';
import { type Charged, WindowCharge, windowMsOf } from '../../run/limits/window-charge.ts';
import type { OnDeparture, SendTimes, TokenSendTimes } from '../../run/ports.ts';
import { Share, type ShareAsk } from './share.ts';

/** How long before its send time a request is decided, ms: its intent becomes durable in between. */
const leadMs = 50;
/** Interval of checks while more may soon be granted, ms. */
const againMs = 100;
/** Time after which a decided request that did not pass never will, ms. */
const decidedMs = 10_000;
/** Smallest distance between requests: a share of their even distance, and at most this time, ms. */
const [spacedBy, longestSpaceMs] = [0.7, 1000];
/** Period of the reported number of recent sends, ms. */
const latelyMs = 10_000;

/** A worker's share of a rate: an amount within any window. An amount that has left the window may be used again. */
abstract class WindowShare extends Share {
  protected readonly clock: Clock;
  protected readonly charge: WindowCharge;
  readonly #wake: () => void;
  /** Number of requests that passed and were not sent yet: they will be used, and do not count yet. */
  protected passed = 0;
  #isShort = false;
  /** True where the last heartbeat asked for something. */
  #wanted = false;

  /** @param rate absent: no limit @param wake makes the next heartbeat come soon */
  constructor(rate: Rate | undefined, clock: Clock, wake: () => void) {
    const windowMs = rate === undefined ? 0 : windowMsOf(rate);
    super(rate?.count, windowMs);
    this.clock = clock;
    this.charge = new WindowCharge(windowMs);
    this.#wake = wake;
  }

  /** Returns when this much more may be used; infinity where that is unknown. */
  protected freeAt(now: number, need: number): number {
    const most = this.cap(now) - this.passed - need;
    const at = most < 0 ? Number.POSITIVE_INFINITY : this.charge.downTo(most, now);
    if (at > now + leadMs) {
      const isFirst = !this.#isShort && !this.#wanted && most < 0;
      this.#isShort = true;
      if (isFirst) this.#wake();
    }
    return at;
  }

  protected used(now: number): number {
    return this.charge.at(now) + this.passed;
  }

  protected wish(_now: number, _holds: number, peak: number): number {
    const want = this.#isShort ? Number.POSITIVE_INFINITY : peak === 0 ? 0 : peak + this.unit;
    if (!this.#isShort) this.unit = 1;
    this.#isShort = false;
    this.#wanted = want > 0;
    return want;
  }
}

/** What a worker reports about a route, with its request for a share where there is a limit. */
interface RouteAsk extends Partial<ShareAsk> {
  /** Requests per minute, over the last seconds. */
  readonly perMinute: number;
  /** How long this worker pauses its requests, ms. */
  readonly pausedMs: number;
}

/** A worker's share of the request rate of one route. */
export class RouteShare extends WindowShare implements SendTimes {
  /** When requests were decided that have not passed yet. */
  #decided: number[] = [];
  readonly #queue: SendQueue<OnDeparture>;
  readonly #lately = new WindowCharge(latelyMs);
  #spacedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(rate: Rate | undefined, clock: Clock, wake: () => void) {
    super(rate, clock, wake);
    const nextAt = (now: number): number => Math.min(this.freeAt(now, 1), now + againMs);
    this.#queue = new SendQueue(clock, nextAt, (now) => this.#depart(now));
  }

  nextAt(): number {
    if (this.limit === undefined) return Number.NEGATIVE_INFINITY;
    const now = this.clock.now();
    this.#decided = this.#decided.filter((at) => now - at < decidedMs);
    const at = this.freeAt(now, 1 + this.#decided.length + this.#queue.size);
    // More may be granted before that.
    const soon = this.cap(now) < this.limit || at === Number.POSITIVE_INFINITY;
    return Math.max(soon ? Math.min(at, now + leadMs + againMs) : at, this.#spacedAt) - leadMs;
  }

  take(now: number): void {
    if (this.limit === undefined) return;
    this.#decided.push(now);
    const even = (spacedBy * this.charge.windowMs) / Math.max(1, this.part.fair);
    this.#spacedAt = Math.max(this.#spacedAt, now) + Math.min(longestSpaceMs, even);
  }

  pass(signal: AbortSignal): OnDeparture | Promise<OnDeparture | undefined> {
    this.#decided.shift();
    return this.limit === undefined ? this.#depart(this.clock.now()) : this.#queue.pass(signal);
  }

  /** Pauses this worker's requests: shown to users who watch the run. Other workers find out for themselves. */
  pause(untilMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, untilMs);
  }

  override ask(now: number): RouteAsk {
    const perMinute = (60_000 / latelyMs) * this.#lately.at(now);
    return { ...super.ask(now), perMinute, pausedMs: Math.max(0, this.#pausedUntil - now) };
  }

  /** Notes that more may be granted than before. */
  onMore(): void {
    this.#queue.next();
  }

  #depart(passedAt: number): OnDeparture {
    this.passed += 1;
    this.notePeak(passedAt);
    let isWaiting = true;
    return (hasLeft) => {
      const now = this.clock.now();
      // A request whose API key was refused is sent again.
      if (isWaiting) this.passed -= 1;
      isWaiting = false;
      if (hasLeft) {
        this.#lately.add(now, 1);
        if (this.limit !== undefined) this.charge.add(now, 1);
      }
      this.onMore();
    };
  }
}

/** A worker's share of the token rate of text calls. */
export class TokenShare extends WindowShare implements TokenSendTimes {
  readonly #reserved = new Map<string, { readonly charged: Charged; readonly tokens: number }>();

  nextAt(tokens: number): number {
    const { limit } = this;
    if (limit === undefined) return Number.NEGATIVE_INFINITY;
    const now = this.clock.now();
    const need = Math.min(limit, Math.max(1, tokens));
    this.unit = Math.max(this.unit, need);
    return Math.min(this.freeAt(now, need), now + againMs);
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
}
