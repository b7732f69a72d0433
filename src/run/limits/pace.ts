import type { RetrySettings } from '../../pipeline/pipeline.ts';
import { type Explanation, explain, fewestByChance, type Trace, windowsMs } from './refusals.ts';

/** Requests that are remembered. */
const remembered = 256;
/** After so many served requests without a lesson, what is refused next shows that the service has changed. */
const calm = 40;
/** So many times as many as fit at once have to be served before the service is believed to count them. */
const timesFilled = 3;
/** After so many served requests the window is tried one wider; up to so many times as many where that is refused again. */
const betweenTries = 80;
const mostPatience = 4;
/** After so many served requests, and the time in which they are counted, the rate is raised by this part, then by so many times as much each time, up to the most. */
const raisedAfter = 20;
const leastRaise = 0.03;
const moreRaise = 4;
/** So many served requests pay for a refusal, and for so many at once. */
const perRefusal = 40;
const mostDebt = 160;
const mostRaise = 0.5;
/** A refusal at a rate that was accepted lowers it by this part, then by twice as much each time, up to the most. */
const leastLowering = 0.03;
const mostLowering = 0.4;
/** This part of a rate that was found is used: requests do not all take the same time to the service. */
const used = 0.985;
/** So many times as many as were served before a rest, within the same time, show that it was an outage. */
const mostAbove = 1.2;
/** The service is asked again after this part of the time for which it has refused everything. */
const restPart = 1 / 3;
/** A run of refusals less likely than this is not chance. */
const luck = 1e-3;
/** So much is refused now and then without a reason. */
const oddShare = 0.02;
/** What is refused by chance is explained anew after so many requests. */
const explainedAfter = 32;
/** How long a refusal takes, until one has come, ms. */
const firstRefusalMs = 100;

/** What a refusal says. */
export interface Refused {
  /** How long the service asks to wait, ms. */
  readonly waitMs?: number | undefined;
  /** The request may be paid: while everything is refused, each one is awaited. */
  readonly mayBePaid?: boolean | undefined;
  /** It was broken off while it was worked on. */
  readonly isCut?: boolean;
}

/** The service refuses everything: one request at a time asks whether it serves again. */
interface Rest {
  readonly since: number;
  readonly until: number;
  readonly probe?: Trace;
  readonly isStrict: boolean;
  /** Probes that were refused. */
  readonly inVain: number;
}

/** What a service was found to do with the requests of a lane. */
export interface FoundPace {
  /** So many at once are served, and no more. */
  readonly atOnce?: number;
  /** So many a minute are served, and no more. */
  readonly perMinute?: number;
  /** This part is refused, however few are sent. */
  readonly byChance?: number;
}

/** What leaves. */
interface Gate {
  /** Requests that are worked on at once. */
  readonly window: number;
  /** Between two requests, ms; 0: no rate was found. */
  readonly spacing: number;
  /** The span of time in which they are counted, ms. */
  readonly perMs: number;
  /** How long a rate is kept before it is raised, ms. */
  readonly keptMs: number;
  /** More than so many within that time show that it was an outage; 0: there was none. */
  readonly most: number;
}

const open: Gate = { window: Number.POSITIVE_INFINITY, spacing: 0, perMs: 0, keptMs: 0, most: 0 };

/** The pace of one lane of requests. */
const trace_ = (...a: unknown[]) => (globalThis as any).paceTrace?.(...a);

