import type { ResultSource } from '../source/source.ts';
import { type Address, readAddress, writeAddress } from './address.ts';
import type { App } from './app.ts';
import { flipMark, type Marks, readMarks, writeMarks } from './marks.ts';
import { Store } from './store.ts';

/** The state of the page, kept in the address and, for marks, in the browser. */
export function openApp(source: ResultSource): App {
  const address = new Store<Address>(readAddress(location.hash));
  const marks = new Store<Marks>(new Map());
  const key = (): string | undefined =>
    source.summary && `promptpress marks ${source.summary.name}${source.summary.sandbox ? ' sandbox' : ''}`;
  const stop = source.subscribe(() => {
    const name = key();
    if (name === undefined) return;
    stop();
    marks.set(readMarks(stored(name)));
  });
  addEventListener('hashchange', () => address.set(readAddress(location.hash)));
  addEventListener('popstate', () => address.set(readAddress(location.hash)));
  return {
    source,
    address,
    marks,
    selected: new Store<readonly number[]>([]),
    go: (change, how) => {
      const next = change(address.value);
      const hash = writeAddress(next);
      // Always with `#`: an address without it would be the page itself, and read it again.
      if (how === 'push') history.pushState(null, '', `#${hash}`);
      else history.replaceState(null, '', `#${hash}`);
      address.set(next);
    },
    flip: (job, mark) => {
      const next = flipMark(marks.value, job, mark);
      marks.set(next);
      const name = key();
      if (name !== undefined) store(name, writeMarks(next));
    },
  };
}

/** Storage may be switched off, or full: marks then last as long as the page is open. */
function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // See above.
  }
}
