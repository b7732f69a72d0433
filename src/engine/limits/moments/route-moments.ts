import type { Rate } from '../../../pipeline/pipeline.ts';
import type { Moments, OnDeparture } from '../../../run/ports.ts';
import { Lateness } from './lateness.ts';
import type { MomentsAnswer, MomentsAsk, MomentsPorts, Reserved } from './moments-question.ts';

/** A request that has not passed so long after its moment gets another one, ms: 4 ms of the least lateness are for its way to the network. */
const missedMs = 16;
/** How long before its moment a request is decided where the time for that is not known yet, ms. */
const firstLead = 60;
/** The longest time between a decision and its request that moments are given ahead for, ms. */
const longestLead = 300;
/** Moments lie at most so far ahead of the server's clock, ms. */
const horizonMs = 400;
/** While nothing is reserved, a request is asked for again after this time, ms. */
const againMs = 50;
/** Over so long a time the paces of this worker and of all are compared, ms. */
const memoryMs = 10_000;
/** What was found is told again after this time, ms. */
const repeatMs = 10_000;

/**
 * The rate of one route, which all workers of a service share: the moments that this worker has reserved. A request takes its moment when
 * it is decided, and leaves at that moment (`pass`): its intent is made durable in between.
 */
export class RouteMoments implements Moments {
  readonly #route: string;
  readonly #rate: Rate | undefined;
  readonly #ports: MomentsPorts;
  #reserved: Reserved[] = [];
  /** Moments of decided requests that have not left. */
  #decided: Reserved[] = [];
  /** How long before its moment a request is decided. */
  #lead = firstLead;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pauseToTell = Number.NEGATIVE_INFINITY;
  /** True where all workers together have a limit. */
  #isLimited: boolean;
  /** How many moments to have in hand. */
  #ahead = 1;
  #isStarved = false;
  /** Before this there is nothing to be had: others have reserved it. */
  #hopeAt = Number.NEGATIVE_INFINITY;
  readonly #lateness: Lateness;
  /** Milliseconds between two moments. */
  #spacing = Number.POSITIVE_INFINITY;
  #isWanted = false;
  #cost = 1;
  #credit = 0;
  #lapsed = 0;
  #sent = 0;
  #ownRate = 0;
  #allRate = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Requests a minute that the service accepts of this worker, as it found; undefined: it refused none. */
  #found: number | undefined;
  #foundToldAt = Number.NEGATIVE_INFINITY;
  #onReserved = new Set<() => void>();

  /** @param rate absent: the route has no limit but what workers find */
  constructor(route: string, rate: Rate | undefined, ports: MomentsPorts) {
    this.#route = route;
    this.#rate = rate;
    this.#ports = ports;
    this.#isLimited = rate !== undefined;
    this.#lateness = new Lateness(ports);
  }

