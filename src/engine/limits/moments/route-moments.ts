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
/** What a worker sends without a limit is told after this time, ms. */
const toldAfterMs = 500;

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
  #pauseToTell = Number.NEGATIVE_INFINITY;
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
  #askedAt = Number.NEGATIVE_INFINITY;
  #onReserved = new Set<() => void>();

  /** @param rate absent: the route has no limit but what each worker finds, and only tells what it sends */
  constructor(route: string, rate: Rate | undefined, ports: MomentsPorts) {
    this.#route = route;
    this.#rate = rate;
    this.#ports = ports;
    this.#lateness = new Lateness(ports);
  }

  nextAt(cost = 1): number {
    if (this.#rate === undefined) return Number.NEGATIVE_INFINITY;
    this.#isWanted = true;
    const first = this.#first(cost);
    if (first !== undefined) return this.#local(first) - this.#lead;
    this.#starve(cost);
    return Math.max(this.#hopeAt, this.#ports.clock.now() + againMs);
  }

  take(now: number, cost = 1): void {
    this.#sent += 1;
    if (this.#rate === undefined) {
      if (now - this.#askedAt >= toldAfterMs) this.#ports.wake();
      return;
    }
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
    if (this.#rate === undefined) return () => undefined;
    const moment = this.#decided.shift();
    const now = this.#ports.clock.now();
    // So much earlier must requests be decided.
    const needed = moment === undefined ? 0 : now - (this.#local(moment) - this.#lead);
    this.#lead = Math.min(longestLead, Math.max(0.98 * this.#lead, 1.25 * needed));
    if (moment === undefined || now < this.#local(moment) || this.#isMissed(moment, now))
      return this.#wait(moment, signal);
    return () => this.#onLeft(moment);
  }

  /** The requests of this worker rest: whoever looks at the run is told so, the other workers find out for themselves. */
  pause(untilMs: number): void {
    this.#pauseToTell = Math.max(this.#pauseToTell, untilMs);
    this.#ports.wake();
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
    const ask: MomentsAsk = {
      route: this.#route,
      per_ms: this.#rate?.perMs ?? null,
      count: this.#rate?.count ?? null,
      most: isKnown ? Math.max(0, Math.ceil(this.#ahead) - this.#reserved.length) : 0,
      cost: this.#cost,
      credit: this.#credit,
      pause_ms: isTold ? this.#pauseToTell - now : 0,
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
    const { base_ms: base, spacing, given } = answer;
    if (spacing !== null && ask.cost === 1) this.#spacing = spacing;
    if (base !== null && spacing !== null)
      for (let i = 0; i < given; i += 1)
        this.#reserved.push({ at: base + i * spacing, cost: ask.cost, lateMs: answer.late_ms });
    if (given > 0) for (const call of this.#onReserved) call();
    if (this.#rate === undefined) return toldAfterMs;
    if (given >= ask.most) return 200;
    // Others had reserved some of it: all of them together ask often enough.
    const wait = Math.max(200, server.local(answer.next_at_ms) - now - horizonMs);
    this.#hopeAt = now + wait;
    return Math.min(1000, this.#reserved.length > 0 ? Math.max(330, wait) : wait);
  }

  /** It leaves. What nobody has reserved moves by as much as it is too late, and by one moment at most: others leave on time after it. */
  #onLeft(moment: Reserved): void {
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

  async #wait(decided: Reserved | undefined, signal: AbortSignal): Promise<OnDeparture | undefined> {
    const { clock } = this.#ports;
    let moment = decided;
    while (!signal.aborted) {
      const now = clock.now();
      if (moment === undefined || this.#isMissed(moment, now)) {
        moment = this.#first(this.#cost);
        if (moment === undefined) {
          this.#starve(this.#cost);
          await this.#sleep(now + againMs, signal);
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
