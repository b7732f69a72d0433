import type { ResultSource } from '../source/source.ts';
import { type Address, readAddress, writeAddress } from './address.ts';
import { type App, Store } from './app.ts';
import { flipMark, type Marks, readMarks, writeMarks } from './marks.ts';

/** Creates the state of the page. It is stored in the address; marks are stored in the browser. */
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
      // Always with `#`: an address without it would load the page again.
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

/** Reads from the browser's storage. It may be switched off or full; then marks last until the page is closed. */
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
    // Storage is switched off or full.
  }
}
