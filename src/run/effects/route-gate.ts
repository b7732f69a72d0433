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

/** Requests that wait for their moment, and pass one after the other, in the order in which they came. */
export class SendQueue<Passed> {
  readonly #clock: Clock;
  readonly #nextAt: (now: number) => number;
  readonly #pass: (now: number) => Passed;
  readonly #waiting = new Set<() => void>();
  #cancelTimer: (() => void) | undefined;

  /**
   * @param nextAt when the next request may pass, Unix ms; positive infinity: once {@link next} is called
   * @param pass one passes
   */
  constructor(clock: Clock, nextAt: (now: number) => number, pass: (now: number) => Passed) {
    this.#clock = clock;
    this.#nextAt = nextAt;
    this.#pass = pass;
  }

  /** How many requests wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Waits until a request may pass; what `pass` gives: at once.
   *
   * @returns undefined where the signal ended the wait: the request must not leave
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

  /** Lets pass what may, and waits for the moment of what comes after that. */
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

/** Lets the requests of one route pass at its rate. */
export class RouteGate {
  readonly #departures: Departures;
  readonly #clock: Clock;
  /** Called when a request leaves for the first time. */
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

  /** As {@link SendQueue.pass}. */
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
