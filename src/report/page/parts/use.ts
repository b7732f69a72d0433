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

/** What a promise brings, for as long as `key` is the same; what was there before stays until then. */
export function useLoaded<T>(key: string, load: () => Promise<T>): T | undefined {
  const loaded = useRef<{ readonly key: string; readonly value: T | undefined }>({
    key: '',
    value: undefined,
  });
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    let gone = false;
    const open = async (): Promise<void> => {
      const value = await load().catch(() => undefined);
      if (gone) return;
      loaded.current = { key, value };
      redraw(0);
    };
    void open();
    return () => {
      gone = true;
    };
  }, [key]);
  return loaded.current.key === key ? loaded.current.value : undefined;
}
