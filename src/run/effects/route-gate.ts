import type { Rate } from '../../pipeline/pipeline.ts';
import type { Clock } from '../clock.ts';
import { Departures } from '../limits/departures.ts';

/** A request between the gate and its end. */
interface Departure {
  /** Its first byte leaves, or leaves again. */
  readonly onLeave: () => void;
  /** It has ended, whether it left or not. */
  readonly onEnd: () => void;
}

/** Lets the requests of one route pass, one after the other, in the order in which they came. */
export class RouteGate {
  readonly #departures: Departures;
  readonly #clock: Clock;
  /** Called when a request leaves for the first time. */
  readonly #onLeft: (at: number) => void;
  readonly #waiting = new Set<() => void>();
  #cancelTimer: (() => void) | undefined;

  constructor(rate: Rate, clock: Clock, onLeft: (at: number) => void) {
    this.#departures = new Departures(rate);
    this.#clock = clock;
    this.#onLeft = onLeft;
  }

  /**
   * Waits until a request may leave; a departure: at once.
   *
   * @returns undefined where the signal ended the wait: the request must not leave
   */
  pass(signal: AbortSignal): Departure | Promise<Departure | undefined> {
    const now = this.#clock.now();
    if (this.#waiting.size === 0 && this.#departures.nextAt(now) <= now) return this.#depart(now);
    return new Promise((resolve) => {
      const end = (departure?: Departure): void => {
        this.#waiting.delete(onTurn);
        signal.removeEventListener('abort', onAbort);
        resolve(departure);
      };
      const onTurn = (): void => end(this.#depart(this.#clock.now()));
      const onAbort = (): void => {
        end();
        this.#next();
      };
      if (signal.aborted) return resolve(undefined);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(onTurn);
      this.#next();
    });
  }

  #depart(now: number): Departure {
    this.#departures.pass(now);
    let state: 'passed' | 'left' | 'ended' = 'passed';
    return {
      onLeave: () => {
        const at = this.#clock.now();
        if (state === 'passed') {
          state = 'left';
          this.#departures.leave(at);
          this.#onLeft(at);
        } else this.#departures.leaveAgain(at);
        this.#next();
      },
      onEnd: () => {
        if (state === 'passed') {
          this.#departures.withdraw();
          this.#next();
        }
        state = 'ended';
      },
    };
  }

  /** Lets pass what may, and waits for the moment of what comes after that. */
  #next(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    for (const onTurn of this.#waiting) {
      const now = this.#clock.now();
      const at = this.#departures.nextAt(now);
      if (at > now) {
        // What is under way wakes the gate when it leaves or ends.
        if (at < Number.POSITIVE_INFINITY) this.#cancelTimer = this.#clock.at(at, () => this.#next());
        return;
      }
      onTurn();
    }
  }
}
