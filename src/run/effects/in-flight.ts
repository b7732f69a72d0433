import { setMaxListeners } from 'node:events';

/** The requests of a run in flight, as two kinds: free ones, which may be aborted, and paid ones. */
export class InFlight {
  /** Aborts requests that can be repeated: polls, downloads, reading the plan. */
  readonly #free = new AbortController();
  /** Aborts every request when the run leaves at once. */
  readonly #all = new AbortController();
  readonly #signals = {
    free: AbortSignal.any([this.#free.signal, this.#all.signal]),
    paid: this.#all.signal,
  } as const;
  readonly #failed: (bug: unknown) => void;
  readonly #work = { free: new Set<Promise<void>>(), paid: new Set<Promise<void>>() } as const;

  /** @param failed called with any exception thrown by the work, which is always a bug */
  constructor(failed: (bug: unknown) => void) {
    this.#failed = failed;
    // Each request waits on one of them: many listeners are no leak.
    setMaxListeners(0, this.#signals.free, this.#signals.paid);
  }

  get count(): number {
    return this.#work.free.size + this.#work.paid.size;
  }

  /** True once all requests are aborted. */
  get isOver(): boolean {
    return this.#all.signal.aborted;
  }

  /** Starts work and tracks it until it ends. */
  begin(kind: 'free' | 'paid', work: (signal: AbortSignal) => Promise<void>): void {
    const all = this.#work[kind];
    const tracked = work(this.#signals[kind])
      .catch(this.#failed)
      .finally(() => all.delete(tracked));
    all.add(tracked);
  }

  /** Waits for the paid requests until they end or the signal aborts; aborts all others at once. */
  async awaitPaid(leave: AbortSignal): Promise<void> {
    this.#free.abort();
    if (leave.aborted) return;
    const over = new AbortController();
    const left = new Promise<void>((resolve) => {
      leave.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
    });
    await Promise.race([Promise.allSettled(this.#work.paid), left]);
    over.abort();
  }

  /** Aborts all requests and waits until they have ended, so that nothing writes to the run directory after the lock is released. */
  async stop(): Promise<void> {
    this.#all.abort();
    await Promise.allSettled([...this.#work.free, ...this.#work.paid]);
  }
}