export class Pace {
  readonly #retry: RetrySettings;
  readonly #inherited: FoundPace;
  readonly #underWay = new Map<string, Trace>();
  #log: Trace[] = [];
  /** When the requests that were not refused left. */
  #times: number[] = [];
  #gate = open;
  /** The gate that was accepted; the gate is wider while more is tried. */
  #kept = open;
  /** The gate at the last calm time. */
  #calmGate = open;
  /** What left before belongs to other limits. */
  #changedAt = Number.NEGATIVE_INFINITY;
  /** The part of the requests that is refused whatever the gate. */
  #chance = 0;
  /** The window is known: so many at once were served, and one more was not. */
  #isCounted = false;
  /** Served requests that are to come before more is tried: refusals are paid for. */
  #debt = 0;
  #next = Number.NEGATIVE_INFINITY;
  #rest: Rest | undefined;
  /** A refusal taught something; the flight is judged, and nothing leaves until then. */
  #judged: { readonly at: number; readonly from: number; readonly refusedAt: number; readonly isStrict: boolean } | undefined;
  #lessonAt = Number.NEGATIVE_INFINITY;
  /** Served since the last lesson; since the window was set; since the rate was raised. */
  #calm = 0;
  #fits = 0;
  #atPace = 0;
  #patience = 1;
  #raise = leastRaise;
  #raisedAt = Number.NEGATIVE_INFINITY;
  #lowering = leastLowering;
  #refusalMs = firstRefusalMs;
  #sinceExplained = 0;
  #inARow = 0;
  #hasServed = false;
  /** Since when everything is refused. */
  #refusingSince = 0;
  /** When the first request left. */
  #startedAt: number | undefined;

