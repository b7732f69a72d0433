/** The part of an AbortSignal that ends a request. */
export interface Cancel {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Ends one request. An AbortController would do, but takes longer to make, to listen to and to leave than the rest of what bounds
 * a request.
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

  /** Listeners are called once, in the order in which they came. */
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

  /** A new AbortSignal that is aborted with it: `fetch` takes nothing else. */
  toSignal(): AbortSignal {
    const controller = new AbortController();
    if (this.#reason !== undefined) controller.abort(this.#reason.value);
    else this.addEventListener('abort', () => controller.abort(this.reason));
    return controller.signal;
  }
}

/** As an event target does: one that leaves meanwhile is not called, and one that throws keeps none of the others from being called. */
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

/** What follows one signal. */
interface Followers {
  readonly listeners: Set<() => void>;
  /** The listener of the signal itself. */
  readonly tell: () => void;
}

const followersOf = new WeakMap<AbortSignal, Followers>();

/**
 * Calls a listener once when the signal is aborted. One signal ends all requests of a run, and a listener comes and goes with each of
 * them: an event target would look through all the others each time.
 *
 * @param signal that was not aborted yet
 * @returns leaves it; nothing stays behind at the signal when the last one has left
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
