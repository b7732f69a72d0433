import type { Clock } from '../../run/clock.ts';

/** How far two clocks drift apart, ms a ms. */
const drift = 100e-6;

/** One measurement: the server's clock read this much more than ours, give or take the error. */
interface Measured {
  readonly offset: number;
  readonly error: number;
  readonly at: number;
}

/**
 * The clock of the database server, as each round trip measures it: the server read its clock somewhere between question and answer.
 * A quick answer tells more than a slow one, until the clocks may have drifted apart by as much.
 */
export class ServerClock {
  readonly #clock: Pick<Clock, 'now'>;
  #best: Measured | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** @param sentAt when the question left, by our clock @param server what the server's clock read, Unix ms */
  measure(sentAt: number, server: number): void {
    const at = this.#clock.now();
    const error = Math.max(0, at - sentAt) / 2;
    const offset = server - (sentAt + error);
    const best = this.#best;
    const bestError = this.#errorOf(best, at);
    // Two measurements that cannot both be right: one of the clocks was set.
    const isSet = best !== undefined && Math.abs(best.offset - offset) > bestError + error + 1;
    if (isSet || error <= bestError) this.#best = { offset, error, at };
  }

  /** How far `local` and `server` may be off, ms; infinite before the first measurement. */
  get error(): number {
    return this.#errorOf(this.#best, this.#clock.now());
  }

  /** Moment of our clock at which the server's shows this. */
  local(server: number): number {
    return server - (this.#best?.offset ?? 0);
  }

  #errorOf(measured: Measured | undefined, now: number): number {
    return measured === undefined
      ? Number.POSITIVE_INFINITY
      : measured.error + drift * Math.max(0, now - measured.at);
  }
}
