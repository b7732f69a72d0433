import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { makeTables } from '../../../src/engine/postgres/make-tables.ts';
import { type EnginePool, openPool, type PoolSettings } from '../../../src/engine/postgres/pool.ts';
import { engineSchema } from '../../../src/engine/schema.ts';
import { addSlices, openSession, registerRun } from '../../../src/engine/state/slices.ts';
import {
  type EngineStore,
  type EngineStoreOptions,
  openEngineStore,
} from '../../../src/engine/state/store.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Turn } from '../../../src/state/store.ts';
import { type TestDatabase, testDatabase } from '../../rig/postgres.ts';

/** An engine of a test file, with its tables. */
export interface TestEngine extends AsyncDisposable {
  readonly pool: EnginePool;
  readonly database: Pick<TestDatabase, 'url' | 'query'>;
  /** Another worker's connections. */
  connect(settings?: Partial<PoolSettings>): Promise<EnginePool>;
  /** A run of its own, with so many slices. */
  run(slices?: number): Promise<number>;
  /** A worker of a run. */
  worker(
    run: number,
    options?: Partial<EngineStoreOptions>,
  ): Promise<EngineStore & { readonly session: number }>;
}

/** @param url of a server that the test has to itself; absent: a database on the shared one */
export async function testEngine(url?: string): Promise<TestEngine> {
  const database = url === undefined ? await testDatabase() : undefined;
  const pools: EnginePool[] = [];
  const connect: TestEngine['connect'] = async (settings) => {
    const address = parseEngineAddress(url ?? database?.url ?? '');
    const pool = await openPool(address, { clock: wallClock, ...settings });
    pools.push(pool);
    return pool;
  };
  const pool = await connect({ connections: 8 });
  await makeTables(pool, engineSchema);
  let runs = 0;
  return {
    pool,
    database: {
      url: url ?? database?.url ?? '',
      query: async (text, values) => (await pool.query<never>(text, values)).rows,
    },
    connect,
    run: async (slices = 0) => {
      runs += 1;
      const run = await registerRun(pool, `run ${runs}`);
      await addSlices(
        pool,
        run,
        Array.from({ length: slices }, (_unused, at) => ({ n: at + 1, cells: '[]' })),
      );
      return run;
    },
    worker: async (run, options) => {
      const session = await openSession(pool, 'a worker');
      const store = await openEngineStore(pool, { run, session, clock: wallClock, ...options });
      return { ...store, session };
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(pools.map((each) => each.close()));
      await database?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * A turn of one slice.
 *
 * @param from whose knowledge of the records it was decided from; absent: nobody had written any
 */
export function turnOf(
  slice: number,
  epoch: number,
  records: readonly JobRecord[],
  { from, ...more }: Partial<Turn> & { readonly from?: Pick<EngineStore, 'others'> } = {},
): Turn {
  const known = records.flatMap(({ key }) => {
    const basis = from?.others.leaseOf(key)?.basis;
    return basis === undefined ? [] : [[key, basis] as const];
  });
  return {
    records,
    attempts: [],
    slices: {
      of: new Map(records.map(({ key }) => [key, slice])),
      epochs: new Map([[slice, epoch]]),
      basis: new Map(known),
    },
    ...more,
  };
}
