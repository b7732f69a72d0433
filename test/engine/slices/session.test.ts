import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { lockSpaces, trySessionLock } from '../../../src/engine/postgres/session-lock.ts';
import { LeaseQueue } from '../../../src/engine/queue/lease-queue.ts';
import { DeadSessions, RunCare } from '../../../src/engine/slices/dead-sessions.ts';
import { beginSession, liveForMs, liveSessions } from '../../../src/engine/slices/session.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type TestEngine, testEngine } from '../state/opened.ts';

const leaseMs = 1000;

describe.skipIf(!hasPostgres)('sessions of workers', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  const begin = (run: number, ofItsOwn = leaseMs) => {
    const address = parseEngineAddress(engine.database.url);
    const ports = { address, pool: engine.pool, clock: wallClock };
    return beginSession(ports, run, { name: 'a worker', leaseMs: ofItsOwn });
  };
  const cutLocks = async (): Promise<void> => {
    await engine.database.query(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'promptpress lock' AND datname = current_database()",
    );
  };

  it('a silent worker is not gone while its connection is there; one that is gone decides nothing more', async () => {
    const { pool } = engine;
    const run = await engine.run();
    let now = 0;
    const dead = new DeadSessions(pool, run, { elapsed: () => now });
    const lookAt = async (at: number): Promise<number> => {
      now = at;
      await dead.look();
      return await liveSessions(pool, run);
    };
    const worker = await begin(run);
    // As after a long stop.
    await lookAt(0);
    expect(await lookAt(3_600_000)).toBe(1);
    expect(await worker.beat()).toBe(true);
    expect(worker.fence.isOpen).toBe(true);

    await cutLocks();
    expect(await lookAt(4_000_000)).toBe(1);
    expect(await lookAt(4_001_999)).toBe(1);
    expect(await lookAt(4_002_000)).toBe(0);
    expect(await worker.beat()).toBe(false);
    expect(worker.fence.isOpen).toBe(false);
    expect(await worker.fence.pass(new AbortController().signal)).toBe(false);
    await worker.end();
  });

  it('a worker with a lease of its own is given two of those: for so long it may send', async () => {
    const { pool } = engine;
    const run = await engine.run();
    let now = 0;
    const dead = new DeadSessions(pool, run, { elapsed: () => now });
    const [patient, quick] = [await begin(run, 30_000), await begin(run)];
    await cutLocks();
    const over: number[] = [];
    for (const at of [0, 2000, 59_999, 60_000]) {
      now = at;
      await dead.look();
      over.push(await liveSessions(pool, run));
    }
    expect(over).toEqual([2, 1, 1, 0]);
    for (const worker of [patient, quick]) await worker.end();
  });

  it('only the time counts that has passed for who looks: no clock that is set, and not before a beat was seen twice', async () => {
    const { pool } = engine;
    const run = await engine.run();
    let now = 0;
    const dead = new DeadSessions(pool, run, { elapsed: () => now });
    const worker = await begin(run);
    await cutLocks();
    await dead.look();
    // The engine's clock is set by an hour.
    await engine.database.query(
      "UPDATE promptpress.sessions SET seen = seen - interval '1 hour' WHERE session = $1",
      [worker.session],
    );
    now = 5000;
    await dead.look();
    expect(await liveSessions(pool, run)).toBe(1);
    now = 6999;
    await dead.look();
    expect(await worker.beat()).toBe(true);
    // It has its connection again.
    now = 20_000;
    await dead.look();
    expect(await liveSessions(pool, run)).toBe(1);
    await worker.end();
    expect(await liveSessions(pool, run)).toBe(0);
  });

  it('a run knows for how long a worker of it may have been at something', async () => {
    const { pool } = engine;
    const run = await engine.run();
    expect(await liveForMs(pool, run)).toBe(0);
    const workers = [await begin(run), await begin(run)];
    const [first] = workers;
    await engine.database.query(
      "UPDATE promptpress.sessions SET started = started - interval '1 hour' WHERE session = $1",
      [first?.session],
    );
    expect(await liveForMs(pool, run)).toBeGreaterThanOrEqual(3_600_000);
    await first?.end();
    expect(await liveForMs(pool, run)).toBeLessThan(3_600_000);
    for (const worker of workers) await worker.end();
    expect(await liveForMs(pool, run)).toBe(0);
  });

  it('one process leads a run at a time', async () => {
    const address = parseEngineAddress(engine.database.url);
    const first = await trySessionLock(address, lockSpaces.run, 7);
    expect(first?.isHeld).toBe(true);
    expect(await trySessionLock(address, lockSpaces.run, 7)).toBeUndefined();
    await first?.close();
    const second = await trySessionLock(address, lockSpaces.run, 7);
    expect(second?.isHeld).toBe(true);
    await second?.close();
  });

  it('a lock whose connection broke is taken again, unless somebody else has it by then', async () => {
    const address = parseEngineAddress(engine.database.url);
    const lock = await trySessionLock(address, lockSpaces.run, 8);
    if (lock === undefined) throw new Error('nobody has it');
    await cutLocks();
    await expect.poll(() => lock.isHeld).toBe(false);
    expect(await lock.renew()).toBe(true);
    expect(lock.isHeld).toBe(true);
    expect(await trySessionLock(address, lockSpaces.run, 8)).toBeUndefined();
    await cutLocks();
    await expect.poll(() => lock.isHeld).toBe(false);
    const other = await trySessionLock(address, lockSpaces.run, 8);
    expect(other?.isHeld).toBe(true);
    expect(await lock.renew()).toBe(false);
    await other?.close();
    expect(await lock.renew()).toBe(true);
    await lock.close();
  });

  it('a lock is taken again from a connection of its own that the server still takes for alive', async () => {
    const { hostname, port } = new URL(engine.database.url);
    const ends: Socket[] = [];
    // Of a connection through here, the client's end can be closed alone.
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const to = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      ends.push(client);
      client.on('data', (data) => to.write(data));
      to.on('data', (data) => client.write(data));
      client.on('end', () => to.end());
      to.on('end', () => client.end());
      for (const end of [client, to]) end.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const through = new URL(engine.database.url);
    through.port = String((server.address() as AddressInfo).port);
    const lock = await trySessionLock(parseEngineAddress(through.href), lockSpaces.run, 9);
    ends[0]?.destroy();
    await expect.poll(() => lock?.isHeld).toBe(false);
    // The server knows nothing of it.
    const address = parseEngineAddress(engine.database.url);
    expect(await trySessionLock(address, lockSpaces.run, 9)).toBeUndefined();
    expect(await lock?.renew()).toBe(true);
    await lock?.close();
    for (const end of ends) end.destroy();
    server.close();
  });

  it('the workers of a run that nobody leads find out who is gone', async () => {
    const { pool } = engine;
    const run = await engine.run();
    const address = parseEngineAddress(engine.database.url);
    const queue = new LeaseQueue(pool, { worker: 'w', leaseMs: 1 });
    await begin(run, 1);
    await cutLocks();
    const leader = await trySessionLock(address, lockSpaces.run, run);
    const time = new VirtualTime();
    const care = new RunCare({ pool, clock: time.clock(), queue }, run);
    for (let look = 0; look < 3; look += 1) await time.pass(6000);
    expect(await liveSessions(pool, run)).toBe(1);
    await leader?.close();
    await expect
      .poll(
        async () => {
          await time.pass(6000);
          return await liveSessions(pool, run);
        },
        { timeout: 20_000 },
      )
      .toBe(0);
    await care.stop();
  });
});
