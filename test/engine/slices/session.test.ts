import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { lockSpaces, trySessionLock } from '../../../src/engine/postgres/session-lock.ts';
import { DeadSessions } from '../../../src/engine/slices/dead-sessions.ts';
import { beginSession, liveForMs, liveSessions } from '../../../src/engine/slices/session.ts';
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

  const begin = (run: number) => {
    const address = parseEngineAddress(engine.database.url);
    return beginSession({ address, pool: engine.pool, clock: wallClock }, run, { name: 'a worker', leaseMs });
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
    const dead = new DeadSessions(pool, run, { leaseMs, elapsed: () => now });
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

  it('only the time counts that has passed for who looks: no clock that is set, and not before a beat was seen twice', async () => {
    const { pool } = engine;
    const run = await engine.run();
    let now = 0;
    const dead = new DeadSessions(pool, run, { leaseMs, elapsed: () => now });
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
});
