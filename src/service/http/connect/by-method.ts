import { Dispatcher } from 'undici';
import { forwarded } from './forwarded.ts';
import type { ProxyFor } from './proxies.ts';

/** Sends POST requests through one dispatcher and all others through another, by a proxy if need be; closes both. */
export class ByMethod extends Dispatcher {
  readonly #posts: Dispatcher;
  readonly #others: Dispatcher;

  readonly #proxyFor: ProxyFor;

  constructor(posts: Dispatcher, others: Dispatcher, proxyFor: ProxyFor = () => undefined) {
    super();
    this.#proxyFor = proxyFor;
    this.#posts = posts;
    this.#others = others;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const dispatcher = options.method === 'POST' ? this.#posts : this.#others;
    return dispatcher.dispatch(...forwarded(options, handler, this.#proxyFor));
  }

  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | void {
    const closed = both(this.#posts.close(), this.#others.close());
    return callback === undefined ? closed : void tell(closed, callback);
  }

  override destroy(): Promise<void>;
  override destroy(error: Error | null): Promise<void>;
  override destroy(callback: () => void): void;
  override destroy(error: Error | null, callback: () => void): void;
  override destroy(given?: Error | null | (() => void), then?: () => void): Promise<void> | void {
    const [error, callback] = typeof given === 'function' ? [null, given] : [given ?? null, then];
    const destroyed = both(this.#posts.destroy(error), this.#others.destroy(error));
    return callback === undefined ? destroyed : void tell(destroyed, callback);
  }
}

async function both(one: Promise<void>, other: Promise<void>): Promise<void> {
  await Promise.all([one, other]);
}

/** Reports an end as undici's dispatchers do: a callback gets the error. Errors of the callback itself are not taken for rejections. */
async function tell(ended: Promise<void>, callback: (...error: readonly unknown[]) => void): Promise<void> {
  const [result] = await Promise.allSettled([ended]);
  queueMicrotask(() => (result.status === 'rejected' ? callback(result.reason) : callback()));
}
