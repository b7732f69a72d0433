import type { Clock } from '../../../run/clock.ts';
import type { ServerClock } from './server-clock.ts';

/** What a route asks of the row that all workers share. */
export interface MomentsAsk {
  readonly route: string;
  readonly per_ms: number | null;
  readonly count: number | null;
  readonly most: number;
  readonly cost: number;
  readonly credit: number;
  readonly pause_ms: number;
  readonly sent: number;
  readonly earliest: number | null;
  readonly latest: number;
  readonly later: number;
}

/** What it answers. */
export interface MomentsAnswer {
  readonly route: string;
  readonly base_ms: number | null;
  readonly spacing: number | null;
  readonly given: number;
  readonly next_at_ms: number;
  readonly now_ms: number;
  readonly late_ms: number;
}

/** A moment that is reserved for a worker, by the server's clock. */
export interface Reserved {
  readonly at: number;
  readonly cost: number;
  /** How late its request may leave: the moments after it are spaced for that, ms. */
  readonly lateMs: number;
}

/** The surroundings of a route. */
export interface MomentsPorts {
  readonly clock: Clock;
  readonly server: ServerClock;
  /** Asks the database soon. */
  readonly wake: () => void;
}
