import type { Clock } from '../../../run/clock.ts';
import type { Reserved } from './moments-question.ts';
import type { ServerClock } from './server-clock.ts';

/** How late requests have left since the database was told of it last. */
export interface Left {
  /** How late the earliest of them left at least, ms; null: none left. */
  readonly earliest: number | null;
  /** How late the latest of them left at most, ms. */
  readonly latest: number;
  /** How many of them left later than their moments are spaced for. */
  readonly later: number;
}

const nothing: Left = { earliest: null, latest: 0, later: 0 };

/**
 * How late the requests of one route leave for their moments. Moments are spaced for a lateness that is usual among all workers: only what
 * is later than that comes nearer to the requests of others.
 */
export class Lateness {
  readonly #ports: { readonly clock: Clock; readonly server: ServerClock };
  #left = nothing;

  constructor(ports: { readonly clock: Clock; readonly server: ServerClock }) {
    this.#ports = ports;
  }

  /** The request of this moment leaves. @returns by how much it is later than its moment allows, ms; 0: it is not */
  left(moment: Reserved): number {
    const { clock, server } = this.#ports;
    const now = clock.now();
    // A clock of whole milliseconds is up to one behind.
    const latest = Math.max(0, now + 1 - server.notOver(moment.at));
    const earliest = Math.max(0, now - server.begun(moment.at));
    const tooLate = Math.max(0, latest - moment.lateMs);
    this.#add({ earliest, latest, later: tooLate > 0 ? 1 : 0 });
    return tooLate;
  }

  /** What to tell, which is told once. */
  tell(): Left {
    const left = this.#left;
    this.#left = nothing;
    return left;
  }

  /** What was told may not have been heard. */
  onUnheard(told: Left): void {
    this.#add(told);
  }

  #add({ earliest, latest, later }: Left): void {
    const before = this.#left;
    this.#left = {
      earliest: earliest === null ? before.earliest : Math.min(before.earliest ?? earliest, earliest),
      latest: Math.max(before.latest, latest),
      later: before.later + later,
    };
  }
}
