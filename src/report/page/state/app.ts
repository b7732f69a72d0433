import { createContext } from 'preact';
import { Listeners } from '../source/listeners.ts';
import type { ResultSource } from '../source/source.ts';
import type { Address, Mark } from './address.ts';
import type { Marks } from './marks.ts';

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

/** State shared by all components of the page. */
export interface App {
  readonly source: ResultSource;
  readonly address: Store<Address>;
  /** Changes the address. With `push` the browser's Back button returns to the previous one. */
  readonly go: (change: (address: Address) => Address, how: 'push' | 'replace') => void;
  readonly marks: Store<Marks>;
  readonly flip: (job: string, mark: Mark) => void;
  /** Results selected for a comparison, in order of selection. */
  readonly selected: Store<readonly number[]>;
}

export const AppContext = createContext<App | undefined>(undefined);
