import { useContext, useEffect, useReducer, useRef } from 'preact/hooks';
import { type App, AppContext, type Store } from '../state/app.ts';

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('Internal error: a part of the page stands outside of it');
  return app;
}

/** Redraws a component whenever its subscription calls back. */
export function useRedraw(subscribe: (changed: () => void) => () => void): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    // Also draws changes that came before the subscription.
    redraw(0);
    return subscribe(() => redraw(0));
  }, [subscribe]);
}

export function useStore<T>(store: Store<T>): T {
  useRedraw(store.subscribe);
  return store.value;
}

/**
 * Loads the data of a subject, for example a result, and loads it again when its version changes. The old data stays until the new data
 * is there, so that frequent updates do not make the page flicker.
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
