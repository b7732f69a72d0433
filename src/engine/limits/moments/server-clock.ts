import type { Clock } from '../../../run/clock.ts';

/** How far two clocks drift apart, ms a ms. */
const drift = 100e-6;
/** A clock that is known to be off by no more than this is known, ms. */
const knownMs = 5;
/** After so many measurements a clock is as well known as it will be: the way to its server is long. */
const mostMeasured = 5;

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
  #measured = 0;

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
    this.#measured = isSet ? 1 : this.#measured + 1;
    if (isSet || error <= bestError) this.#best = { offset, error, at };
  }

  /** True where it is known as well as it can be. A process that begins is slow to hear its first answers. */
  get isKnown(): boolean {
    return this.error <= knownMs || this.#measured >= mostMeasured;
  }

  /** How far `local` and `server` may be off, ms; infinite before the first measurement. */
  get error(): number {
    return this.#errorOf(this.#best, this.#clock.now());
  }

  /** Moment of our clock at which the server's shows this. */
  local(server: number): number {
    return server - (this.#best?.offset ?? 0);
  }

  /** Moment of our clock at which the server's is certain to show this, as far as it is known. */
  begun(server: number): number {
    return this.local(server) + Math.min(knownMs, this.error);
  }

  /** Moment of our clock at which the server's is certain not to be past this, as far as it is known. */
  notOver(server: number): number {
    return this.local(server) - Math.min(knownMs, this.error);
  }

  #errorOf(measured: Measured | undefined, now: number): number {
    return measured === undefined
      ? Number.POSITIVE_INFINITY
      : measured.error + drift * Math.max(0, now - measured.at);
  }
}
