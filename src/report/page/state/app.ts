import { createContext } from 'preact';
import type { ResultSource } from '../source/source.ts';
import type { Address, Mark } from './address.ts';
import type { Marks } from './marks.ts';
import type { Store } from './store.ts';

/** What all parts of the page share. */
export interface App {
  readonly source: ResultSource;
  readonly address: Store<Address>;
  /** Shows something else. `push`: the browser's Back returns from there. */
  readonly go: (change: (address: Address) => Address, how: 'push' | 'replace') => void;
  readonly marks: Store<Marks>;
  readonly flip: (job: string, mark: Mark) => void;
  /** Results that are to be compared, in the order in which they were selected. */
  readonly selected: Store<readonly number[]>;
}

export const AppContext = createContext<App | undefined>(undefined);
