import type { Limits } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../run/clock.ts';
import type { RunListener } from '../../run/events.ts';
import type { SharedLimits } from '../../run/ports.ts';
import type { ClosedKinds } from './closed-kinds.ts';
import type { Away, Database } from './inquiry.ts';
import type { KnownService } from './known-service.ts';
import { ServiceMoments } from './moments/service-moments.ts';
import { type Bounds, RunAllowance } from './run-allowance.ts';
import { ServiceRooms } from './service-rooms.ts';

/** Whose limits these are. */
export interface LimitsNames {
  /** The gateway and the account there: all runs that name it share its limits. */
  readonly service: string;
  /** Number of the run. */
  readonly run: number;
  /** Number of its session, as `slices.holder` names it. */
  readonly worker: string;
}

/**
 * Limits over all workers, behind the ports of a run: what this worker may do is fetched ahead, in the background. Where the database is
 * away nothing new is allowed, soon, until it is back.
 */
export class EngineLimits implements SharedLimits {
  readonly moments: NonNullable<SharedLimits['moments']>;
  readonly tokens: NonNullable<SharedLimits['tokens']>;
  /** Absent where the run makes no tasks: text calls take up no room. */
  readonly rooms?: ServiceRooms;
  readonly allowance: RunAllowance;
  /** Absent: this worker knows of its own requests alone. */
  readonly served?: NonNullable<SharedLimits['served']>;
  readonly kinds?: NonNullable<SharedLimits['kinds']>;
  /** Absent: this worker closes kinds for itself alone. */
  readonly closings?: NonNullable<SharedLimits['closings']>;
  readonly #moments: ServiceMoments;
  readonly #listeners = new Set<() => void>();
  /** The service was found to accept only so many tasks of this worker at once. */
  #areCounted = false;

  /** @param settings `makesTasks`: false where no step of the run makes a task */
  constructor(
    { service, run, worker }: LimitsNames,
    settings: { readonly limits: Limits; readonly bounds: Bounds; readonly makesTasks: boolean },
    ports: { readonly database: Database; readonly clock: Clock; readonly random: () => number },
    known?: KnownService,
    closings?: ClosedKinds,
  ) {
    const more = (): void => {
      for (const listener of this.#listeners) listener();
    };
    if (closings !== undefined) {
      this.closings = closings;
      closings.onMore = more;
    }
    if (known !== undefined) {
      this.served = known.served;
      this.kinds = known.kinds;
      known.onMore = more;
    }
    const { limits, bounds, makesTasks } = settings;
    this.#moments = new ServiceMoments(service, limits, ports, more);
    this.moments = this.#moments.routes;
    this.tokens = this.#moments.tokens;
    if (makesTasks) this.rooms = new ServiceRooms({ service, worker, limit: limits.tasks }, ports, more);
    this.allowance = new RunAllowance({ run, worker, bounds }, ports, more);
  }

  readonly onMore = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Since when the database gives no answer; undefined: it answers. */
  get away(): Away | undefined {
    return this.#moments.away ?? this.rooms?.away ?? this.allowance.away;
  }

  /** What this worker learns of the service beyond its own pace, which each worker finds for itself: all of them share the limits. */
  readonly listener: RunListener = (event) => {
    switch (event.type) {
      case 'route:pause':
        if (event.kind === undefined) this.#moments.routes[event.route].pause(event.untilMs);
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

  /** Asks no more, and gives back what is left. */
  async stop(): Promise<void> {
    await Promise.all([this.#moments.stop(), this.rooms?.stop(), this.allowance.stop()]);
  }
}
