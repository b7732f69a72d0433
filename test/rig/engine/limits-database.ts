import { limitsSchema } from '../../../src/engine/limits/schema.ts';
import { type TestDatabase, testDatabase } from '../postgres.ts';
import { type VirtualDatabase, VirtualTime, virtualDatabase } from './virtual-time.ts';

/** A database with what the limits need, and its own time. */
export interface LimitsDatabase extends AsyncDisposable {
  readonly time: VirtualTime;
  readonly virtual: VirtualDatabase;
  readonly url: string;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** @param serverOffMs how far the clock of the server is off */
export async function limitsDatabase(serverOffMs = 0): Promise<LimitsDatabase> {
  const database: TestDatabase = await testDatabase();
  await database.query(`
    CREATE SCHEMA promptpress;
    CREATE TABLE promptpress.slices (run int, n int, holder bigint, done bool NOT NULL DEFAULT false);
  `);
  await database.query(limitsSchema);
  const time = new VirtualTime();
  const virtual = await virtualDatabase(database.url, time, serverOffMs);
  return {
    time,
    virtual,
    url: database.url,
    query: (text, values) => database.query(text, values),
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
