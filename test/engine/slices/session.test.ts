import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { lockSpaces, trySessionLock } from '../../../src/engine/postgres/session-lock.ts';
import {
  beginSession,
  endDeadSessions,
  liveForMs,
  liveSessions,
} from '../../../src/engine/slices/session.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type TestEngine, testEngine } from '../state/opened.ts';

describe.skipIf(!hasPostgres)('sessions of workers', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  it('a silent worker is not gone while its connection is there; one that is gone decides nothing more', async () => {
    const { pool } = engine;
    const address = parseEngineAddress(engine.database.url);
    const run = await engine.run();
    const worker = await beginSession({ address, pool }, run, 'a worker');
    // As after a long stop.
    await engine.database.query("UPDATE promptpress.sessions SET seen = seen - interval '1 hour'");
    await endDeadSessions(pool, run, 1000);
    expect(await liveSessions(pool, run)).toBe(1);
    expect(await worker.beat()).toBe(true);

    await engine.database.query("UPDATE promptpress.sessions SET seen = seen - interval '1 hour'");
    const cut =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'promptpress lock' AND datname = current_database()";
    await engine.database.query(cut);
    await expect
      .poll(async () => {
        await endDeadSessions(pool, run, 1000);
        return await liveSessions(pool, run);
      })
      .toBe(0);
    expect(await worker.beat()).toBe(false);
    await worker.end();
  });

  it('a run knows for how long a worker of it may have been at something', async () => {
    const { pool } = engine;
    const address = parseEngineAddress(engine.database.url);
    const run = await engine.run();
    expect(await liveForMs(pool, run)).toBe(0);
    const workers = [
      await beginSession({ address, pool }, run, 'first'),
      await beginSession({ address, pool }, run, 'second'),
    ];
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
