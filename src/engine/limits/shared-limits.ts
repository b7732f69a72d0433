import type { Limits } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../run/clock.ts';
import type { Route, RunListener } from '../../run/events.ts';
import type { SharedLimits } from '../../run/ports.ts';
import type { ClosedKinds } from './closed-kinds.ts';
import type { KnownService } from './known-service.ts';
import { RouteShare, TokenShare } from './rate-shares.ts';
import { type Bounds, RunAllowance } from './run-allowance.ts';
import type { Heartbeat, Share, ShareAsk, ShareRow, SharesRow } from './share.ts';
import { TaskShare, type TasksAsk } from './task-share.ts';

/** A worker shows that it is there, and says what it has and wants, so often at least, ms; soon where it has begun to want something. */
const mostMs = 1000;
const soonMs = 100;
/** A heartbeat without an answer is repeated so soon, ms. */
const againMs = 500;
/** Who was not heard of for so long gets no part, ms. */
const silentMs = 3000;
/** What it had of a rate is over after so long and the window, ms. */
const lapseMs = 5000;

/** Whose limits these are. */
export interface LimitsNames {
  /** The gateway and the account there: all runs that name it share its limits. */
  readonly service: string;
  readonly session: Heartbeat;
}

/**
 * Limits over all workers, behind the ports of a run, and the heartbeat of its session. Every second a worker says in one statement that it is
 * there, what it uses and wants of each, and hears its part. Where the database is away nothing new is allowed, soon, until it is back.
 */
export class EngineLimits implements SharedLimits {
  readonly moments: Readonly<Record<Route, RouteShare>>;
  readonly tokens: TokenShare;
  /** Absent where the run makes no tasks: text calls take up no room. */
  readonly rooms?: TaskShare;
  readonly allowance: RunAllowance;
  /** Absent: this worker knows of its own requests alone. */
  readonly served?: NonNullable<SharedLimits['served']>;
  readonly kinds?: NonNullable<SharedLimits['kinds']>;
  /** Absent: this worker closes kinds for itself alone. */
  readonly closings?: NonNullable<SharedLimits['closings']>;
  readonly #names: LimitsNames;
  readonly #everyMs: number;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #shares: ReadonlyMap<string, Share>;
  readonly #listeners = new Set<() => void>();
  /** The service was found to accept only so many tasks of this worker at once. */
  #areCounted = false;
  #cancel: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isWoken = false;
  #isOver = false;
  #away: unknown;

