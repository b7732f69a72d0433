import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { makeTables } from '../../../src/engine/postgres/make-tables.ts';
import { type Connection, openPool } from '../../../src/engine/postgres/pool.ts';
import { engineSchema } from '../../../src/engine/schema.ts';
import { BeatFence } from '../../../src/engine/slices/beat-fence.ts';
import { sessionOf, type WorkerSession } from '../../../src/engine/slices/session.ts';
import type { Clock } from '../../../src/run/clock.ts';
import { type TestDatabase, testDatabase } from '../postgres.ts';
import { type VirtualDatabase, VirtualTime, virtualDatabase } from './virtual-time.ts';

/** A database with what the limits need, and its own time. */
export interface LimitsDatabase extends AsyncDisposable {
  readonly time: VirtualTime;
  readonly virtual: VirtualDatabase;
  readonly url: string;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** A session of this name with a run, whose worker reaches the database so. */
  session(name: string, reach: Connection, clock: Clock, run?: number): Promise<WorkerSession>;
  /** The worker holds this slice of the run. */
  hold(run: number, slice: number, worker: string): Promise<void>;
}

/** @param serverOffMs how far the clock of the server is off */
export async function limitsDatabase(serverOffMs = 0): Promise<LimitsDatabase> {
  const database: TestDatabase = await testDatabase();
  const pool = await openPool(parseEngineAddress(database.url), { clock: wallClock, connections: 1 });
  await makeTables(pool, engineSchema);
  await pool.close();
  const time = new VirtualTime();
  const virtual = await virtualDatabase(database.url, time, serverOffMs);
  return {
    time,
    virtual,
    url: database.url,
    query: (text, values) => database.query(text, values),
    session: async (name, reach, clock, run = 1) => {
      const [row] = await database.query<{ session: string; token: string }>(
        'INSERT INTO promptpress.sessions (name, run) VALUES ($1, $2) RETURNING session, token',
        [name, run],
      );
      const ports = { pool: reach, clock };
      const { session, token } = row ?? { session: '', token: '' };
      return sessionOf(
        ports,
        { session: Number(session), token },
        new BeatFence({ clock, elapsed: () => clock.now() }, 45_000),
      );
    },
    hold: async (run, slice, worker) => {
      const insert = 'INSERT INTO promptpress.runs (run, name) OVERRIDING SYSTEM VALUE VALUES ($1, $2)';
      await database.query(`${insert} ON CONFLICT DO NOTHING`, [run, String(run)]);
      await database.query('INSERT INTO promptpress.slices (run, n, holder) VALUES ($1, $2, $3)', [
        run,
        slice,
        worker,
      ]);
    },
    [Symbol.asyncDispose]: async () => {
      await virtual[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Random numbers from a seed. */
export function seeded(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
