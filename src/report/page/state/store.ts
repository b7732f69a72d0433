import { Listeners } from '../source/listeners.ts';

/** A value that components subscribe to. */
export class Store<T> {
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.#listeners.call();
  }
}
