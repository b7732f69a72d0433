/** Calls `expire` once after `ms`; the result cancels it. */
export type Timer = (ms: number, expire: () => void) => () => void;

export const systemTimer: Timer = (ms, expire) => {
  // setTimeout takes what is longer for 1 ms.
  const timer = setTimeout(expire, Math.min(ms, 2 ** 31 - 1));
  return () => clearTimeout(timer);
};

/** Bound of one wait for the service, which stands still while the service waits for us. */
export class TimeOut {
  readonly #timer: Timer;
  readonly #elapsed: () => number;
  readonly #expire: () => void;
  #leftMs: number;
  #since = 0;
  #stop: () => void = () => undefined;

  /** @param elapsed milliseconds since whenever; only differences of it count, and it never goes back */
  constructor(ms: number, timer: Timer, elapsed: () => number, expire: () => void) {
    this.#leftMs = ms;
    this.#timer = timer;
    this.#elapsed = elapsed;
    this.#expire = expire;
    this.#start();
  }

  /** Waits without the time being counted. */
  async except(wait: Promise<void>): Promise<void> {
    this.#stop();
    this.#leftMs = Math.max(0, this.#leftMs - (this.#elapsed() - this.#since));
    try {
      await wait;
    } finally {
      this.#start();
    }
  }

  /** Begins again, with another bound. */
  restart(ms: number): void {
    this.#stop();
    this.#leftMs = ms;
    this.#start();
  }

  end(): void {
    this.#stop();
  }

  #start(): void {
    this.#since = this.#elapsed();
    this.#stop = this.#timer(this.#leftMs, this.#expire);
  }
}
