import { RedoAsked, type RedoEntry, type RedoOrders } from '../../src/state/redo-order.ts';

/**
 * The orders of a state in memory, with the contract of the real ones; entries are replaced and never changed.
 *
 * @param forget what is known of a finished plan
 */
export function memoryRedos(forget: () => void = () => undefined) {
  const all = new Map<string, RedoEntry>();
  const counts = () => {
    const sums = { waiting: 0, begun: 0, made: 0 };
    for (const { state } of all.values()) if (state !== 'closed') sums[state] += 1;
    return sums;
  };
  const change = (key: string, state: RedoEntry['state']): void => {
    const entry = all.get(key);
    if (entry?.state === 'waiting' || entry?.state === 'begun') all.set(key, { ...entry, state });
  };
  const orders: RedoOrders = {
    of: (key) => {
      const state = all.get(key)?.state;
      return state === 'waiting' || state === 'begun' ? state : undefined;
    },
    add: (request) => {
      forget();
      const asked = new RedoAsked(request);
      for (const { take } of asked.groups()) for (const [key, entry] of take(all)) all.set(key, entry);
      return asked.sums;
    },
    cancel: () => {
      const { waiting, begun } = counts();
      for (const [key, entry] of all)
        if (entry.state === 'made') all.set(key, { ...entry, state: 'closed' });
        else if (entry.state !== 'closed') all.delete(key);
      return waiting + begun;
    },
    close: () => {
      const left = new Set(
        [...all.values()].flatMap(({ state, asked }) =>
          state === 'waiting' || state === 'begun' ? [asked] : [],
        ),
      );
      const closed = [...all].filter(([, { state, asked }]) => state === 'made' && !left.has(asked));
      for (const [key, entry] of closed) all.set(key, { ...entry, state: 'closed' });
      return closed.length;
    },
  };
  return { ...orders, all, counts, change };
}
