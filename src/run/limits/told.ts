import type { ToldLimit } from '../../service/http/told.ts';

type Amounts = Readonly<Record<ToldLimit['of'], number>>;

/** A request that left. */
export interface LeftRequest {
  readonly at: number;
  readonly tokens: number;
  /** All that had left by then, with it. */
  readonly left: Amounts;
  /** It was under way alone, and what was told left room for it. */
  readonly isPromised: boolean;
}

/** The newest that was told of one limit. */
interface Word extends Required<ToldLimit> {
  readonly by: LeftRequest;
  readonly resetAt: number;
  /** Bounds of the window: the longest reset, and the least that all of the limit would have taken. */
  readonly leastMs: number;
  readonly maxMs: number;
  readonly windowMs: number;
  /** Nobody else draws on the limit. */
  readonly isOurs: boolean;
  /** The part of what our own requests were thought to take that the service has counted: it may count input, or output, alone. */
  readonly counted: number;
}

const minute = 60_000;
/** A service that tells more different limits than that passes on those of others. */
const maxForms = 8;
/** Requests that leave within this part of a window count as one. */
const grain = 1 / 2048;
/** A limit of which less is accounted for by our own requests is shared. */
const ourPart = 0.9;

/** Room for a request of so many tokens, however a service counts these. */
const ample = ({ of, limit }: Required<ToldLimit>, tokens: number): number =>
  of === 'tokens' ? Math.max(2 * tokens, limit / 10) : 1;

const isWhole = (told: ToldLimit): told is Required<ToldLimit> =>
  (told.limit ?? 0) > 0 && told.remaining !== undefined && told.resetMs !== undefined;

/**
 * When requests may leave by what the service tells of its limits. Until the reset no more leave than remain; behind it, no more in a
 * window than the limit allows, or one at a time where others draw on it too; of calls with tokens one may always leave alone. What does
 * not come true is not believed for ten minutes.
 */
export class ToldPace {
  #words = new Map<string, Word>();
  #forms = new Set<string>();
  /** Requests that left, with what had left before each. */
  #log: { readonly at: number; readonly before: Amounts }[] = [];
  #left: Amounts = { requests: 0, tokens: 0 };
  #underWay = 0;
  #newest = 0;
  #ignoredUntil = Number.NEGATIVE_INFINITY;

  /** True where a limit is told, and believed. */
  get isTold(): boolean {
    return this.#words.size > 0;
  }

