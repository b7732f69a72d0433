import type { Limits } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../run/clock.ts';
import type { Route, RunListener } from '../../run/events.ts';
import type { SharedLimits } from '../../run/ports.ts';
import { RouteShare, TokenShare } from './rate-shares.ts';
import { type Bounds, RunAllowance } from './run-allowance.ts';
import type { Heartbeat, Share } from './share.ts';
import { TaskShare } from './task-share.ts';

/** Longest interval between heartbeats, ms. The next one comes sooner where the worker needs more. */
const maxMs = 1000;
const soonMs = 100;
/** Delay before a heartbeat without an answer is repeated, ms. */
const againMs = 500;

/**
 * Limits shared by all workers, behind the ports of a run, and the heartbeat of its session. Every second a worker reports in one statement
 * that it is alive, what it uses and what it needs, and receives its shares. Without the database, soon nothing new is allowed.
 */
export class EngineLimits implements SharedLimits {
  readonly sendTimes: Readonly<Record<Route, RouteShare>>;
  readonly tokens: TokenShare;
  /** Absent where the run makes no tasks: text calls take no task slot. */
  readonly taskSlots?: TaskShare;
  readonly allowance: RunAllowance;
  /** Why the database did not answer the last heartbeat; undefined where it did. */
  away: unknown;
  readonly #names: { readonly service: string; readonly session: Heartbeat };
  readonly #everyMs: number;
  readonly #ports: { readonly clock: Clock; readonly random: () => number };
  readonly #shares: ReadonlyMap<string, Share>;
  readonly #listeners = new Set<() => void>();
  /** True where the service was found to limit the number of this worker's tasks. */
  #areCounted = false;
  #cancel: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isWoken = false;
  #isOver = false;

  /**
   * @param names the gateway and the account there: all runs with the same name share its limits
   * @param settings `makesTasks`: false where no step of the run makes a task
   */
  constructor(
    names: { readonly service: string; readonly session: Heartbeat },
    settings: {
      readonly limits: Limits;
      readonly bounds: Bounds;
      readonly makesTasks: boolean;
      readonly leaseMs: number;
    },
    ports: { readonly clock: Clock; readonly random: () => number },
  ) {
    const { limits, bounds, makesTasks, leaseMs } = settings;
    const { clock } = ports;
    this.#names = names;
    this.#everyMs = Math.min(maxMs, leaseMs / 3);
    this.#ports = ports;
    const wake = (): void => this.#wake();
    const of = (route: Route): RouteShare => new RouteShare(limits[route], clock, wake);
    this.sendTimes = { submit: of('submit'), text: of('text'), poll: of('poll'), download: of('download') };
    this.tokens = new TokenShare(limits.tokens, clock, wake);
    if (makesTasks) this.taskSlots = new TaskShare(limits.tasks, clock, wake);
    this.allowance = new RunAllowance(bounds, clock, wake);
    this.#shares = new Map<string, Share>([
      ...Object.entries(this.sendTimes),
      ...(limits.tokens === undefined ? [] : [['tokens', this.tokens] as const]),
      ...(this.taskSlots === undefined ? [] : [['tasks', this.taskSlots] as const]),
    ]);
    wake();
  }

  readonly onMore = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Learns from events what concerns all workers that share the limits. Each worker finds its own pace. */
  readonly listener: RunListener = (event) => {
    if (event.type === 'route:pause' && event.kind === undefined)
      this.sendTimes[event.route].pause(event.untilMs);
    // A random refusal (one busy channel of many) is not a limit on tasks.
    if (
      event.type === 'request:end' &&
      event.route === 'submit' &&
      event.outcome === 'queue-full' &&
      this.#areCounted
    )
      this.taskSlots?.noteFull();
    if (event.type !== 'route:pace' || event.route !== 'submit') return;
    const areCounted = event.atOnce !== undefined;
    if (areCounted !== this.#areCounted) this.taskSlots?.noteFull(areCounted);
    this.#areCounted = areCounted;
  };

  /** Stops the heartbeat, and gives back what is not in use. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    await this.#asking;
    for (const share of [...this.#shares.values(), this.allowance]) share.leave();
    // Without the database, the rest goes to others once this worker is known to be dead.
    await this.#ask().catch(() => undefined);
  }

  /** Notifies the run that more is allowed than before. */
  tellMore(): void {
    for (const listener of this.#listeners) listener();
  }

  #wake(): void {
    this.#isWoken = true;
    if (this.#asking === undefined && this.away === undefined) this.#askIn(0);
  }

  #askIn(ms: number): void {
    if (this.#isOver) return;
    this.#cancel?.();
    const now = this.#ports.clock.now();
    // The clock may have been set back since.
    const at = Math.max(now + ms, Math.min(this.#askedAt, now) + soonMs);
    this.#cancel = this.#ports.clock.at(at, () => {
      this.#asking = this.#askAgain();
    });
  }

  /** One heartbeat at a time: more of them would slow down a slow engine. */
  async #askAgain(): Promise<void> {
    this.#isWoken = false;
    this.#askedAt = this.#ports.clock.now();
    try {
      await this.#ask();
    } catch (error) {
      this.away = error;
    }
    this.#asking = undefined;
    if (this.away !== undefined) return this.#askIn(againMs);
    // Workers that ask at the same times would always be served in the same order.
    const nextMs = this.#everyMs * (0.9 + 0.1 * this.#ports.random());
    this.#askIn(this.#isWoken ? 0 : nextMs);
  }

  /** Sends a heartbeat. @throws any error of the database; Error where it considers this worker dead */
  async #ask(): Promise<void> {
    const at = this.#ports.clock.now();
    const { service, session } = this.#names;
    const kinds = Object.fromEntries([...this.#shares].map(([kind, share]) => [kind, share.ask(at)]));
    const answer = await session.beat({ service, kinds, needs: this.allowance.ask() });
    if (answer === undefined) throw new Error('The session of this worker is over.');
    this.away = undefined;
    let isMore = this.allowance.onAnswer(at, answer.spending);
    for (const [kind, share] of this.#shares) {
      const part = answer.shares[kind];
      if (part !== undefined && share.onAnswer(at, part)) isMore = true;
    }
    for (const share of Object.values(this.sendTimes)) share.onMore();
    if (isMore) this.tellMore();
  }
}
