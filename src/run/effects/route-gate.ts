import type { Rate } from '../../pipeline/pipeline.ts';
import type { Clock } from '../clock.ts';
import { Departures } from '../limits/departures.ts';

/** Callbacks of a request that passed the gate. */
interface Departure {
  /** Called when the first byte is sent, and again when the request is sent once more. */
  readonly onLeave: () => void;
  /** Called when the request has ended, whether it was sent or not. */
  readonly onEnd: () => void;
}

/** A queue of requests that pass one after another, first come, first served, each when the rate allows it. */
export class SendQueue<Passed> {
  readonly #clock: Clock;
  readonly #nextAt: (now: number) => number;
  readonly #pass: (now: number) => Passed;
  readonly #waiting = new Set<() => void>();
  #cancelTimer: (() => void) | undefined;

  /**
   * @param nextAt when the next request may pass, Unix ms; positive infinity: only after {@link next} is called
   * @param pass called when a request passes
   */
  constructor(clock: Clock, nextAt: (now: number) => number, pass: (now: number) => Passed) {
    this.#clock = clock;
    this.#nextAt = nextAt;
    this.#pass = pass;
  }

  /** Number of waiting requests. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Waits until the request may pass; returns at once the result of `pass` where nothing waits.
   *
   * @returns undefined where the signal ended the wait: the request must not be sent
   */
  pass(signal: AbortSignal): Passed | Promise<Passed | undefined> {
    const now = this.#clock.now();
    if (this.#waiting.size === 0 && this.#nextAt(now) <= now) return this.#pass(now);
    return new Promise((resolve) => {
      const end = (passed?: Passed): void => {
        this.#waiting.delete(onTurn);
        signal.removeEventListener('abort', onAbort);
        resolve(passed);
      };
      const onTurn = (): void => end(this.#pass(this.#clock.now()));
      const onAbort = (): void => {
        end();
        this.next();
      };
      if (signal.aborted) return resolve(undefined);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(onTurn);
      this.next();
    });
  }

  /** Lets the waiting requests pass that may, and sets a timer for the next one. */
  next(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    for (const onTurn of this.#waiting) {
      const now = this.#clock.now();
      const at = this.#nextAt(now);
      if (at > now) {
        if (at < Number.POSITIVE_INFINITY) this.#cancelTimer = this.#clock.at(at, () => this.next());
        return;
      }
      onTurn();
    }
  }
}

/** A gate that lets the requests of one route pass at its rate. */
export class RouteGate {
  readonly #departures: Departures;
  readonly #clock: Clock;
  /** Called when a request is sent for the first time. */
  readonly #onLeft: (at: number) => void;
  readonly #queue: SendQueue<Departure>;

  constructor(rate: Rate, clock: Clock, onLeft: (at: number) => void) {
    this.#departures = new Departures(rate);
    this.#clock = clock;
    this.#onLeft = onLeft;
    this.#queue = new SendQueue(
      clock,
      (now) => this.#departures.nextAt(now),
      (now) => this.#depart(now),
    );
  }

  /** Waits like {@link SendQueue.pass}. */
  pass(signal: AbortSignal): Departure | Promise<Departure | undefined> {
    return this.#queue.pass(signal);
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
        this.#queue.next();
      },
      onEnd: () => {
        if (state === 'passed') {
          this.#departures.withdraw();
          this.#queue.next();
        }
        state = 'ended';
      },
    };
  }
}
