import type { RetrySettings } from '../../pipeline/pipeline.ts';
import { FoundLimit, type FoundPace } from './found-limit.ts';
import { type Explanation, explain, fewestByChance, leftUpTo, type Trace } from './refusals.ts';

/** Requests that are remembered, and moments at which others left. */
const maxTraces = 256;
const maxTimes = 4096;
/** How long a refusal takes, until one has come, ms. */
const firstRefusalMs = 100;
/** While everything is refused, the service is asked again after this part of the time since it served. */
const restPart = 1 / 3;
/**
 * The same in the first minute of a rest, where requests leave within a limit of rate that the user gave. It is no longer than a minute: a
 * service that counts refused requests too, and serves less than that limit, needs a minute with few of them.
 */
const knownRate = { restPart: 1 / 10, forMs: 60_000 } as const;
/** After so many served requests without a lesson, a refusal shows that the service has changed. */
const calmRequests = 40;
/** The odds of an explanation that replaces another one; of one found after a rest; and while refusals come by chance, when many are looked for. */
const leastGain = { beside: 5, rate: 5 } as const;
const gainAfterRest = { beside: 5, rate: 3 } as const;
const gainAmidChance = { beside: 8, rate: 8 } as const;

/** So much is refused now and then without a reason. */
const oddShare = 0.02;
/** A run of refusals less likely than this is not chance. */
const leastLuck = 1e-5;
/** What is refused by chance is explained anew after so many requests. */
const explainedAfter = 32;
/** And where so many standard deviations more are refused than by chance. */
const spreadsBeyond = 2;

const shareOf = (traces: readonly Trace[]): number =>
  traces.filter(({ isRefused }) => isRefused === true).length / Math.max(1, traces.length);

/** What a refusal says. */
export interface Refused {
  /** How long the service asks to wait, ms. */
  readonly waitMs?: number | undefined;
  /** It was broken off while it was worked on: nothing shows earlier that the next one is not. */
  readonly isCut?: boolean;
}

/** Refusals from which something is learned: those of one flight are one lesson. */
interface Lesson {
  /** When the first of them left, and was refused. */
  readonly from: number;
  readonly refusedAt: number;
  readonly isCut: boolean;
  /** When the flight is judged; nothing leaves until then. */
  readonly judgedAt: number;
}

/** Everything is refused: one request at a time asks whether the service serves again. */
interface Rest {
  readonly since: number;
  readonly until: number;
  /** Probes are awaited, however long they take. */
  readonly isAwaited: boolean;
  readonly probe?: Trace | undefined;
  /** A probe was refused. */
  readonly isLong: boolean;
}

/**
 * Finds the lowest rate at which a service serves as much of a lane of requests as at any higher one. Refusals cost manners, unserved time
 * costs the user.
 *
 * 1. A refusal is a lesson for its whole flight: what left before it was known teaches nothing more, whatever becomes of it.
 * 2. All of a flight is refused: the lane rests for `retry.base`, then for a third of the time gone so far, up to `retry.cap`; one probe at a
 *    time asks, and ends the rest once it is served.
 * 3. Some are served: so many at once, or so many within a span of time, tell the refused from the served ({@link explain}). No more
 *    leave then. A little more is tried later, and taken back at its first refusal.
 * 4. Nothing tells them, and a lower rate does not help: they come by chance. All leave at full speed, and each refused job waits alone.
 * 5. A wait that the service asks for rests the lane, until it is known how many fit at once, or that refusals come by chance.
 *
 * All moments are Unix ms.
 */
export class Pace {
  readonly #retry: RetrySettings;
  readonly #inherited: FoundPace;
  readonly #isRateKnown: boolean;
  #traces: Trace[] = [];
  /** When the requests that were not refused left. */
  #times: number[] = [];
  readonly #underWay = new Map<string, Trace>();
  #startedAt: number | undefined;
  #hasServed = false;
  #refusalMs = firstRefusalMs;

  readonly #limit: FoundLimit;
  #next = Number.NEGATIVE_INFINITY;
  #lesson: Lesson | undefined;
  #lessonAt = Number.NEGATIVE_INFINITY;
  /** What left before says nothing of the limits of now. */
  #changedAt = Number.NEGATIVE_INFINITY;
  #rest: Rest | undefined;
  /** How many were refused in a row, since when. */
  #inARow = 0;
  #refusingSince = 0;
  /** The part that is refused whatever leaves; 0: nothing comes by chance. */
  #chance = 0;
  #sinceExplained = 0;

  /** Served since the last lesson. */
  #calm = 0;

  /** @param inherited what an earlier run found, @param isRateKnown requests leave within a limit of rate that the user gave */
  constructor(retry: RetrySettings, inherited: FoundPace = {}, isRateKnown = false) {
    this.#retry = retry;
    this.#isRateKnown = isRateKnown;
    this.#inherited = inherited;
    this.#limit = new FoundLimit(inherited);
  }

  /** True while one request at a time asks whether the service serves again. */
  get isProbing(): boolean {
    return this.#rest !== undefined;
  }

