import type { Explanation } from './refusals.ts';

/** A window is known once so many times as many as fit were served one after another. */
const timesFilled = 3;
/** So many refusals within a window, one after another, show that it is none. */
const maxDoubts = 2;
/** After so many served requests one more at once is tried; after up to so many times as many where that is refused again. */
const betweenTries = 80;
const maxPatience = 4;
/** This part of a rate is used: requests do not all take the same time to the service. */
const usedPart = 0.985;
/** After so many served requests, and the time in which they are counted, a rate is raised by this part, then by so many times as much each time. */
const raisedAfter = 20;
const leastRaise = 0.03;
const maxRaise = 0.5;
const raiseFactor = 4;
/** So many served requests pay for a refusal before more is tried, and for several. */
const perRefusal = 40;
const maxDebt = 160;
/** A refusal at a rate that was accepted lowers it by this part, then by twice as much each time. */
const leastLowering = 0.03;
const maxLowering = 0.4;
/** No rate is lower than one request in this time. */
const slowestMs = 60_000;
/** A rate that was lowered to this part in vain is none. */
const lowPart = 1 / 4;
/** So many times as many as were served before a rest, within the same time, show that it was an outage. */
const aboveRest = 1.2;

/** What a service was found to do with the requests of a lane. */
export interface FoundPace {
  /** So many at once are served, and no more. */
  readonly atOnce?: number;
  /** So many a minute are served, and no more. */
  readonly perMinute?: number;
  /** This part is refused, however few are sent. */
  readonly byChance?: number;
}

interface Limit {
  /** Requests that are worked on at once. */
  readonly window: number;
  /** Between two requests that are not refused, ms; 0: no rate was found. */
  readonly spacing: number;
  /** The span of time in which they are counted, and how long a rate is kept before it is raised, ms. */
  readonly perMs: number;
  readonly keptMs: number;
  /** More than so many within `perMs` show that there was an outage and no such rate; 0: it is a rate. */
  readonly most: number;
}

const none: Limit = { window: Number.POSITIVE_INFINITY, spacing: 0, perMs: 0, keptMs: 0, most: 0 };

/** How many requests of a lane may leave: as many at once, or in a time, as a service was found to serve, and now and then a little more. */
export class FoundLimit {
  /** What may leave; more than what was accepted while that is tried; and what was accepted before anything was refused. */
  #limit = none;
  #kept = none;
  #calm = none;
  /** Served within the window since it was set, and at the rate since it was raised. */
  #fits = 0;
  #atPace = 0;
  #isCounted = false;
  #doubts = 0;
  #patience = 1;
  #raise = leastRaise;
  #raisedAt = Number.NEGATIVE_INFINITY;
  #lowering = leastLowering;
  /** Served requests that are to come before a rate is raised. */
  #debt = 0;