  /** When a request that takes so many tokens may leave. `now`: at once; Infinity: a reply that is to come says it. */
  nextAt(now: number, tokens = 0): number {
    return Math.max(now, ...[...this.#words.values()].map((word) => this.#roomAt(word, now, tokens)));
  }

  /** A request leaves. It is to be handed to `onReply` once, whatever becomes of it. */
  take(now: number, tokens = 0): LeftRequest {
    const words = [...this.#words.values()];
    const isAlone = this.#underWay === 0 && words.length > 0;
    const isPromised = isAlone && words.every((word) => this.#isPromised(word, now, tokens));
    const longestMs = Math.max(minute, ...words.map(({ windowMs }) => windowMs));
    while ((this.#log[0]?.at ?? now) < now - 2 * longestMs) this.#log.shift();
    const isSoon = now - (this.#log.at(-2)?.at ?? Number.NEGATIVE_INFINITY) < grain * longestMs;
    const before = isSoon ? this.#log.pop()?.before : undefined;
    this.#log.push({ at: now, before: before ?? this.#left });
    this.#left = { requests: this.#left.requests + 1, tokens: this.#left.tokens + tokens };
    this.#underWay += 1;
    return { at: now, tokens, left: this.#left, isPromised };
  }

  /** A reply has come, or none will. `told`: what it tells. */
  onReply(by: LeftRequest, told: readonly ToldLimit[], isThrottled: boolean, now: number): void {
    this.#underWay -= 1;
    if (now < this.#ignoredUntil) return;
    const whole = told.filter(isWhole);
    const hasRoom = told.every((one) =>
      isWhole(one) ? one.remaining >= ample(one, by.tokens) : one.remaining !== 0,
    );
    if (isThrottled && (by.isPromised || (whole.length > 0 && hasRoom))) return this.#ignore(now);
    if (whole.length === 0 || by.left.requests <= this.#newest) return;
    this.#newest = by.left.requests;
    for (const one of whole) {
      // Counted among all that is told: a limit without a reset keeps its place.
      const slot = `${one.of} ${told.slice(0, told.indexOf(one)).filter(({ of }) => of === one.of).length}`;
      const known = this.#words.get(slot);
      const was = known?.limit === one.limit ? known : undefined;
      const form = `${slot} ${one.limit}`;
      const isForeign = this.#forms.has(form) || this.#forms.size >= maxForms;
      if (was === undefined ? isForeign : this.#rises(was, one, now)) return this.#ignore(now);
      this.#forms.add(form);
      const leastMs = Math.max(was?.leastMs ?? 0, one.resetMs);
      const allMs = (one.resetMs * one.limit) / (one.limit - one.remaining);
      const maxMs = Math.min(was?.maxMs ?? Infinity, Number.isFinite(allMs) ? allMs : Infinity);
      const windowMs = Math.max(leastMs, maxMs === Infinity ? 0 : maxMs);
      const inWindow = this.#log.findIndex(({ at: left }) => left > by.at - windowMs);
      const ownFrom = (index: number): number =>
        by.left[one.of] - ((inWindow >= 0 && this.#log[index]?.before) || by.left)[one.of];
      const own = ownFrom(inWindow);
      // Some of the oldest entry may have left before the window: it is not taken for uncounted.
      const least = Math.max(1, ownFrom(inWindow + 1));
      const isOurs = own + one.remaining >= ourPart * one.limit;
      const counted = one.of === 'tokens' ? Math.min(1, (one.limit - one.remaining) / least) : 1;
      const resetAt = by.at + one.resetMs;
      this.#words.set(slot, { ...one, by, resetAt, leastMs, maxMs, windowMs, isOurs, counted });
    }
  }

  #roomAt(
    { of, limit, remaining, resetAt, by, windowMs, isOurs, counted }: Word,
    now: number,
    tokens: number,
  ): number {
    const need = Math.min(limit, of === 'tokens' ? tokens : 1);
    const fits = this.#left[of] - by.left[of] + need <= remaining;
    if (now < resetAt) return fits ? now : resetAt;
    const isAsking = this.#underWay > 0 && (this.#log.at(-1)?.at ?? now) >= resetAt;
    if (!isOurs) return isAsking && !fits ? Number.POSITIVE_INFINITY : now;
    // A call that is thought to take more than there ever is, for one, would wait for all that left before it.
    if (of === 'tokens' && this.#underWay === 0) return now;
    const since = (before: number): number =>
      this.#left[of] - Math.max(before, by.left[of]) + counted * Math.max(0, by.left[of] - before);
    const full = this.#log.findLast(({ before }) => since(before[of]) + need > limit);
    return (full?.at ?? Number.NEGATIVE_INFINITY) + windowMs;
  }

  /** True where there is room, whatever others may have asked since: at most as much as the limit allows in that time. */
  #isPromised(word: Word, now: number, tokens: number): boolean {
    const { of, limit, remaining, resetAt, resetMs, by } = word;
    const others = limit * (0.1 + (now - by.at) / Math.max(1, resetMs));
    const need = ample(word, tokens) + others;
    return now < resetAt && this.#left[of] - by.left[of] + need <= remaining;
  }

  /** True where more remains than the time since has brought back. Seconds are rounded. */
  #rises({ remaining, limit, resetMs, by }: Word, one: Required<ToldLimit>, now: number): boolean {
    const back = ((limit - remaining) * (now - by.at + 1000)) / Math.max(1, resetMs);
    const most = remaining + back + 1 + limit / 10 + this.#underWay;
    return one.of === 'requests' && one.remaining > most;
  }

  #ignore(now: number): void {
    this.#ignoredUntil = now + 10 * minute;
    this.#words.clear();
    this.#forms.clear();
  }
}
