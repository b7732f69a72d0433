import type { Clock } from '../../run/clock.ts';
import type { SendFence } from '../../run/ports.ts';

/** Leases after which a session may be declared over of which nothing was seen: not before so long a time has passed for who declares it. */
export const leasesSilent = 2;
/** Leases after the last beat that was answered in which paid requests may leave: the rest is for clocks that do not run equally fast. */
export const leasesSending = 1.5;

/** A moment, by two clocks: one may stand still while the machine sleeps, the other may be set. */
interface Moment {
  readonly elapsed: number;
  readonly wall: number;
}

/**
 * Lets paid requests leave for a while after a beat, counted from when the beat was sent: whoever else saw it, saw it later. So a
 * session that others declare over has sent nothing for some time, though it cannot reach the engine, or was stopped: whoever
 * submits its jobs again submits them alone.
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

  /** To be taken before a beat is sent. */
  moment(): Moment {
    return { elapsed: this.#elapsed(), wall: this.#clock.now() };
  }

  /** The engine has answered the beat that was sent at this moment. */
  onSeen(sent: Moment): void {
    this.#seen = sent;
    if (this.isOpen) this.#wake(true);
  }

  /** The engine has not answered: nothing may leave before the next beat, for what answers then may be an older state. */
  suspend(): void {
    this.#seen = undefined;
  }

  /** Nothing may leave any more. */
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
