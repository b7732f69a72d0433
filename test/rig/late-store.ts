import type { RunStore } from '../../src/run/ports.ts';
import type { StateStore } from '../../src/state/store.ts';

/** A store that answers later, and what it was asked. */
export interface LateStore extends RunStore {
  /** Commits asked for so far. */
  readonly commits: number;
  /** The most commits that were under way at once. */
  readonly most: number;
  /** True while a commit is under way. */
  readonly isWriting: boolean;
}

/**
 * Wraps a store so that each commit, and each count, is over only some turns of the event loop later. A turn is durable at the
 * beginning of that time or at its end, by chance; an error of the store beneath comes at the end.
 *
 * @param random uniform in [0, 1)
 */
export function lateStore(
  store: StateStore,
  random: () => number,
  { maxTurns = 6 }: { readonly maxTurns?: number } = {},
): LateStore {
  const counts = { commits: 0, underWay: 0, most: 0 };
  const later = async (work: () => void): Promise<void> => {
    counts.underWay += 1;
    counts.most = Math.max(counts.most, counts.underWay);
    let outcome = random() < 0.5 ? attempt(work) : undefined;
    for (let left = Math.floor(random() * (maxTurns + 1)); left > 0; left--)
      await new Promise((resolve) => setImmediate(resolve));
    counts.underWay -= 1;
    outcome ??= attempt(work);
    if (outcome.error !== undefined) throw outcome.error;
  };
  return {
    get commits() {
      return counts.commits;
    },
    get most() {
      return counts.most;
    },
    get isWriting() {
      return counts.underWay > 0;
    },
    get: (key) => store.get(key),
    unfinished: () => store.unfinished(),
    attempts: (key) => store.attempts(key),
    claims: (record) => store.claims(record),
    totals: () => store.totals(),
    redos: store.redos,
    fact: (name) => store.fact(name),
    commit: (turn) => {
      counts.commits += 1;
      return later(() => store.commit(turn));
    },
    setFact: (name, value) => later(() => store.setFact(name, value)),
    countSubmissions: () => later(() => store.countSubmissions()),
  };
}

function attempt(work: () => void): { readonly error?: Error } {
  try {
    work();
    return {};
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
