import {
  type RedoAdded,
  RedoAsked,
  type RedoCounts,
  type RedoEntry,
  type RedoReader,
  type RedoRequest,
  redoStates,
} from '../../state/redo-order.ts';
import type { Connection, EnginePool } from '../postgres/pool.ts';

/** Number of keys per page. */
const page = 4096;

/** The jobs that the user wants redone (`state/redo-order.ts`): `state` is the position in the list of states. */
export const redosSchema = `
  CREATE TABLE redos (
    run   int NOT NULL,
    key   text COLLATE "C" NOT NULL,
    state smallint NOT NULL,
    asked text NOT NULL,
    PRIMARY KEY (run, key)
  );
  CREATE INDEX redos_open ON redos (run, state, key) WHERE state < 3;
`;

/** SQL: the state of the open redo order for a job `j`; null where there is none. */
export const redoColumn =
  '(SELECT o.state FROM promptpress.redos o WHERE o.run = j.run AND o.key = j.key AND o.state < 2) AS redo';

/** Returns the state of an open redo order, from {@link redoColumn}. */
export const openRedo = (state: number | null): 'waiting' | 'begun' | undefined =>
  state === 0 ? 'waiting' : state === 1 ? 'begun' : undefined;

/** Returns a reader for the redo orders of a run. */
export function redoReader(pool: Pick<EnginePool, 'query'>, run: number): RedoReader {
  return {
    counts: async () => {
      const { rows } = await pool.query<{ state: number; jobs: number }>(
        'SELECT state, count(*)::float8 AS jobs FROM promptpress.redos WHERE run = $1 AND state < 3 GROUP BY state',
        [run],
      );
      const of = (state: keyof RedoCounts): number =>
        rows.find((row) => redoStates[row.state] === state)?.jobs ?? 0;
      return { waiting: of('waiting'), begun: of('begun'), made: of('made') };
    },
    entries: (keys) => entriesOf(pool, run, keys),
    async *waiting() {
      for (let after = ''; ; ) {
        const { rows } = await pool.query<{ key: string }>(
          `SELECT key FROM promptpress.redos WHERE run = $1 AND state = 0 AND state < 3 AND key > $2 ORDER BY key LIMIT ${page}`,
          [run, after],
        );
        for (const { key } of rows) yield key;
        after = rows.at(-1)?.key ?? '';
        if (rows.length < page) return;
      }
    },
  };
}

async function entriesOf(
  connection: Pick<Connection, 'query'>,
  run: number,
  keys: readonly string[],
): Promise<ReadonlyMap<string, RedoEntry>> {
  const { rows } = await connection.query<{ key: string; state: number; asked: string }>(
    'SELECT key, state, asked FROM promptpress.redos WHERE run = $1 AND key = ANY($2)',
    [run, keys],
  );
  return new Map(rows.map(({ key, state, asked }) => [key, { state: redoStates[state] ?? 'closed', asked }]));
}

/** Returns the redo orders of a run for its coordinator, as for a state of one process. Workers read them with the records. */
export const redoOrders = (pool: EnginePool, run: number) => ({
  /** Adds an order. @throws EngineError */
  add: async (request: RedoRequest): Promise<RedoAdded> =>
    await pool.transaction(async (connection) => {
      const asked = new RedoAsked(request);
      for (const { keys, take } of asked.groups()) {
        // A worker that settles an order meanwhile waits, or is waited for.
        await connection.query(
          'SELECT FROM promptpress.redos WHERE run = $1 AND key = ANY($2) ORDER BY key FOR UPDATE',
          [run, keys],
        );
        const changed = take(await entriesOf(connection, run, keys));
        const rows = [...changed].map(([key, entry]) => ({
          key,
          asked: entry.asked,
          state: redoStates.indexOf(entry.state),
        }));
        if (rows.length === 0) continue;
        await connection.query(
          `INSERT INTO promptpress.redos AS o SELECT $1, r.key, r.state, r.asked
           FROM json_to_recordset($2) AS r(key text, state smallint, asked text) ORDER BY r.key
           ON CONFLICT (run, key) DO UPDATE SET state = excluded.state, asked = excluded.asked`,
          [run, JSON.stringify(rows)],
        );
      }
      return asked.sums;
    }),
  /** Cancels the open orders. @throws EngineError */
  cancel: async (): Promise<number> =>
    await pool.transaction(async (connection) => {
      const { rows } = await connection.query<{ jobs: number }>(
        `WITH gone AS (DELETE FROM promptpress.redos WHERE run = $1 AND state < 2 RETURNING 1)
         SELECT count(*)::float8 AS jobs FROM gone`,
        [run],
      );
      await connection.query('UPDATE promptpress.redos SET state = 3 WHERE run = $1 AND state = 2', [run]);
      return rows[0]?.jobs ?? 0;
    }),
  /** Closes the finished orders. @throws EngineError */
  close: async (): Promise<number> => {
    const { rows } = await pool.query<{ jobs: number }>(
      `WITH closed AS (
         UPDATE promptpress.redos SET state = 3 WHERE run = $1 AND state = 2
           AND asked NOT IN (SELECT asked FROM promptpress.redos WHERE run = $1 AND state < 2) RETURNING 1
       ) SELECT count(*)::float8 AS jobs FROM closed`,
      [run],
    );
    return rows[0]?.jobs ?? 0;
  },
});
