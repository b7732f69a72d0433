import type { Clock } from '../../run/clock.ts';
import type { SendFence } from '../../run/ports.ts';

/** Number of leases without a heartbeat after which another process may declare a session over. */
export const leasesSilent = 2;
/** Number of leases after the last answered heartbeat in which paid requests may be sent; the rest allows for clocks of different speed. */
export const leasesSending = 1.5;

/** A time on two clocks: one may stop while the machine sleeps, the other may be set. */
interface Moment {
  readonly elapsed: number;
  readonly wall: number;
}

/**
 * Lets paid requests be sent for a limited time after a heartbeat, counted from its sending: every other process saw it later. So a session
 * that others declare over has sent nothing for some time, even if it cannot reach the engine or was stopped, and its jobs can be submitted
 * again without a duplicate.
 */
export class BeatFence implements SendFence {
  readonly #clock: Clock;
  readonly #elapsed: () => number;
  readonly #openMs: number;
  #seen: Moment | undefined;
  #isClosed = false;
  readonly #waiting = new Set<(mayLeave: boolean) => void>();

  constructor({ clock, elapsed }: { readonly clock: Clock; readonly elapsed: () => number }, openMs: number) {
    this.#clock = clock;
    this.#elapsed = elapsed;
    this.#openMs = openMs;
  }

  /** Returns the current time, to be taken before a heartbeat is sent. */
  moment(): Moment {
    return { elapsed: this.#elapsed(), wall: this.#clock.now() };
  }

  /** Notes that the engine has answered the heartbeat sent at this time. */
  onSeen(sent: Moment): void {
    this.#seen = sent;
    if (this.isOpen) this.#wake(true);
  }

  /** Closes the fence until the next heartbeat, after an unanswered one: the engine that answers then may have an older state. */
  suspend(): void {
    this.#seen = undefined;
  }

  /** Closes the fence for good. */
  close(): void {
    this.#isClosed = true;
    this.#wake(false);
  }

  get isOpen(): boolean {
    if (this.#isClosed || this.#seen === undefined) return false;
    const { elapsed, wall } = this.moment();
    return Math.max(elapsed - this.#seen.elapsed, wall - this.#seen.wall) < this.#openMs;
  }

  pass(signal: AbortSignal): undefined | Promise<boolean> {
    if (this.isOpen) return undefined;
    if (this.#isClosed || signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (mayLeave: boolean): void => {
        this.#waiting.delete(end);
        signal.removeEventListener('abort', onAbort);
        resolve(mayLeave);
      };
      const onAbort = (): void => end(false);
      this.#waiting.add(end);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #wake(mayLeave: boolean): void {
    for (const end of this.#waiting) end(mayLeave);
  }
}
