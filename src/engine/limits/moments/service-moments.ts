import type { Limits } from '../../../pipeline/pipeline.ts';
import type { Clock } from '../../../run/clock.ts';
import type { Route } from '../../../run/events.ts';
import type { TokenMoments } from '../../../run/ports.ts';
import { type Away, type Database, Inquiry } from '../inquiry.ts';
import type { MomentsAnswer, MomentsAsk } from './moments-question.ts';
import { RouteMoments } from './route-moments.ts';
import { ServerClock } from './server-clock.ts';

/** The rates of one service, which all workers share. One question to the database serves all routes. */
export class ServiceMoments {
  readonly routes: Readonly<Record<Route, RouteMoments>>;
  readonly tokens: ServiceTokens;
  readonly #tokens: RouteMoments;
  readonly server: ServerClock;
  readonly #service: string;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #onMore: () => void;
  readonly #inquiry: Inquiry;

  /** @param onMore called when moments were reserved */
  constructor(
    service: string,
    limits: Limits,
    ports: { readonly database: Database; readonly clock: Clock; readonly random: () => number },
    onMore: () => void,
  ) {
    this.#service = service;
    this.#database = ports.database;
    this.#clock = ports.clock;
    this.#random = ports.random;
    this.#onMore = onMore;
    this.server = new ServerClock(ports.clock);
    this.#inquiry = new Inquiry(ports.clock, () => this.#ask());
    const { clock } = ports;
    const around = { clock, server: this.server, wake: (): void => this.#inquiry.wake() };
    const of = (route: Route): RouteMoments => new RouteMoments(route, limits[route], around);
    this.routes = { submit: of('submit'), text: of('text'), poll: of('poll'), download: of('download') };
    this.#tokens = new RouteMoments('tokens', limits.tokens, around);
    this.tokens = new ServiceTokens(this.#tokens);
  }

  get away(): Away | undefined {
    return this.#inquiry.away;
  }

  stop(): Promise<void> {
    return this.#inquiry.stop();
  }

  async #ask(): Promise<number | undefined> {
    const sentAt = this.#clock.now();
    const { isKnown } = this.server;
    const asking = [...Object.values(this.routes), this.#tokens].flatMap(
      (moments): [RouteMoments, MomentsAsk][] => {
        const ask = moments.ask(sentAt);
        return ask === undefined ? [] : [[moments, ask]];
      },
    );
    if (asking.length === 0) return undefined;
    let answers: readonly MomentsAnswer[];
    try {
      const asks = JSON.stringify(asking.map(([, ask]) => ask));
      const text = 'SELECT * FROM promptpress.pace_reserve($1, $2)';
      answers = (await this.#database.query(text, [this.#service, asks])).rows as MomentsAnswer[];
    } catch (error) {
      for (const [moments, ask] of asking) moments.onUnanswered(ask, this.#clock.now());
      throw error;
    }
    this.#inquiry.onAnswered();
    const latest = answers.at(-1);
    if (latest !== undefined) this.server.measure(sentAt, latest.now_ms);
    let next = 1000;
    for (const [moments, ask] of asking) {
      const answer = answers.find(({ route }) => route === ask.route);
      if (answer !== undefined) next = Math.min(next, moments.onAnswer(ask, answer));
    }
    if (answers.some(({ given }) => given > 0)) this.#onMore();
    if (!isKnown) return 0;
    // Workers that ask at the same moments would serve themselves in the same order each time.
    return next * (0.8 + 0.4 * this.#random());
  }
}

/**
 * Tokens a minute that all workers share: moments that cost as many tokens as a call is estimated to take. What it took more or less
 * moves the moments of later calls.
 */
class ServiceTokens implements TokenMoments {
  readonly #moments: RouteMoments;
  readonly #reserved = new Map<string, number>();

  constructor(moments: RouteMoments) {
    this.#moments = moments;
  }

  nextAt(tokens: number): number {
    return this.#moments.nextAt(Math.max(1, tokens));
  }

  take(key: string, tokens: number, now: number): void {
    this.#reserved.set(key, tokens);
    this.#moments.take(now, Math.max(1, tokens));
  }

  settle(key: string, tokens: number | undefined): void {
    const reserved = this.#reserved.get(key);
    this.#reserved.delete(key);
    if (reserved !== undefined && tokens !== undefined) this.#moments.refund(reserved - tokens);
  }
}