  /** How many requests may be worked on at once. */
  get window(): number {
    return this.#limit.window;
  }

  /** Until when nothing leaves; negative infinity: it does not rest. */
  get restsUntil(): number {
    return this.#rest?.until ?? Number.NEGATIVE_INFINITY;
  }

  /** What was found; of a service that has served nothing, what was known before. */
  get found(): FoundPace {
    if (!this.#hasServed) return this.#inherited;
    return { ...this.#limit.found, ...(this.#chance > 0 && { byChance: this.#chance }) };
  }

  /** From when on the next request may leave; not in the future means now, positive infinity: a result decides. */
  nextAt(now: number): number {
    if (this.#lesson !== undefined) {
      if (now < this.#lesson.judgedAt) return this.#lesson.judgedAt;
      this.#judge(this.#lesson, now);
    }
    if (this.#rest !== undefined) {
      const { probe, isAwaited, until } = this.#rest;
      if (probe === undefined) return until;
      // Where a refusal would have come by then, there was none.
      const servedAt = isAwaited ? Number.POSITIVE_INFINITY : probe.at + this.#presumedMs;
      if (now < servedAt) return servedAt;
      this.#endRest(this.#rest, now);
    }
    return this.#limit.spacing === 0 ? Number.NEGATIVE_INFINITY : this.#next;
  }

  /** A request leaves. @param key of its job */
  take(key: string, now: number): void {
    this.ended(key, now);
    this.#startedAt ??= now;
    const trace: Trace = { at: now, endedAt: Number.POSITIVE_INFINITY };
    if (this.#rest !== undefined) this.#rest = { ...this.#rest, probe: trace };
    this.#traces.push(trace);
    if (this.#traces.length > maxTraces) this.#traces.shift();
    this.#underWay.set(key, trace);
    this.#times.push(now);
    if (this.#times.length > 2 * maxTimes) this.#times = this.#times.slice(-maxTimes);
    const { spacing } = this.#limit;
    if (now > this.#next + 1.05 * spacing) this.#limit.idle();
    this.#next = Math.max(this.#next, now - (this.#chance > 0 ? 3 : 0.05) * spacing) + spacing;
  }

  /** The service does what a request asks for. @param isTask it works on it until `ended` */
  served(key: string, now: number, isTask = false): void {
    const trace = this.#underWay.get(key);
    if (trace === undefined) return;
    trace.isRefused = false;
    this.#hasServed = true;
    if (!isTask) this.ended(key, now);
    if (trace.at >= this.#refusingSince) this.#inARow = 0;
    if (this.#rest !== undefined && trace.at >= this.#rest.since) this.#endRest(this.#rest, now);
    this.#calm += 1;
    this.#limit.served(
      now,
      this.#underWay.size,
      (ms) => leftUpTo(this.#times, trace.at) - leftUpTo(this.#times, trace.at - ms),
    );
    this.#explainChance(now);
  }

  /** The service works on a request no longer. */
  ended(key: string, now: number): void {
    const trace = this.#underWay.get(key);
    if (trace !== undefined) trace.endedAt = now;
    this.#underWay.delete(key);
  }

  /** A request was not sent, or its result says nothing about the pace. */
  withdraw(key: string, now: number): void {
    const trace = this.#underWay.get(key);
    this.ended(key, now);
    if (trace === undefined || trace.isRefused === false) return;
    this.#forget(trace);
    this.#traces = this.#traces.filter((one) => one !== trace);
    if (this.#rest?.probe === trace) this.#rest = { ...this.#rest, probe: undefined };
  }

  /** A request is refused, or broken off. */
  refused(key: string, now: number, { waitMs, isCut = false }: Refused = {}): void {
    const trace = this.#underWay.get(key);
    if (trace === undefined) return;
    Object.assign(trace, { isRefused: true, isCut });
    this.ended(key, now);
    this.#forget(trace);
    if (!isCut) this.#refusalMs += (now - trace.at - this.#refusalMs) / 4;
    this.#inARow += 1;
    if (this.#inARow === 1) this.#refusingSince = trace.at;
    if (this.#rest !== undefined) {
      if (this.#rest.probe === trace) this.#restOn(this.#rest, waitMs, now);
      return;
    }
    if (this.#chance > 0) {
      // A refusal by chance uses up nothing.
      this.#next -= this.#limit.spacing;
      this.#explainChance(now);
      if (Math.max(oddShare, this.#chance) ** this.#refusedLast(now) > leastLuck) return;
    }
    this.#limit.owe();
    if (trace.at < this.#lessonAt) return;
    this.#lessonAt = now;
    if (this.#limit.isTrying) return this.#takeBack(trace.at, now);
    const judgedAt = now + Math.min(this.#presumedMs, this.#retry.baseMs);
    this.#lesson = { from: trace.at, refusedAt: now, isCut, judgedAt };
    if (waitMs !== undefined && !this.#limit.isCounted && this.#chance === 0)
      this.#beginRest(this.#lesson, waitMs, now);
  }

  get #presumedMs(): number {
    return 2 * this.#refusalMs;
  }

  #forget({ at }: Trace): void {
    const place = this.#times.lastIndexOf(at);
    if (place >= 0) this.#times.splice(place, 1);
  }

  /** How many of those that left last are refused, one after another. */
  #refusedLast(now: number): number {
    const known = this.#traces.filter(({ at }) => now - at >= this.#presumedMs);
    return known.length - 1 - known.findLastIndex(({ isRefused }) => isRefused !== true);
  }

  /** A flight was refused in part, or all of it: what left with the first refused one, and what ended after its refusal. */
  #judge(lesson: Lesson, now: number): void {
    const { from, refusedAt } = lesson;
    this.#lesson = undefined;
    if (this.#rest !== undefined) return;
    const ended = this.#traces.filter(({ endedAt }) => endedAt >= refusedAt && endedAt <= now);
    const refused = ended.filter(({ isRefused }) => isRefused === true);
    const isAll =
      this.#traces.every(({ at, isRefused }) => at < from || isRefused === true) ||
      (this.#underWay.size === 0 && refused.length === ended.length);
    if (this.#inARow < 2 || !isAll) return this.#learn(from, now);
    // What is refused at one moment teaches as much as one refusal.
    this.#traces = this.#traces.filter((one) => one === refused[0] || !refused.includes(one));
    this.#beginRest(lesson, this.#limit.spacing, now);
  }

  #beginRest({ isCut }: Lesson, ms: number, now: number): void {
    const until = now + Math.max(ms, this.#limit.spacing > 0 ? 0 : this.#retry.baseMs);
    this.#rest = { since: this.#refusingSince, until, isAwaited: isCut, isLong: false };
  }

  #restOn(rest: Rest, waitMs: number | undefined, now: number): void {
    const outageMs = now - rest.since;
    const part = this.#isRateKnown && outageMs < knownRate.forMs ? knownRate.restPart : restPart;
    const longer = Math.max(this.#retry.baseMs, this.#limit.spacing, outageMs * part);
    const ms = Math.max(waitMs ?? 0, Math.min(this.#retry.capMs, longer));
    this.#rest = { ...rest, until: now + ms, probe: undefined, isLong: true };
  }

  #endRest(rest: Rest, now: number): void {
    this.#rest = undefined;
    this.#learn(rest.since, now, rest.isLong);
  }

  /** More was tried, and is refused. */
  #takeBack(from: number, now: number): void {
    this.#next += this.#limit.takeBack();
    this.#changedAt = from;
    this.#countAnew(now);
  }

  #countAnew(now: number): void {
    this.#calm = 0;
    this.#limit.countAnew(now);
  }

  /** What a flight, or a rest, shows. @param wasRest everything was refused for a while */
  #learn(from: number, now: number, wasRest = false): void {
    const wasCalm = this.#calm >= calmRequests;
    const isOpen = this.#limit.isOpen && this.#chance === 0;
    this.#countAnew(now);
    if (wasCalm) {
      this.#limit.settle();
      if (!this.#limit.isOpen && this.#chance === 0) this.#changedAt = from;
    }
    const traces = this.#traces.filter(({ at }) => at >= this.#changedAt);
    const known = this.#chance > 0 ? gainAmidChance : wasRest ? gainAfterRest : leastGain;
    const least = isOpen ? undefined : known;
    const found = explain(traces, this.#times, now, this.#presumedMs, least);
    if (found !== undefined) return this.#follow(found, now, wasRest && wasCalm);
    if (wasRest && wasCalm) {
      this.#traces = this.#traces.filter(({ at, isRefused }) => at < from || isRefused !== true);
      return;
    }
    const refused = traces.filter(({ isRefused }) => isRefused === true).length;
    this.#limit.doubtWindow();
    if (Math.min(refused, traces.length - refused) >= fewestByChance && this.#limit.isLow) {
      this.#limit.goBack();
      this.#sinceExplained = 0;
      this.#setChance(shareOf(this.#traces));
    } else if (!wasRest) this.#limit.lower();
  }

  #follow(found: Explanation, now: number, isUnsure: boolean): void {
    this.#setChance(found.share);
    this.#limit.follow(found, now - (this.#startedAt ?? now), isUnsure);
    this.#next = now + this.#limit.spacing;
  }

  #setChance(share: number): void {
    this.#chance = share < oddShare ? 0 : share;
  }

  #explainChance(now: number): void {
    if (this.#chance === 0) return;
    this.#sinceExplained += 1;
    if (this.#sinceExplained < explainedAfter) return;
    this.#sinceExplained = 0;
    const last = shareOf(this.#traces.slice(-2 * explainedAfter));
    const spread = Math.sqrt((this.#chance * (1 - this.#chance)) / (2 * explainedAfter));
    const isMore = last > this.#chance + spreadsBeyond * spread;
    const found = isMore
      ? explain(this.#traces, this.#times, now, this.#presumedMs, gainAmidChance)
      : undefined;
    if (found === undefined) this.#setChance(shareOf(this.#traces));
    else this.#follow(found, now, false);
  }
}