  /** @param settings `makesTasks`: false where no step of the run makes a task */
  constructor(
    names: LimitsNames,
    settings: {
      readonly limits: Limits;
      readonly bounds: Bounds;
      readonly makesTasks: boolean;
      readonly leaseMs: number;
    },
    ports: { readonly clock: Clock; readonly random: () => number },
    known?: KnownService,
    closings?: ClosedKinds,
  ) {
    if (closings !== undefined) {
      this.closings = closings;
      closings.onMore = () => this.#tellMore();
    }
    if (known !== undefined) {
      this.served = known.served;
      this.kinds = known.kinds;
      known.onMore = () => this.#tellMore();
    }
    const { limits, bounds, makesTasks, leaseMs } = settings;
    const { clock } = ports;
    this.#names = names;
    this.#everyMs = Math.min(mostMs, leaseMs / 3);
    this.#clock = clock;
    this.#random = ports.random;
    const wake = (): void => this.#wake();
    const of = (route: Route): RouteShare => new RouteShare(limits[route], clock, wake);
    this.moments = { submit: of('submit'), text: of('text'), poll: of('poll'), download: of('download') };
    this.tokens = new TokenShare(limits.tokens, clock, wake);
    if (makesTasks) this.rooms = new TaskShare(limits.tasks, clock, wake);
    this.allowance = new RunAllowance(bounds, clock, wake);
    this.#shares = new Map<string, Share>([
      ...Object.entries(this.moments),
      ...(limits.tokens === undefined ? [] : [['tokens', this.tokens] as const]),
      ...(this.rooms === undefined ? [] : [['tasks', this.rooms] as const]),
    ]);
    wake();
  }

  readonly onMore = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Why the database gave no answer to the last question; undefined: it answers. */
  get away(): unknown {
    return this.#away;
  }

  /** What this worker learns of the service beyond its own pace, which each worker finds for itself: all of them share the limits. */
  readonly listener: RunListener = (event) => {
    switch (event.type) {
      case 'route:pause':
        if (event.kind === undefined) this.moments[event.route].pause(event.untilMs);
        return;
      case 'request:end':
        // By chance a channel of many is full, whatever the others work on.
        if (event.route === 'submit' && event.outcome === 'queue-full' && this.#areCounted)
          this.rooms?.noteFull();
        return;
      case 'route:pace': {
        const areCounted = event.atOnce !== undefined;
        if (event.route !== 'submit' || areCounted === this.#areCounted) return;
        this.#areCounted = areCounted;
        return this.rooms?.noteFull(areCounted || null);
      }
      default:
    }
  };

  /** Asks no more, and gives back what is not in use. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    await this.#asking;
    for (const share of [...this.#shares.values(), this.allowance]) share.leave();
    // A database that is away gives to others what is left once this worker is known to be over.
    await this.#ask().catch(() => undefined);
  }

  #tellMore(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Asks soon. */
  #wake(): void {
    this.#isWoken = true;
    if (this.#asking === undefined && this.#away === undefined) this.#askIn(0);
  }

  #askIn(ms: number): void {
    if (this.#isOver) return;
    this.#cancel?.();
    const now = this.#clock.now();
    // The clock may have been set back since.
    const at = Math.max(now + ms, Math.min(this.#askedAt, now) + soonMs);
    this.#cancel = this.#clock.at(at, () => {
      this.#asking = this.#askAgain();
    });
  }

  /** One question at a time: more of them, while the engine is slow, would make it slower. */
  async #askAgain(): Promise<void> {
    const isFirst = this.#askedAt === Number.NEGATIVE_INFINITY;
    this.#isWoken = false;
    this.#askedAt = this.#clock.now();
    try {
      await this.#ask();
    } catch (error) {
      this.#away = error;
    }
    this.#asking = undefined;
    if (this.#away !== undefined) return this.#askIn(againMs);
    // Workers that ask at the same moments would be served in the same order each time.
    const nextMs = this.#everyMs * (0.9 + 0.1 * this.#random());
    this.#askIn(isFirst || this.#isWoken ? 0 : nextMs);
  }

  /** @throws what the database throws; Error where it takes this worker for dead */
  async #ask(): Promise<void> {
    const at = this.#clock.now();
    const { service, session } = this.#names;
    const asks = new Map([...this.#shares].map(([kind, share]) => [kind, share.ask(at)]));
    let rows: readonly SharesRow[];
    try {
      const needs = this.allowance.ask();
      const kinds = Object.fromEntries(asks);
      rows = await session.beat({ service, kinds, ...(needs === undefined ? {} : { needs }) });
      if (rows.length === 0) throw new Error('The session of this worker is over.');
    } catch (error) {
      this.rooms?.onUnheard(asks.get('tasks') as TasksAsk);
      throw error;
    }
    this.#away = undefined;
    const grants = rows.find((row) => row.session === session.session)?.spending ?? null;
    let isMore = this.allowance.onAnswer(at, grants);
    for (const [kind, share] of this.#shares) {
      const all = rows.flatMap((row) => rowOf(row, kind));
      const own = all.find(({ id }) => id === String(session.session));
      const others = all.filter((row) => row !== own);
      if (own !== undefined && share.onAnswer(at, own, others)) isMore = true;
    }
    this.rooms?.noteAnswer();
    for (const share of Object.values(this.moments)) share.onMore();
    if (isMore) this.#tellMore();
  }
}

function rowOf({ session, age, shares, now }: SharesRow, kind: string): readonly ShareRow[] {
  const share = shares[kind] as (ShareAsk & { readonly granted: number; readonly since: number }) | undefined;
  if (share === undefined) return [];
  const { used, want, unit, granted, since, window } = share;
  // Of a rate, as the engine reckons too.
  if (window > 0 && age > lapseMs + window) return [];
  const forMs = Math.max(0, now - since);
  return [{ id: String(session), used, want, unit, granted, forMs, isSilent: age > silentMs }];
}
