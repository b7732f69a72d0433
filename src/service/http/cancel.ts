/** The part of an AbortSignal that ends a request. */
export interface Cancel {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Cancels one request. An AbortController would do, but making, listening to and leaving one takes longer than all the other limits of
 * a request together.
 */
export class RequestCancel implements Cancel {
  readonly #listeners = new Set<() => void>();
  #reason: { readonly value: unknown } | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): unknown {
    return this.#reason?.value;
  }

  /** Cancels the request. Listeners are called once, in the order in which they were added. */
  abort(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = { value: reason };
    callAll(this.#listeners);
    this.#listeners.clear();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#reason === undefined) this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Returns a new AbortSignal that is aborted together with this one: `fetch` accepts nothing else. */
  toSignal(): AbortSignal {
    const controller = new AbortController();
    if (this.#reason !== undefined) controller.abort(this.#reason.value);
    else this.addEventListener('abort', () => controller.abort(this.reason));
    return controller.signal;
  }
}

/** Calls listeners as an event target does: one that has left meanwhile is skipped, and one that throws does not stop the others. */
function callAll(listeners: ReadonlySet<() => void>): void {
  for (const listener of listeners)
    try {
      listener();
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
}

interface Followers {
  readonly listeners: Set<() => void>;
  /** The listener of the signal itself. */
  readonly tell: () => void;
}

const followersOf = new WeakMap<AbortSignal, Followers>();

/**
 * Calls a listener once when the signal is aborted. One signal ends all requests of a run, and each request adds and removes a
 * listener: an event target would search through all the others each time.
 *
 * @param signal that is not aborted yet
 * @returns removes the listener; nothing stays behind at the signal after the last one
 */
export function whenAborted(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, tell } = followersOf.get(signal) ?? follow(signal);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || followersOf.get(signal)?.tell !== tell) return;
    followersOf.delete(signal);
    signal.removeEventListener('abort', tell);
  };
}

function follow(signal: AbortSignal): Followers {
  const listeners = new Set<() => void>();
  const tell = (): void => {
    callAll(listeners);
  };
  signal.addEventListener('abort', tell, { once: true });
  const followers = { listeners, tell };
  followersOf.set(signal, followers);
  return followers;
}
