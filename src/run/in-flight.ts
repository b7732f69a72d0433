/** The work of a run that is under way, told apart by whether the run may walk out on it. */
export class InFlight {
  /** Aborts what can be done again: looks, downloads, reading the plan. */
  readonly #free = new AbortController();
  /** Aborts every request when the run leaves at once. */
  readonly #all = new AbortController();
  readonly #signals = {
    free: AbortSignal.any([this.#free.signal, this.#all.signal]),
    paid: this.#all.signal,
  } as const;
  readonly #failed: (bug: unknown) => void;
  readonly #work = { free: new Set<Promise<void>>(), paid: new Set<Promise<void>>() } as const;

  /** @param failed is told of an exception in the work, which is a bug and never passes silently */
  constructor(failed: (bug: unknown) => void) {
    this.#failed = failed;
  }

  /** True once nothing of it is wanted any more. */
  get isOver(): boolean {
    return this.#all.signal.aborted;
  }

  /** Begins work, and keeps hold of it. */
  begin(kind: 'free' | 'paid', work: (signal: AbortSignal) => Promise<void>): void {
    const all = this.#work[kind];
    const tracked = work(this.#signals[kind])
      .catch(this.#failed)
      .finally(() => all.delete(tracked));
    all.add(tracked);
  }

  /** Waits for what is paid, and for nothing else; until the signal. */
  async hearPaid(leave: AbortSignal): Promise<void> {
    this.#free.abort();
    if (leave.aborted) return;
    const heard = new AbortController();
    const left = new Promise<void>((resolve) => {
      leave.addEventListener('abort', () => resolve(), { once: true, signal: heard.signal });
    });
    await Promise.race([Promise.allSettled(this.#work.paid), left]);
    heard.abort();
  }

  /** Aborts all of it, and waits until it has ended: nothing may write to the run directory once its owner has let go of it. */
  async stop(): Promise<void> {
    this.#all.abort();
    await Promise.allSettled([...this.#work.free, ...this.#work.paid]);
  }
}
