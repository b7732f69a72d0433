import {
  RedoAsked,
  type RedoChange,
  type RedoCounts,
  type RedoEntry,
  type RedoOrders,
  redoStates,
} from '../redo-order.ts';
import type { Database } from './sqlite.ts';

/** Keys per page. */
const page = 1024;

interface RedoRow {
  readonly key: string;
  readonly state: number;
  readonly asked: string;
}

/** Prepares the questions about the orders of a database, answered synchronously. */
export function redoQueries(database: Database): {
  counts(): RedoCounts;
  entries(keys: readonly string[]): ReadonlyMap<string, RedoEntry>;
  waiting(after: string): readonly string[];
} {
  const counts = database.prepare<{ state: number; jobs: number }>(
    'SELECT state, count(*) AS jobs FROM redos WHERE state < 3 GROUP BY state',
  );
  const entries = database.prepare<RedoRow>(
    'SELECT redos.key, redos.state, redos.asked FROM json_each(?) AS wanted CROSS JOIN redos ON redos.key = wanted.value',
  );
  const waiting = database.prepare<{ key: string }>(
    `SELECT key FROM redos WHERE state = 0 AND state < 3 AND key > ? ORDER BY key LIMIT ${page}`,
  );
  return {
    counts: () => {
      const found = { waiting: 0, begun: 0, made: 0 };
      for (const { state, jobs } of counts.all()) found[stateAt(state) as keyof RedoCounts] = jobs;
      return found;
    },
    entries: (keys) =>
      new Map(
        entries
          .all(JSON.stringify(keys))
          .map(({ key, state, asked }) => [key, { state: stateAt(state), asked }]),
      ),
    waiting: (after) => waiting.all(after).map(({ key }) => key),
  };
}

const stateAt = (place: number): RedoEntry['state'] => {
  const state = redoStates[place];
  if (state === undefined) throw new Error(`no state of a redo has the number ${place}`);
  return state;
};

/** The redo orders of a database that this process writes. */
export interface WrittenOrders extends RedoOrders {
  /** Applies changes within the transaction that writes the records. A job without an open order stays unchanged. */
  change(changes: ReadonlyMap<string, RedoChange>): void;
  /** Notes that the transaction of these changes is committed. */
  onChanged(changes: ReadonlyMap<string, RedoChange>): void;
}

/** @param within checks, and does its work as one transaction that deletes the facts about a finished plan */
export function redoOrders(database: Database, within: <T>(work: () => T) => T): WrittenOrders {
  const queries = redoQueries(database);
  const put = database.prepare(
    'INSERT INTO redos (key, state, asked) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET state = excluded.state, asked = excluded.asked',
  );
  const set = database.prepare('UPDATE redos SET state = ? WHERE key = ? AND state < 2');
  const drop = database.prepare('DELETE FROM redos WHERE state < 2 AND state < 3');
  const closeAll = database.prepare('UPDATE redos SET state = 3 WHERE state = 2');
  const closeDone = database.prepare(
    'UPDATE redos SET state = 3 WHERE state = 2 AND asked NOT IN (SELECT asked FROM redos WHERE state < 2)',
  );
  const open = new Map<string, 'waiting' | 'begun'>();
  const read = database.prepare<{ key: string; state: number }>(
    'SELECT key, state FROM redos WHERE state < 2 AND state < 3',
  );
  const load = (): void => {
    open.clear();
    for (const { key, state } of read.iterate()) open.set(key, state === 0 ? 'waiting' : 'begun');
  };
  load();
  return {
    of: (key) => open.get(key),
    add: (request) => {
      const asked = new RedoAsked(request);
      within(() => {
        for (const { keys, take } of asked.groups())
          for (const [key, entry] of take(queries.entries(keys)))
            put.run(key, redoStates.indexOf(entry.state), entry.asked);
      });
      load();
      return asked.sums;
    },
    cancel: () => {
      if (open.size === 0) return 0;
      const dropped = within(() => {
        const count = drop.run();
        closeAll.run();
        return count;
      });
      open.clear();
      return dropped;
    },
    close: () => (queries.counts().made === 0 ? 0 : within(() => closeDone.run())),
    change: (changes) => {
      for (const [key, state] of changes) set.run(redoStates.indexOf(state), key);
    },
    onChanged: (changes) => {
      for (const [key, state] of changes) {
        if (!open.has(key)) continue;
        if (state === 'made') open.delete(key);
        else open.set(key, state);
      }
    },
  };
}