  /** @param found what an earlier run found */
  constructor(retry: RetrySettings, inherited: FoundPace = {}) {
    const { atOnce, perMinute } = inherited;
    this.#retry = retry;
    this.#inherited = inherited;
    if (atOnce === undefined && perMinute === undefined) return;
    this.#gate = {
      ...open,
      ...(atOnce !== undefined && { window: Math.max(1, Math.floor(atOnce)) }),
      ...(perMinute !== undefined && { spacing: 60_000 / perMinute, perMs: 60_000, keptMs: 60_000 }),
    };
    this.#kept = this.#gate;
    this.#calmGate = this.#gate;
  }

  /** True while the service is asked one request at a time whether it serves again. */
  get isProbing(): boolean {
    return this.#rest !== undefined;
  }

  /** How many requests may be worked on at once. */
  get window(): number {
    return this.#gate.window;
  }

  /** What was found; of a service that has served nothing, nothing is. */
  get found(): FoundPace {
    const { window, spacing } = this.#kept;
    if (!this.#hasServed) return this.#inherited;
    return {
      ...(window !== Number.POSITIVE_INFINITY && { atOnce: window }),
      ...(spacing > 0 && { perMinute: 60_000 / spacing }),
      ...(this.#chance > 0 && { byChance: this.#chance }),
    };
  }

  get restsUntil(): number {
    return this.#rest?.until ?? Number.NEGATIVE_INFINITY;
  }

  /** Unix ms from when on the next request may leave; not in the future means now, positive infinity: once another has ended. */
  nextAt(now: number): number {
    if (this.#judged !== undefined) {
      if (now < this.#judged.at) return this.#judged.at;
      this.#judge(now);
    }
    const rest = this.#rest;
    if (rest?.probe !== undefined) {
      if (rest.isStrict) return Number.POSITIVE_INFINITY;
      const presumedAt = rest.probe.at + this.#presumedMs;
      if (now < presumedAt) return presumedAt;
      this.#endRest(now);
    } else if (rest !== undefined) return rest.until;
    if (this.#underWay.size >= this.#gate.window) return Number.POSITIVE_INFINITY;
    return this.#gate.spacing === 0 ? Number.NEGATIVE_INFINITY : this.#next;
  }

  /** A request leaves. @param key of its job */
  take(key: string, now: number, kind = ''): void {
    this.#startedAt ??= now;
    const isLate = now > this.#next + 1.05 * this.#gate.spacing;
    const trace: Trace = {
      kind,
      at: now,
      recent: windowsMs.map((ms) => this.#leftSince(now - ms)),
      endedAt: Number.POSITIVE_INFINITY,
    };
    if (this.#rest !== undefined) this.#rest = { ...this.#rest, probe: trace };
    this.#log.push(trace);
    if (this.#log.length > remembered) this.#log.shift();
    this.#underWay.set(key, trace);
    this.#times.push(now);
    if (this.#times.length > 2 * mostTimes) this.#times = this.#times.slice(-mostTimes);
    const { spacing } = this.#gate;
    if (isLate) this.#atPace = 0;
    this.#next = Math.max(this.#next, now - (this.#chance > 0 ? 3 : 0.05) * spacing) + spacing;
  }

  /** The service does what a request asks for. @param isWork it works on it until it has ended */
  served(key: string, now: number, isWork = false): void {
    const trace = this.#underWay.get(key);
    if (trace === undefined) return;
    trace.isRefused = false;
    this.#hasServed = true;
    if (!isWork) this.ended(key, now);
    if (trace.at >= this.#refusingSince) this.#inARow = 0;
    if (this.#rest !== undefined && trace.at >= this.#rest.since) this.#endRest(now);
    this.#calm += 1;
    const { most, perMs } = this.#gate;
    if (most > 0 && (trace.recent[windowsMs.findIndex((ms) => ms === perMs)] ?? 0) > most) {
      this.#t(now, 'was outage');
      this.#gate = this.#kept = this.#calmGate;
    }
    this.#tryMore(now);
    this.#explainChance(now);
  }

  /** It works on this no longer. */
  ended(key: string, now: number): void {
    const trace = this.#underWay.get(key);
    if (trace !== undefined) trace.endedAt = now;
    this.#underWay.delete(key);
  }

  /** A request says nothing about the pace. */
  withdraw(key: string, now: number): void {
    const trace = this.#underWay.get(key);
    this.#underWay.delete(key);
    if (trace === undefined) return;
    if (trace.isRefused === false) {
      trace.endedAt = now;
      return;
    }
    this.#forget(trace);
    this.#log = this.#log.filter((one) => one !== trace);
    if (this.#rest?.probe === trace) this.#rest = { ...this.#rest, probe: undefined as never };
  }

  /** A request is refused. */
  refused(key: string, now: number, { waitMs, mayBePaid = false, isCut = false }: Refused = {}): void {
    const trace = this.#underWay.get(key);
    if (trace === undefined) return;
    trace.isRefused = true;
    trace.isCut = isCut;
    this.ended(key, now);
    this.#forget(trace);
    this.#refusalMs += (now - trace.at - this.#refusalMs) / 4;
    this.#inARow += 1;
    if (this.#inARow === 1) this.#refusingSince = trace.at;
    const isLesson = this.#chance === 0 && trace.at >= this.#lessonAt;
    if (isLesson) this.#debt = Math.min(mostDebt, Math.max(0, this.#debt) + perRefusal);
    if (this.#rest !== undefined) {
      if (this.#rest.probe === trace) this.#restOn(now, waitMs);
      return;
    }
    const asked = this.#isCounted || this.#chance > 0 ? undefined : waitMs;
    if (this.#chance > 0) {
      // A refusal by chance uses up nothing.
      this.#next -= this.#gate.spacing;
      this.#explainChance(now);
      if (Math.max(oddShare, this.#chance) ** this.#refusedLast(now) > luck) return;
    }
    if (trace.at < this.#lessonAt) return;
    this.#lessonAt = now;
    if (this.#gate !== this.#kept) return this.#takeBack(now, trace.at);
    const at = now + Math.min(this.#presumedMs, this.#retry.baseMs);
    this.#judged ??= { at, from: trace.at, refusedAt: now, isStrict: mayBePaid };
    if (asked !== undefined) this.#beginRest(now, Math.max(asked, this.#retry.baseMs), mayBePaid);
  }

  get #presumedMs(): number {
    return 2 * this.#refusalMs;
  }

  /** How many that left last are refused. */
  #refusedLast(now: number): number {
    let count = 0;
    for (let at = this.#log.length - 1; at >= 0; at -= 1) {
      const one = this.#log[at] as Trace;
      if (one.isRefused === true) count += 1;
      else if (one.isRefused === false || now - one.at >= this.#presumedMs) break;
    }
    return count;
  }

  #leftSince(at: number): number {
    let [from, to] = [0, this.#times.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#times[middle] as number) > at) to = middle;
      else from = middle + 1;
    }
    return this.#times.length - from;
  }

  #forget({ at }: Trace): void {
    const place = this.#times.lastIndexOf(at);
    if (place >= 0) this.#times.splice(place, 1);
  }

  /** What left from the first refused request on was served in part, or not at all. */
  #judge(now: number): void {
    const { from, refusedAt, isStrict } = this.#judged ?? { from: now, refusedAt: now, isStrict: false };
    this.#judged = undefined;
    if (this.#rest !== undefined) return;
    const isRefused = (one: Trace): boolean => one.isRefused === true;
    const refused = this.#log.filter((one) => isRefused(one) && one.endedAt >= refusedAt);
    const isServed = this.#log.some((one) => one.isRefused === false && one.endedAt >= refusedAt);
    const isAll =
      this.#log.every((one) => one.at < from || isRefused(one)) || (this.#underWay.size === 0 && !isServed);
    if (this.#inARow < 2 || !isAll) return this.#learn(now, from);
    // What is refused at one moment teaches as much as one refusal.
    this.#log = this.#log.filter((one) => one === refused[0] || !refused.includes(one));
    this.#beginRest(now, this.#gate.spacing > 0 ? this.#gate.spacing : this.#retry.baseMs, isStrict, from);
  }

  #t(now: number, ...a: unknown[]): void { if (this.#log.length > 0) trace_(now, ...a, `w=${this.#gate.window} s=${this.#gate.spacing.toFixed(0)} p=${this.#chance.toFixed(2)} calm=${this.#calm} log=${this.#log.length}/${this.#log.filter((x) => x.isRefused).length}`); }

  #beginRest(now: number, ms: number, isStrict: boolean, since = now): void {
    this.#rest = { since: Math.min(since, this.#refusingSince), until: now + ms, isStrict, inVain: 0 };
    this.#t(now, 'rest', ms);
  }

  #restOn(now: number, waitMs: number | undefined): void {
    const { since, isStrict, inVain } = this.#rest ?? { since: now, isStrict: false, inVain: 0 };
    const least = this.#gate.spacing;
    const asked = waitMs ?? 0;
    const ms = Math.max(asked, Math.min(this.#retry.capMs, Math.max(this.#retry.baseMs, least, (now - since) * restPart)));
    this.#rest = { since, until: now + ms, isStrict, inVain: inVain + 1 };
    this.#t(now, 'rest on', ms);
  }

  #endRest(now: number): void {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) this.#learn(now, rest.since, rest.inVain > 0);
  }

  /** More was tried, and refused. */
  #takeBack(now: number, from: number): void {
    this.#t(now, 'tried');
    this.#kept = this.#kept.most > 0 ? { ...this.#kept, most: 0 } : this.#kept;
    this.#gate = this.#kept;
    this.#calmGate = this.#kept;
    this.#lowering = leastLowering;
    this.#changedAt = from;
    this.#patience = Math.min(mostPatience, 2 * this.#patience);
    this.#begin(now);
  }

  /** What was served since the last lesson counts no longer. */
  #begin(now: number): void {
    this.#calm = 0;
    this.#atPace = 0;
    this.#fits = 0;
    this.#raise = leastRaise;
    this.#raisedAt = now;
  }

  /** What a flight, or a rest, shows. @param isOutage nothing was served for a while */
  #learn(now: number, from: number, isOutage = false): void {
    const wasCalm = this.#calm >= calm;
    this.#begin(now);
    const isOpen = this.#gate === open && this.#chance === 0;
    if (wasCalm) {
      this.#calmGate = this.#gate;
      this.#lowering = leastLowering;
      if (!isOpen) this.#changedAt = from;
    }
    const log = this.#log.filter(({ at }) => at >= this.#changedAt);
    const refused = log.filter((one) => one.isRefused === true).length;
    const found = explain(log, now, this.#presumedMs, isOpen ? undefined : { beside: 5, rate: isOutage ? 3 : 5 });
    this.#t(now, 'learn', isOutage, JSON.stringify(found), log.length, refused);
    if (found !== undefined) return this.#set(found, now, isOutage && wasCalm);
    if (isOutage && wasCalm) {
      this.#log = this.#log.filter((one) => one.at < from || one.isRefused !== true);
      return;
    }
    const { spacing, window } = this.#gate;
    // With fewer in flight than were served together a refusal shows that these are not counted.
    if (window !== Number.POSITIVE_INFINITY && refused >= (this.#isCounted ? 2 : 1)) this.#gate = this.#kept = open;
    const isLow = spacing === 0 || spacing > 4 * this.#calmGate.spacing;
    if (Math.min(refused, log.length - refused) >= fewestByChance && isLow) return this.#isChance();
    if (spacing > 0 && !isOutage) {
      this.#gate = { ...this.#gate, spacing: spacing / (1 - this.#lowering) };
      this.#kept = this.#gate;
      this.#lowering = Math.min(mostLowering, 2 * this.#lowering);
    }
  }

  #isChance(): void {
    const share = this.#log.filter((one) => one.isRefused === true).length / this.#log.length;
    this.#chance = share < oddShare ? 0 : share;
    this.#gate = this.#calmGate;
    this.#kept = this.#gate;
    this.#t(this.#lessonAt, 'chance');
    this.#sinceExplained = 0;
  }

  #explainChance(now: number): void {
    if (this.#chance === 0) return;
    this.#sinceExplained += 1;
    if (this.#sinceExplained < explainedAfter) return;
    this.#sinceExplained = 0;
    const found = explain(this.#log, now, this.#presumedMs, { beside: 8, rate: 8 });
    if (found === undefined) {
      const share = this.#log.filter((one) => one.isRefused === true).length / this.#log.length;
      this.#chance = share < oddShare ? 0 : share;
    } else this.#set(found, now);
  }

  #set(found: Explanation, now: number, isUnsure = false): void {
    this.#chance = found.share < oddShare ? 0 : found.share;
    this.#fits = 0;
    this.#isCounted = false;
    if (found.by === 'beside') {
      this.#gate = { ...open, window: found.most };
    } else {
      const seenMs = now - (this.#startedAt ?? now);
      const keptMs = Math.min(found.perMs, seenMs);
      const spacing = keptMs / found.count / used;
      this.#gate = { ...open, spacing, perMs: found.perMs, keptMs, most: isUnsure ? mostAbove * found.count : 0 };
      this.#next = now + spacing;
    }
    this.#kept = this.#gate;
  }

  /** Tries a little more of what was found. */
  #tryMore(now: number): void {
    const { window, spacing } = this.#gate;
    const isTried = this.#gate !== this.#kept;
    if (window !== Number.POSITIVE_INFINITY) {
      this.#fits += 1;
      if (this.#fits >= timesFilled * window) this.#isCounted = true;
      if (isTried && this.#underWay.size >= window - 1 && this.#fits >= timesFilled) {
        this.#kept = this.#gate;
        this.#patience = 1;
        this.#fits = betweenTries - window;
      } else if (this.#fits >= betweenTries * this.#patience) {
        this.#gate = { ...this.#gate, window: window + 1 };
        this.#fits = 0;
      }
    }
    if (spacing === 0) return;
    this.#atPace += 1;
    this.#debt -= 1;
    if (this.#atPace < raisedAfter || this.#debt > 0 || now - this.#raisedAt < this.#gate.keptMs) return;
    this.#atPace = 0;
    this.#kept = this.#gate;
    this.#gate = { ...this.#gate, spacing: spacing / (1 + this.#raise) };
    this.#raise = Math.min(mostRaise, moreRaise * this.#raise);
    this.#raisedAt = now;
  }
}

/** Send times that are remembered. */
const mostTimes = 4096;