  /** @param inherited what an earlier run found */
  constructor({ atOnce, perMinute }: FoundPace) {
    if (atOnce === undefined && perMinute === undefined) return;
    this.#accept({
      ...none,
      ...(atOnce !== undefined && { window: atOnce }),
      ...(perMinute !== undefined && { spacing: 60_000 / perMinute, perMs: 60_000, keptMs: 60_000 }),
    });
    this.#calm = this.#limit;
  }

  /** How many requests may be worked on at once. */
  get window(): number {
    return this.#limit.window;
  }

  /** Time between two requests, ms; 0: no rate was found. */
  get spacing(): number {
    return this.#limit.spacing;
  }

  get isOpen(): boolean {
    return this.#limit === none;
  }

  /** More is tried than was accepted. */
  get isTrying(): boolean {
    return this.#limit !== this.#kept;
  }

  /** So many at once were served again and again, and one more was not. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  /** What was accepted. */
  get found(): FoundPace {
    const { window, spacing } = this.#kept;
    return {
      ...(window !== Number.POSITIVE_INFINITY && { atOnce: window }),
      ...(spacing > 0 && { perMinute: 60_000 / spacing }),
    };
  }

  /** A request is served. @param inFlight others that are worked on, @param recentIn others that left within a time before it */
  served(now: number, inFlight: number, recentIn: (ms: number) => number): void {
    const { most, perMs } = this.#limit;
    if (most > 0 && recentIn(perMs) > most) this.#accept(this.#calm);
    this.#tryWindow(inFlight);
    this.#tryRate(now);
  }

  /** A rate that is not used up is not at its limit. */
  idle(): void {
    this.#atPace = 0;
  }

  /** A refusal is to be paid for before more is tried. */
  owe(): void {
    this.#debt = Math.min(maxDebt, Math.max(0, this.#debt) + perRefusal);
  }

  /** What was served so far says nothing about more. */
  countAnew(now: number): void {
    this.#fits = 0;
    this.#atPace = 0;
    this.#raise = leastRaise;
    this.#raisedAt = now;
  }

  /** What may leave now was accepted for a while. */
  settle(): void {
    this.#calm = this.#limit;
    this.#lowering = leastLowering;
  }

  /** More was tried, and is refused. @returns how much too early that has left, ms */
  takeBack(): number {
    const earlyMs = this.#atPace * (this.#kept.spacing - this.#limit.spacing);
    this.#accept({ ...this.#kept, most: 0 });
    this.#lowering = leastLowering;
    // Several raises one after another may be those that a full bucket lets pass.
    if (this.#raise <= raiseFactor * leastRaise) this.settle();
    this.#patience = Math.min(maxPatience, 2 * this.#patience);
    return earlyMs;
  }

  /** Sets what explains refusals. @param seenMs for how long requests have left, @param isUnsure they may have been those of an outage */
  follow(found: Explanation, seenMs: number, isUnsure: boolean): void {
    this.#fits = 0;
    this.#doubts = 0;
    this.#isCounted = false;
    if (found.by === 'beside') return this.#accept({ ...none, window: found.most });
    const { count, perMs } = found;
    const keptMs = Math.min(perMs, seenMs);
    const spacing = keptMs / count / usedPart;
    // At this rate it is refused already.
    if (found.share === 0 && spacing <= this.#limit.spacing) return this.lower();
    this.#accept({ ...none, spacing, perMs, keptMs, most: isUnsure ? aboveRest * count : 0 });
  }

  /** Refusals with fewer in flight than were served together show that these are not counted. */
  doubtWindow(): void {
    if (this.window === Number.POSITIVE_INFINITY) return;
    this.#doubts += 1;
    if (this.#doubts >= maxDoubts) this.#accept(none);
  }

  /** True where a lower rate did not help. */
  get isLow(): boolean {
    const { spacing } = this.#limit;
    return spacing === 0 || this.#calm.spacing < lowPart * spacing;
  }

  /** Lowers a rate that is refused. */
  lower(): void {
    const { spacing } = this.#limit;
    if (spacing === 0) return;
    if (spacing < this.#calm.spacing) return this.#accept(this.#calm);
    this.#accept({ ...this.#limit, spacing: spacing / (1 - this.#lowering) });
    this.#lowering = Math.min(maxLowering, 2 * this.#lowering);
  }

  /** Goes back to what was accepted before anything was refused. */
  goBack(): void {
    this.#accept(this.#calm.spacing > 0 ? this.#calm : none);
  }

  #accept(limit: Limit): void {
    this.#limit = limit.spacing > slowestMs ? { ...limit, spacing: slowestMs } : limit;
    this.#kept = this.#limit;
  }

  /** Tries one more at once, now and then; more often while that is served. */
  #tryWindow(inFlight: number): void {
    const { window } = this.#limit;
    if (window === Number.POSITIVE_INFINITY) return;
    this.#fits += 1;
    if (this.#fits >= timesFilled * window) {
      this.#isCounted = true;
      this.#doubts = 0;
    }
    if (this.isTrying && this.#fits >= timesFilled && inFlight >= window - 1) {
      this.#kept = this.#limit;
      this.#patience = 1;
      this.#fits = betweenTries - window;
    } else if (this.#fits >= betweenTries * this.#patience) {
      this.#limit = { ...this.#limit, window: window + 1 };
      this.#fits = 0;
    }
  }

  /** Raises the rate, ever faster, while nothing is refused. */
  #tryRate(now: number): void {
    const { spacing, keptMs } = this.#limit;
    if (spacing === 0) return;
    this.#atPace += 1;
    this.#debt -= 1;
    if (this.#atPace < raisedAfter || this.#debt > 0 || now - this.#raisedAt < keptMs) return;
    this.#atPace = 0;
    this.#raisedAt = now;
    this.#kept = this.#limit;
    this.#limit = { ...this.#limit, spacing: spacing / (1 + this.#raise) };
    this.#raise = Math.min(maxRaise, raiseFactor * this.#raise);
  }
}
