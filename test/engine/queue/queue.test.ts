import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { type EngineAddress, parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { makeTables } from '../../../src/engine/postgres/make-tables.ts';
import { type EnginePool, openPool } from '../../../src/engine/postgres/pool.ts';
import { bullmqOnPostgres, checkClock } from '../../../src/engine/queue/bullmq-postgres.ts';
import { BullmqQueue, queueName } from '../../../src/engine/queue/bullmq-queue.ts';
import { LeaseQueue } from '../../../src/engine/queue/lease-queue.ts';
import type { SliceQueue } from '../../../src/engine/queue/queue.ts';
import { Refeeder } from '../../../src/engine/queue/refeed.ts';
import { engineSchema } from '../../../src/engine/schema.ts';
import { addSlices, registerRun } from '../../../src/engine/state/slices.ts';
import type { Clock } from '../../../src/run/clock.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';
import { type TestDatabase, testDatabase } from '../../rig/postgres.ts';
import { describeQueue, type QueueRig } from './contract.ts';

let database: TestDatabase;
let address: EngineAddress;
let pool: EnginePool;
let runs = 0;
const opened: SliceQueue[] = [];

beforeAll(async () => {
  database = await testDatabase();
  address = parseEngineAddress(database.url);
  pool = await openPool(address, { clock: wallClock });
  await makeTables(pool, engineSchema);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((queue) => queue.close()));
  await pool.query("UPDATE promptpress.runs SET state = 'ended'");
});
afterAll(async () => {
  await pool.close();
  await database[Symbol.asyncDispose]();
});

/** A queue of another worker. */
type Open = (worker: string, leaseMs: number) => Promise<SliceQueue>;

const rigOf = (open: Open): QueueRig => {
  const openOne = async (leaseMs: number): Promise<SliceQueue> => {
    const queue = await open(`worker-${opened.length}-${runs}`, leaseMs);
    opened.push(queue);
    return queue;
  };
  return {
    open: openOne,
    run: async (slices) => {
      runs += 1;
      const run = await registerRun(pool, `run-${runs}`);
      await addSlices(
        pool,
        run,
        slices.map((n) => ({ n, cells: '[]' })),
      );
      await (await openOne(60_000)).feed(run, slices);
      return run;
    },
    finish: async (run, slice) => {
      await pool.query('UPDATE promptpress.slices SET done = true WHERE run = $1 AND n = $2', [run, slice]);
    },
  };
};

const openLease: Open = async (worker, leaseMs) => new LeaseQueue(pool, { worker, leaseMs });
const openBullmq: Open = async (worker, leaseMs) =>
  new BullmqQueue(await bullmqOnPostgres(address, pool, { clock: wallClock, leaseMs, mayMigrate: true }), {
    worker,
    leaseMs,
    clock: wallClock,
  });

describe('the lease on the row of the slice', () => {
  describeQueue(() => rigOf(openLease));

  it('takes nothing of a run that is not open', async () => {
    const rig = rigOf(openLease);
    const run = await rig.run([1]);
    await pool.query("UPDATE promptpress.runs SET state = 'stopping' WHERE run = $1", [run]);
    expect(await (await rig.open(1000)).take(run)).toBeUndefined();
  });
});

describe('BullMQ on PostgreSQL', () => {
  describeQueue(() => rigOf(openBullmq));

  it('feeds a queue that has lost its slices again from the state, without finished slices', async () => {
    const rig = rigOf(openBullmq);
    const run = await rig.run([1, 2, 3]);
    await database.query('TRUNCATE bullmq.job CASCADE');
    const queue = await rig.open(60_000);
    expect(await queue.take(run)).toBeUndefined();
    await rig.finish(run, 2);
    const time = new VirtualTime();
    const feeder = new Refeeder(queue, pool, time.clock(), run);
    await time.pass(5000);
    await feeder.stop();
    expect(feeder.error).toBeUndefined();
    expect([await queue.take(run), await queue.take(run), await queue.take(run)]).toEqual([
      { run, slice: 1 },
      { run, slice: 3 },
      undefined,
    ]);
  });

  it('gives the slices of dead workers before those not begun', async () => {
    const rig = rigOf(openBullmq);
    const run = await rig.run([1, 2, 3, 4]);
    for (let dead = 2; dead > 0; dead -= 1) expect(await (await rig.open(100)).take(run)).toBeDefined();
    const waiting = `SELECT id FROM bullmq.job WHERE queue = '${queueName(run)}' AND state = 'waiting'`;
    await expect.poll(async () => (await database.query(waiting)).length, { timeout: 20_000 }).toBe(4);
    const queue = await rig.open(60_000);
    const taken = [];
    for (let most = 4; most > 0; most -= 1) taken.push((await queue.take(run))?.slice);
    expect(taken).toEqual([1, 2, 3, 4]);
  });

  it('keeps nothing of a removed run, and takes it up again once it is fed', async () => {
    const rig = rigOf(openBullmq);
    const [run, other] = [await rig.run([1, 2]), await rig.run([1])];
    const kept = async (): Promise<readonly unknown[]> =>
      await database.query(
        `SELECT queue FROM (SELECT queue FROM bullmq.job UNION ALL SELECT queue FROM bullmq.meta UNION ALL
           SELECT queue FROM bullmq.event) AS k WHERE queue = $1`,
        [queueName(run)],
      );
    const queue = await rig.open(60_000);
    await queue.take(run);
    expect(await kept()).not.toEqual([]);
    await queue.remove(run);
    expect(await kept()).toEqual([]);
    expect(await queue.take(other)).toEqual({ run: other, slice: 1 });
    // Whoever died while it removed the queue has left it halted.
    await queue.feed(run, [2]);
    await database.query(
      "INSERT INTO bullmq.meta (queue, field, value) VALUES ($1, 'paused', '1') ON CONFLICT (queue, field) DO UPDATE SET value = '1'",
      [queueName(run)],
    );
    await queue.feed(run, [3]);
    expect(await queue.take(run)).toEqual({ run, slice: 2 });
  });

  it('fails with a clear message where its engine becomes unavailable while its tables are created', async () => {
    await using fresh = await testDatabase();
    const engine = await openPool(parseEngineAddress(fresh.url), { clock: wallClock });
    const other = new Client({ connectionString: fresh.url });
    await other.connect();
    try {
      // Whoever else makes the schema is waited for.
      await other.query('BEGIN; CREATE SCHEMA bullmq');
      const opening = bullmqOnPostgres(parseEngineAddress(fresh.url), engine, {
        clock: wallClock,
        leaseMs: 1000,
        mayMigrate: true,
      }).catch((error: unknown) => error);
      const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'promptpress queue' AND wait_event_type = 'Lock'`;
      await expect.poll(async () => (await fresh.query(ended)).length, { timeout: 5000 }).toBe(1);
      expect(await opening).toMatchObject({ code: 'engine.away' });
    } finally {
      await other.end();
      await engine.close();
    }
  });

  it('refuses a worker whose clock differs by more than a second from the database', async () => {
    for (const offMs of [-60_000, 5000]) {
      const clock: Clock = { ...wallClock, now: () => wallClock.now() + offMs };
      await expect(
        bullmqOnPostgres(address, pool, { clock, leaseMs: 1000, mayMigrate: true }),
      ).rejects.toMatchObject({ code: 'engine.clock' });
    }
    expect(() => checkClock(900, 'engine')).not.toThrow();
  });
});
