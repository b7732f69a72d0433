/** Calls `expire` once after `ms`; the result cancels it. */
export type Timer = (ms: number, expire: () => void) => () => void;

export const systemTimer: Timer = (ms, expire) => {
  // setTimeout treats a longer time as 1 ms.
  const timer = setTimeout(expire, Math.min(ms, 2 ** 31 - 1));
  return () => clearTimeout(timer);
};

/** Time limit of one wait for the service; it is paused while the service waits for us. */
export class TimeOut {
  readonly #timer: Timer;
  readonly #elapsed: () => number;
  readonly #expire: () => void;
  #leftMs: number;
  #since = 0;
  #stop: () => void = () => undefined;

  /** @param elapsed monotonic clock in ms; only differences are used */
  constructor(ms: number, timer: Timer, elapsed: () => number, expire: () => void) {
    this.#leftMs = ms;
    this.#timer = timer;
    this.#elapsed = elapsed;
    this.#expire = expire;
    this.#start();
  }

  /** Waits without counting the time. */
  async except(wait: Promise<void>): Promise<void> {
    this.#stop();
    this.#leftMs = Math.max(0, this.#leftMs - (this.#elapsed() - this.#since));
    try {
      await wait;
    } finally {
      this.#start();
    }
  }

  /** Starts again with another limit. */
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