  nextAt(cost = 1): number {
    this.#isWanted = true;
    if (!this.#isLimited) {
      if (this.#ports.clock.now() - this.#askedAt >= 500) this.#ports.wake();
      return this.#pausedUntil;
    }
    const first = this.#first(cost);
    if (first !== undefined) return Math.max(this.#pausedUntil, this.#local(first) - this.#lead);
    this.#starve(cost);
    return Math.max(this.#pausedUntil, this.#hopeAt, this.#ports.clock.now() + againMs);
  }

  take(_now: number, cost = 1): void {
    this.#sent += 1;
    if (!this.#isLimited) return;
    const first = this.#first(cost);
    if (first === undefined) return this.#starve(cost);
    this.#reserved.shift();
    this.#credit += first.cost - cost;
    this.#decided.push(first);
    if (this.#decided.length > 4096) this.#decided.shift();
  }

  /** What earlier moments cost too much, in units of cost. */
  refund(cost: number): void {
    this.#credit += cost;
  }

  /**
   * Waits for the moment of a decided request.
   *
   * @returns what is to be told when it leaves; undefined where the signal ended the wait: the request must not leave
   */
  pass(signal: AbortSignal): OnDeparture | Promise<OnDeparture | undefined> {
    if (!this.#isLimited) return () => undefined;
    const moment = this.#decided.shift();
    const now = this.#ports.clock.now();
    // So much earlier must requests be decided.
    const needed = moment === undefined ? 0 : now - (this.#local(moment) - this.#lead);
    this.#lead = Math.min(longestLead, Math.max(0.98 * this.#lead, 1.25 * needed));
    if (moment === undefined || now < this.#local(moment) || this.#isMissed(moment, now))
      return this.#wait(moment, signal);
    return () => this.#onLeft(moment);
  }

  /** The service asks to wait. */
  pause(untilMs: number): void {
    this.#pauseToTell = Math.max(this.#pauseToTell, untilMs);
    this.#pausedUntil = Math.max(this.#pausedUntil, untilMs);
    this.#ports.wake();
  }

  /** The pace of this worker's requests has changed. */
  notePace(perMinute: number): void {
    const most =
      this.#rate === undefined ? Number.POSITIVE_INFINITY : (60_000 * this.#rate.count) / this.#rate.perMs;
    const found = perMinute < 0.999 * most ? perMinute : undefined;
    if (found !== this.#found) this.#foundToldAt = Number.NEGATIVE_INFINITY;
    this.#found = found;
  }

  /** What to ask; undefined: nothing, as nobody needs this route. */
  ask(now: number): MomentsAsk | undefined {
    const isTold = this.#pauseToTell > now;
    if (!this.#isWanted && !isTold && this.#sent === 0 && this.#credit === 0) {
      this.#ahead = 0;
      return undefined;
    }
    this.#drop(now);
    // By a clock that is not known a moment may be over when it seems to begin.
    const { isKnown } = this.#ports.server;
    if (isKnown) this.#adapt();
    const sent = this.#sent;
    const elapsed = Math.min(700 * memoryMs, Math.max(0, now - this.#askedAt));
    this.#ownRate = this.#ownRate * Math.exp(-elapsed / memoryMs) + sent / memoryMs;
    const ask: MomentsAsk = {
      route: this.#route,
      per_ms: this.#rate?.perMs ?? null,
      count: this.#rate?.count ?? null,
      most: isKnown ? Math.max(0, Math.ceil(this.#ahead) - this.#reserved.length) : 0,
      cost: this.#cost,
      credit: this.#credit,
      pause_ms: isTold ? this.#pauseToTell - now : 0,
      found: this.#foundByAll(now),
      sent,
      ...this.#lateness.tell(),
    };
    this.#askedAt = now;
    this.#isWanted &&= !isKnown;
    this.#isStarved &&= !isKnown;
    this.#lapsed = 0;
    this.#sent = 0;
    this.#credit = 0;
    this.#pauseToTell = Number.NEGATIVE_INFINITY;
    return ask;
  }

  /** The question had no answer, and may never have come. */
  onUnanswered(ask: MomentsAsk, now: number): void {
    if (ask.pause_ms > 0) this.#pauseToTell = Math.max(this.#pauseToTell, now + ask.pause_ms);
    // Told twice it costs a moment; what is to be had back could be had twice.
    this.#credit += Math.min(0, ask.credit);
    this.#lateness.onUnheard(ask);
    this.#isWanted = true;
  }

  /** @returns milliseconds until it should ask again */
  onAnswer(ask: MomentsAsk, answer: MomentsAnswer): number {
    const { clock, server } = this.#ports;
    const now = clock.now();
    this.#allRate = answer.sent_rate;
    if (answer.paused_ms > 0) {
      this.#pausedUntil = Math.max(this.#pausedUntil, server.local(answer.now_ms + answer.paused_ms));
      this.#reserved = this.#reserved.filter((reserved) => this.#local(reserved) >= this.#pausedUntil);
    }
    const { base_ms: base, spacing, given } = answer;
    this.#isLimited = this.#rate !== undefined || spacing !== null;
    if (spacing !== null && ask.cost === 1) this.#spacing = spacing;
    if (base !== null && spacing !== null)
      for (let i = 0; i < given; i += 1)
        this.#reserved.push({ at: base + i * spacing, cost: ask.cost, lateMs: answer.late_ms });
    if (given > 0) for (const call of this.#onReserved) call();
    if (!this.#isLimited) return 500;
    if (given >= ask.most) return 200;
    // Others had reserved some of it: all of them together ask often enough.
    const wait = Math.max(200, server.local(answer.next_at_ms) - now - horizonMs);
    this.#hopeAt = now + wait;
    return Math.min(1000, this.#reserved.length > 0 ? Math.max(330, wait) : wait);
  }

  /** It leaves. What nobody has reserved moves by as much as it is too late, and by one moment at most: others leave on time after it. */
  #onLeft(moment: Reserved): void {
    // What workers have found is no promise about windows.
    if (this.#rate === undefined) return;
    const tooLate = this.#lateness.left(moment);
    if (tooLate === 0) return;
    this.#credit -= Math.min(1, tooLate / this.#spacing);
    this.#ports.wake();
  }

  /** The first reserved moment that is not missed and costs enough. */
  #first(cost: number): Reserved | undefined {
    this.#drop(this.#ports.clock.now());
    while (this.#reserved[0] !== undefined && this.#reserved[0].cost < cost) {
      this.#credit += this.#reserved[0].cost;
      this.#reserved.shift();
    }
    return this.#reserved[0];
  }

  #starve(cost: number): void {
    this.#isStarved = true;
    this.#isWanted = true;
    this.#cost = cost;
    if (this.#ports.clock.now() >= this.#hopeAt) this.#ports.wake();
  }

  #drop(now: number): void {
    while (this.#reserved[0] !== undefined && this.#isMissed(this.#reserved[0], now)) {
      this.#lapsed += 1;
      this.#reserved.shift();
    }
  }

  #local({ at }: Reserved): number {
    return this.#ports.server.begun(at);
  }

  #isMissed({ at }: Reserved, now: number): boolean {
    return now > this.#ports.server.notOver(at + missedMs);
  }

  /** Has as many moments in hand as were used since it asked last, and more where they were too few. */
  #adapt(): void {
    if (this.#isStarved) this.#ahead = Math.min(4096, Math.max(8, 2 * this.#ahead));
    else if (this.#lapsed > 0) this.#ahead = Math.max(1, this.#ahead - this.#lapsed);
  }

  /** What the service accepts of all workers: what it accepts of this one, by its part in what all send. */
  #foundByAll(now: number): number | null {
    if (this.#found === undefined || now - this.#foundToldAt < repeatMs || this.#allRate === 0) return null;
    this.#foundToldAt = now;
    return this.#found / Math.min(1, Math.max(0.05, this.#ownRate / this.#allRate));
  }

  async #wait(decided: Reserved | undefined, signal: AbortSignal): Promise<OnDeparture | undefined> {
    const { clock } = this.#ports;
    let moment = decided;
    while (!signal.aborted) {
      const now = clock.now();
      if (moment === undefined || this.#isMissed(moment, now)) {
        moment = this.#first(this.#cost);
        if (moment === undefined) {
          this.#starve(this.#cost);
          await this.#sleep(Math.max(now + againMs, this.#pausedUntil), signal);
          continue;
        }
        this.#reserved.shift();
      }
      const at = this.#local(moment);
      if (now >= at) {
        const passed = moment;
        return () => this.#onLeft(passed);
      }
      await this.#sleep(at, signal);
    }
    return undefined;
  }

  /** Sleeps until then; sooner where moments were reserved or the signal ends it. */
  #sleep(at: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.#onReserved.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.#ports.clock.at(at, end);
      this.#onReserved.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
