import { useContext, useEffect, useReducer, useRef } from 'preact/hooks';
import { type App, AppContext } from '../state/app.ts';
import type { Store } from '../state/store.ts';

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('Internal error: a part of the page stands outside of it');
  return app;
}

/** Draws again whenever something calls back. */
export function useRedraw(subscribe: (changed: () => void) => () => void): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    // What changed before the part stood is drawn too.
    redraw(0);
    return subscribe(() => redraw(0));
  }, [subscribe]);
}

export function useStore<T>(store: Store<T>): T {
  useRedraw(store.subscribe);
  return store.value;
}

/**
 * What is loaded of a subject, a result for example. Another version of it is loaded again; what was there before stays until then,
 * so that a page that is told of changes twice a second does not blink.
 */
export function useLoaded<T>(subject: number, version: number, load: () => Promise<T>): T | undefined {
  const loaded = useRef<{ readonly subject: number; readonly value: T | undefined } | undefined>(undefined);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    let gone = false;
    const open = async (): Promise<void> => {
      const value = await load().catch(() => undefined);
      if (gone) return;
      loaded.current = { subject, value };
      redraw(0);
    };
    void open();
    return () => {
      gone = true;
    };
  }, [subject, version]);
  return loaded.current?.subject === subject ? loaded.current.value : undefined;
}
