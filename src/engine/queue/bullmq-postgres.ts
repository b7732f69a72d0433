import type { PostgresConnectionOptions } from 'bullmq';
import type { Clock } from '../../run/clock.ts';
import type { EngineAddress } from '../postgres/address.ts';
import { clockAhead } from '../postgres/checks.ts';
import { EngineError, engineErrorOf } from '../postgres/engine-error.ts';
import { type EnginePool, outliveConnections, poolConfig } from '../postgres/pool.ts';
import { type BullmqPlace, type BullmqRun, queueName, queueOptions, workerOptions } from './bullmq-queue.ts';

/** Name of the database schema with the tables of BullMQ. */
const schema = 'bullmq';

/** Largest clock error of a worker, ms: BullMQ on PostgreSQL uses workers' clocks, and a larger one takes slices from live workers. */
const maxAheadMs = 1000;
/** Interval of the clock check, ms. */
const checkEveryMs = 10_000;

/** Checks the clock of a worker. @throws EngineError `engine.clock` where its error is too large for BullMQ on PostgreSQL */
export function checkClock(aheadMs: number, shown: string): void {
  if (Math.abs(aheadMs) <= maxAheadMs) return;
  const seconds = Math.round(Math.abs(aheadMs) / 100) / 10;
  throw new EngineError(
    'clock',
    `The clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the engine ${shown}: the queue would take slices from workers that are at work on them.`,
    'Set the clock of this machine or of the engine (NTP), or use `--queue lease`, which goes by the clock of the engine alone.',
  );
}

/**
 * Opens BullMQ in the engine's database.
 *
 * @param mayMigrate whether missing tables are created: a run does so, a worker never does
 * @throws EngineError
 */
export async function bullmqOnPostgres(
  address: EngineAddress,
  engine: EnginePool,
  {
    clock,
    leaseMs,
    mayMigrate,
  }: { readonly clock: Clock; readonly leaseMs: number; readonly mayMigrate: boolean },
): Promise<BullmqPlace> {
  let checkedAt = Number.NEGATIVE_INFINITY;
  const check = async (): Promise<void> => {
    if (clock.now() - checkedAt < checkEveryMs) return;
    checkClock(await clockAhead(engine, () => clock.now()), address.shown);
    checkedAt = clock.now();
  };
  await check();
  const [{ createPostgresBackend, Queue, runMigrations, Worker }, { default: pg }] = await Promise.all([
    import('bullmq'),
    import('pg'),
  ]);
  // BullMQ names its functions without their schema. One connection serves all runs.
  const pool = new pg.Pool({
    ...poolConfig(address, { name: 'promptpress queue', connections: 1 }),
    options: `-c search_path=${schema}`,
  });
  outliveConnections(pool);
  const said = (error: unknown): unknown => engineErrorOf(error, address.shown);
  if (mayMigrate)
    try {
      const client = await pool.connect();
      try {
        await runMigrations(client, schema);
      } finally {
        client.release();
      }
    } catch (error) {
      await pool.end();
      throw said(error);
    }
  // A worker would keep a connection of its own, for a name and notifications, neither of which is used here.
  const backend: typeof createPostgresBackend = (name, options) => createPostgresBackend(name, options);
  return {
    check,
    close: () => pool.end(),
    remove: (run) => removeBullmqRun(engine, run),
    open: async (run) => {
      // Each run would add listeners to the pool that nobody removes.
      const connection = {
        options: pool.options,
        connect: () => pool.connect(),
        query: (text: string, values: unknown[]) => pool.query(text, values),
        end: ignore,
        on: ignore,
      } as unknown as PostgresConnectionOptions & object;
      const worker = new Worker(queueName(run), null, { connection, ...workerOptions(leaseMs) }, backend);
      const queue = new Queue(queueName(run), { connection, ...queueOptions }, backend);
      // Each call reports its own errors; in addition there is only the repeated search for expired leases.
      worker.on('error', ignore);
      queue.on('error', ignore);
      const close = async (): Promise<void> => {
        await Promise.all([worker.close(true), queue.close()]);
      };
      try {
        await Promise.all([worker.waitUntilReady(), queue.waitUntilReady()]);
      } catch (error) {
        await close().catch(ignore);
        throw said(error);
      }
      return {
        worker: worker as unknown as BullmqRun['worker'],
        queue: queue as unknown as BullmqRun['queue'],
        close,
      };
    },
  };
}

/** Number of jobs removed at a time. */
const removedAtOnce = 1000;

/** Removes all data of BullMQ for a run in the engine's database, if there is any. @throws EngineError */
export async function removeBullmqRun(engine: EnginePool, run: number): Promise<void> {
  const { rows } = await engine.query<{ used: boolean }>('SELECT to_regclass($1) IS NOT NULL AS used', [
    `${schema}.job`,
  ]);
  if (rows[0]?.used !== true) return;
  const name = queueName(run);
  for (let left = 1; left > 0; )
    left = await engine.transaction(async (connection) => {
      // BullMQ only removes a queue that is paused.
      await connection.query(
        `INSERT INTO ${schema}.meta (queue, field, value) VALUES ($1, 'paused', '1')
         ON CONFLICT (queue, field) DO UPDATE SET value = excluded.value`,
        [name],
      );
      const removed = await connection.query<{ left: number }>(
        `SELECT ${schema}.obliterate($1, $2, true) AS left`,
        [name, removedAtOnce],
      );
      return removed.rows[0]?.left ?? 0;
    });
}

const ignore = (): void => undefined;
