import type { Limits } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../run/clock.ts';
import type { Route, RunListener } from '../../run/events.ts';
import type { SharedLimits } from '../../run/ports.ts';
import type { ClosedKinds } from './closed-kinds.ts';
import { type Away, type Database, Inquiry } from './inquiry.ts';
import type { KnownService } from './known-service.ts';
import { RouteShare, TokenShare } from './rate-shares.ts';
import { type Bounds, RunAllowance } from './run-allowance.ts';
import type { Heartbeat, Share, ShareAsk, ShareRow, SharesRow } from './share.ts';
import { TaskShare, type TasksAsk } from './task-share.ts';

/** A worker shows that it is there, and says what it has and wants, so often at least, ms; soon where it has begun to want something. */
const mostMs = 1000;
const soonMs = 100;
/** Who was not heard of for so long gets no part, ms. */
const silentMs = 3000;
/** What it had of a rate is over after so long and the window, ms. */
const lapseMs = 5000;

/** Whose limits these are. */
export interface LimitsNames {
  /** The gateway and the account there: all runs that name it share its limits. */
  readonly service: string;
  /** Number of the run. */
  readonly run: number;
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
  readonly #inquiry: Inquiry;
  #isFirst = true;

  /** @param settings `makesTasks`: false where no step of the run makes a task */
  constructor(
    names: LimitsNames,
    settings: {
      readonly limits: Limits;
      readonly bounds: Bounds;
      readonly makesTasks: boolean;
      readonly leaseMs: number;
    },
    ports: { readonly database: Database; readonly clock: Clock; readonly random: () => number },
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
    // One question at a time: more of them, while the engine is slow, would make it slower.
    this.#inquiry = new Inquiry(clock, () => this.#askAgain(), soonMs);
    const wake = (): void => this.#inquiry.wake();
    const of = (route: Route): RouteShare => new RouteShare(limits[route], clock, wake);
    this.moments = { submit: of('submit'), text: of('text'), poll: of('poll'), download: of('download') };
    this.tokens = new TokenShare(limits.tokens, clock, wake);
    if (makesTasks) this.rooms = new TaskShare(limits.tasks, clock, wake);
    const worker = String(names.session.session);
    this.allowance = new RunAllowance({ run: names.run, worker, bounds }, ports, () => this.#tellMore());
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

  /** Since when the database gives no answer; undefined: it answers. */
  get away(): Away | undefined {
    return this.#inquiry.away ?? this.allowance.away;
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
    await Promise.all([this.#inquiry.stop(), this.allowance.stop()]);
    for (const share of this.#shares.values()) share.leave();
    // A database that is away gives to others what is left once this worker is known to be over.
    await this.#ask().catch(() => undefined);
  }

  #tellMore(): void {
    for (const listener of this.#listeners) listener();
  }

  async #askAgain(): Promise<number> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    await this.#ask();
    // Workers that ask at the same moments would be served in the same order each time.
    return isFirst ? soonMs : this.#everyMs * (0.9 + 0.1 * this.#random());
  }

  /** @throws what the database throws; Error where it takes this worker for dead */
  async #ask(): Promise<void> {
    const at = this.#clock.now();
    const { service, session } = this.#names;
    const asks = new Map([...this.#shares].map(([kind, share]) => [kind, share.ask(at)]));
    let rows: readonly SharesRow[];
    try {
      rows = await session.beat({ service, kinds: Object.fromEntries(asks) });
      if (rows.length === 0) throw new Error('The session of this worker is over.');
    } catch (error) {
      this.rooms?.onUnheard(asks.get('tasks') as TasksAsk);
      throw error;
    }
    this.#inquiry.onAnswered();
    let isMore = false;
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
