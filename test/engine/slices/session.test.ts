import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { engineError } from '../../../src/engine/postgres/engine-error.ts';
import type { Connection, EnginePool } from '../../../src/engine/postgres/pool.ts';
import type { SliceQueue } from '../../../src/engine/queue/queue.ts';
import { DeadSessions, RunCare } from '../../../src/engine/slices/dead-sessions.ts';
import { leaseRun, silentMs } from '../../../src/engine/slices/lead-lease.ts';
import { beginInvocation, endRun, runStatus } from '../../../src/engine/slices/runs.ts';
import { beginSession, every, liveSessions } from '../../../src/engine/slices/session.ts';
import { openFacts } from '../../../src/engine/state/facts.ts';
import { addSlices, passForgotten, takeSlice } from '../../../src/engine/state/slices.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { seededRandom } from '../../rig/virtual-run.ts';
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

  const begin = async (run: number, ofItsOwn = leaseMs) => {
    const ports = { pool: engine.pool, clock: wallClock };
    const session = await beginSession(ports, run, { name: 'a worker', leaseMs: ofItsOwn });
    /** Whether it is taken to be there. */
    const shows = async (): Promise<boolean> => (await session.beat()) !== undefined;
    return Object.assign(session, { shows });
  };

  /** What looks for dead sessions of a run, at moments of its own clock. */
  const looker = (run: number, pool = engine.pool) => {
    let now = 0;
    const dead = new DeadSessions(pool, run, { elapsed: () => now });
    return async (at: number): Promise<number> => {
      now = at;
      await dead.look();
      return await liveSessions(engine.pool, run);
    };
  };

  it('a worker that is silent for two leases is dead, and decides nothing more', async () => {
    const run = await engine.run();
    const liveAt = looker(run);
    const worker = await begin(run);
    await liveAt(0);
    expect(await worker.shows()).toBe(true);
    expect(await liveAt(3_600_000)).toBe(1);
    expect(await liveAt(3_601_999)).toBe(1);
    expect(worker.fence.isOpen).toBe(true);
    expect(await liveAt(3_602_000)).toBe(0);
    // A dead session that beats once more stays dead.
    expect(await worker.shows()).toBe(false);
    expect(await worker.shows()).toBe(false);
    expect(await liveSessions(engine.pool, run)).toBe(0);
    expect(worker.fence.isOpen).toBe(false);
    expect(await worker.fence.pass(new AbortController().signal)).toBe(false);
    await worker.end();
  });

  it('an open connection neither keeps a silent worker alive nor is required', async () => {
    const run = await engine.run();
    const liveAt = looker(run);
    await begin(run);
    // Of this database alone: others of the same server are those of other tests.
    const locks = `SELECT count(*)::int AS locks FROM pg_locks JOIN pg_database d ON d.oid = database
      WHERE locktype = 'advisory' AND d.datname = current_database()`;
    expect(await engine.database.query(locks)).toEqual([{ locks: 0 }]);
    await liveAt(0);
    expect(await liveAt(2000)).toBe(0);
  });

  it('a heartbeat reads the tasks of silent workers only', async () => {
    const run = await engine.run();
    const [worker, other] = [await begin(run), await begin(run)];
    const kinds = JSON.stringify({ tasks: { limit: 9, holds: 1, used: 1, want: 2, unit: 1, window: 0 } });
    const share = ({ session, token }: typeof worker, asked: number, by: Connection): Promise<unknown> =>
      by.query('SELECT FROM promptpress.share($1, $2, $3, $4, $5, NULL)', [
        session,
        token,
        'looks',
        asked,
        kinds,
      ]);
    // With each sixteenth heartbeat those are found that have left for good.
    const looks = (asked: number): Promise<number> =>
      engine.pool.transaction(async (connection) => {
        await connection.query("SET LOCAL track_functions = 'all'");
        await share(worker, asked, connection);
        const { rows } = await connection.query<{ calls: number | null }>(
          "SELECT pg_stat_get_xact_function_calls('promptpress.limits_worker_tasks(bigint)'::regprocedure)::int AS calls",
        );
        return rows[0]?.calls ?? 0;
      });
    await share(other, 1, engine.pool);
    expect(await looks(17)).toBe(0);
    await engine.pool.query(
      "UPDATE promptpress.sessions SET seen = seen - interval '11 s' WHERE session = $1",
      [other.session],
    );
    expect(await looks(33)).toBeGreaterThan(0);
  });

  it('a heartbeat that comes while others declare its session over keeps it', async () => {
    const run = await engine.run();
    const worker = await begin(run);
    const beats: boolean[] = [];
    const pool: EnginePool = {
      ...engine.pool,
      query: async (text, values) => {
        // Sessions are named that are to be declared over.
        if ((values as readonly unknown[][])[1]?.length !== 0) beats.push(await worker.shows());
        return await engine.pool.query(text, values);
      },
    };
    const liveAt = looker(run, pool);
    await liveAt(0);
    expect([await liveAt(5000), beats]).toEqual([1, [true]]);
    expect(await worker.shows()).toBe(true);
    await worker.end();
  });

  it('a worker whose engine has an older state than before decides nothing more', async () => {
    const run = await engine.run();
    const worker = await begin(run);
    expect([await worker.shows(), await worker.shows()]).toEqual([true, true]);
    await engine.database.query('UPDATE promptpress.sessions SET asked = asked - 1 WHERE session = $1', [
      worker.session,
    ]);
    expect([await worker.shows(), await worker.shows()]).toEqual([false, false]);
    expect(await worker.fence.pass(new AbortController().signal)).toBe(false);
    await worker.end();
  });

  it('a process on an older state shares no number with one that the state has forgotten', async () => {
    const { pool } = engine;
    const run = await engine.run();
    await addSlices(pool, run, [{ n: 1, cells: '' }]);
    const before = await begin(run);
    const held = await takeSlice(pool, run, 1, before.session);
    await passForgotten(pool, run);
    const after = await begin(run);
    const taken = await takeSlice(pool, run, 1, after.session);
    expect(after.session - before.session).toBeGreaterThan(1_000_000);
    expect((taken?.epoch ?? 0) - (held?.epoch ?? 0)).toBeGreaterThan(1_000_000);
    for (const worker of [before, after]) await worker.end();
  });

  it('a worker whose heartbeat was not answered sends nothing before the next one', async () => {
    const run = await engine.run();
    let isAway = false;
    const pool: EnginePool = {
      ...engine.pool,
      query: (text, values) => {
        if (isAway) throw engineError('away', 'engine');
        return engine.pool.query<never>(text, values);
      },
    };
    const worker = await beginSession({ pool, clock: wallClock }, run, { name: 'a worker', leaseMs });
    isAway = true;
    await expect(worker.beat()).rejects.toMatchObject({ code: 'engine.away' });
    expect(worker.fence.isOpen).toBe(false);
    const passes = worker.fence.pass(new AbortController().signal);
    isAway = false;
    expect([await worker.beat(), await passes]).toEqual([expect.anything(), true]);
    await worker.end();
  });

  it('the time that a heartbeat allows counts from its sending, not from its answer', async () => {
    const run = await engine.run();
    let elapsed = 0;
    const pool: EnginePool = {
      ...engine.pool,
      query: async (text, values) => {
        const found = await engine.pool.query<never>(text, values);
        elapsed += 1400;
        return found;
      },
    };
    const clock = new VirtualTime().clock();
    const ports = { pool, clock, elapsed: () => elapsed };
    const worker = await beginSession(ports, run, { name: 'far away', leaseMs });
    const shows = async (): Promise<boolean> => (await worker.beat()) !== undefined;
    expect(worker.fence.isOpen).toBe(true);
    elapsed += 100;
    expect(worker.fence.isOpen).toBe(false);
    expect(await shows()).toBe(true);
    elapsed += 99;
    expect(worker.fence.isOpen).toBe(true);
    elapsed += 1;
    expect(worker.fence.isOpen).toBe(false);
    await worker.end();
  });

  it('a worker is not silent while the engine is read-only and takes no heartbeats', async () => {
    const run = await engine.run();
    const pool = await engine.connect({ connections: 1 });
    const liveAt = looker(run, pool);
    const worker = await begin(run);
    const readOnly = (is: string) => pool.query(`SET default_transaction_read_only = ${is}`);
    await liveAt(0);
    await readOnly('on');
    for (const at of [1000, 4000])
      await expect(liveAt(at)).rejects.toMatchObject({ code: 'engine.readonly' });
    await readOnly('off');
    const live: number[] = [];
    for (const at of [5000, 6999, 7000]) live.push(await liveAt(at));
    expect(live).toEqual([1, 1, 0]);
    await worker.end();
  });

  it('a session is silent since the answer that showed it, however long that took', async () => {
    const run = await engine.run();
    let [elapsed, lasts] = [0, 1500];
    const pool: EnginePool = {
      ...engine.pool,
      query: async (text, values) => {
        const found = await engine.pool.query<never>(text, values);
        elapsed += lasts;
        return found;
      },
    };
    await begin(run);
    const dead = new DeadSessions(pool, run, { elapsed: () => elapsed });
    await dead.look();
    lasts = 0;
    elapsed = 3499;
    await dead.look();
    expect(await liveSessions(engine.pool, run)).toBe(1);
    elapsed = 3500;
    await dead.look();
    expect(await liveSessions(engine.pool, run)).toBe(0);
  });

  it('a worker with a lease of its own is given two of those, while it may send', async () => {
    const run = await engine.run();
    const liveAt = looker(run);
    const [patient, quick] = [await begin(run, 30_000), await begin(run)];
    const live: number[] = [];
    for (const at of [0, 2000, 59_999, 60_000]) live.push(await liveAt(at));
    expect(live).toEqual([2, 1, 1, 0]);
    for (const worker of [patient, quick]) await worker.end();
  });

  it('a worker decides nothing more where another session has its number after a restore', async () => {
    const run = await engine.run();
    const worker = await begin(run);
    let told = 0;
    worker.onOver(() => {
      told += 1;
    });
    expect(await worker.shows()).toBe(true);
    await engine.database.query(
      'UPDATE promptpress.sessions SET token = gen_random_uuid() WHERE session = $1',
      [worker.session],
    );
    expect([await worker.shows(), await worker.shows(), worker.isOver, told]).toEqual([
      false,
      false,
      true,
      1,
    ]);
    expect(worker.fence.isOpen).toBe(false);
    expect(await liveSessions(engine.pool, run)).toBe(1);
  });

  it('only the observer’s own elapsed time counts, without clocks that are set, after a heartbeat was seen twice', async () => {
    const run = await engine.run();
    const liveAt = looker(run);
    const worker = await begin(run);
    await liveAt(0);
    // The engine's clock is set back by an hour.
    await engine.database.query(
      "UPDATE promptpress.sessions SET seen = seen + interval '1 hour' WHERE session = $1",
      [worker.session],
    );
    expect(await liveAt(5000)).toBe(1);
    expect(await liveAt(6999)).toBe(1);
    expect(await worker.shows()).toBe(true);
    expect(await liveAt(20_000)).toBe(1);
    await worker.end();
    expect(await liveSessions(engine.pool, run)).toBe(0);
  });

  it('one process leads a run at a time, and renews its lease', async () => {
    const { pool } = engine;
    const run = await engine.run();
    const time = new VirtualTime();
    const untils = async (): Promise<string | undefined> =>
      (
        await pool.query<{ until: string }>(
          'SELECT lead_until::text AS until FROM promptpress.runs WHERE run = $1',
          [run],
        )
      ).rows[0]?.until;
    const first = await leaseRun({ pool, clock: time.clock() }, run, 'a');
    const other = await engine.connect();
    const elsewhere = leaseRun({ pool: other, clock: wallClock }, run, 'a');
    await expect(elsewhere).rejects.toMatchObject({ code: 'state.locked' });
    const before = await untils();
    await time.pass(2000);
    await expect.poll(untils).not.toBe(before);
    // Whoever waits for one that may be gone sees that it is there.
    const waits: number[] = [];
    const waiting = leaseRun({ pool: other, clock: wallClock }, run, 'a', { onWait: (ms) => waits.push(ms) });
    await expect.poll(() => waits.length).toBe(1);
    await first.renew();
    await expect(waiting).rejects.toMatchObject({ code: 'state.locked' });
    expect(waits[0]).toBeLessThanOrEqual(8000);
    await first.close();
    const second = await leaseRun({ pool: other, clock: wallClock }, run, 'a');
    expect(second.epoch).toBeGreaterThan(first.epoch);
    await second.close();
  });

  it('a new coordinator waits for the lease of a dead one, which decides nothing when it returns', async () => {
    const { pool } = engine;
    const run = await engine.run();
    const former = await engine.connect();
    const died = await leaseRun({ pool: former, clock: new VirtualTime().clock() }, run, 'a');
    const end =
      "UPDATE promptpress.runs SET lead_until = clock_timestamp() + interval '600 ms' WHERE run = $1";
    await pool.query(end, [run]);
    const next = await leaseRun({ pool, clock: wallClock }, run, 'a', { onWait: () => undefined });
    expect(await died.renew()).toBe(false);
    expect(former.troubles.lost).toMatchObject({ code: 'state.locked' });
    await died.close();
    expect(await next.renew()).toBe(true);
    const begun = { spec: 'late', bounds: {} };
    await expect(beginInvocation(former, run, { ...begun, epoch: died.epoch })).rejects.toMatchObject({
      code: 'state.locked',
    });
    await expect((await openFacts(former, run, died.epoch)).setFact('a', 'late')).rejects.toMatchObject({
      code: 'state.locked',
    });
    const { invocation } = await beginInvocation(pool, run, { ...begun, epoch: next.epoch });
    await endRun(former, run, invocation, died.epoch);
    expect(await runStatus(pool, run)).toMatchObject({ state: 'open', invocation });
    await endRun(pool, run, invocation, next.epoch);
    expect(await runStatus(pool, run)).toMatchObject({ state: 'ended' });
    await next.close();
  });

  it('a coordinator whose engine has an older state than before ends', async () => {
    const run = await engine.run();
    const pool = await engine.connect();
    const hold = await leaseRun({ pool, clock: new VirtualTime().clock() }, run, 'a');
    expect(await hold.renew()).toBe(true);
    await engine.pool.query(
      "UPDATE promptpress.runs SET lead_until = lead_until - interval '1 microsecond' WHERE run = $1",
      [run],
    );
    expect(await hold.renew()).toBe(false);
    expect(pool.troubles.lost).toMatchObject({ code: 'state.old' });
    await hold.close();
  });

  it('a coordinator renews its lease before half of it has passed, despite single failures', async () => {
    const run = await engine.run();
    const time = new VirtualTime(0);
    const renewed: number[] = [0];
    let tries = 0;
    const pool: EnginePool = {
      ...engine.pool,
      query: (text, values) =>
        time.hold(async () => {
          const isRenewal = text.includes('SET lead_until = clock_timestamp()');
          tries += Number(isRenewal);
          if (isRenewal && tries % 3 === 0) throw engineError('away', 'engine');
          const found = await engine.pool.query<never>(text, values);
          if (isRenewal) renewed.push(time.now);
          return found;
        }),
    };
    const hold = await leaseRun({ pool, clock: time.clock() }, run, 'a');
    await time.pass(120_000);
    await hold.close();
    renewed.push(120_000);
    const gaps = renewed.slice(1).map((at, index) => at - (renewed[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(silentMs / 2);
    const before = tries;
    await time.pass(60_000);
    expect(tries).toBe(before);
  });

  it('a former coordinator that releases the run takes it from nobody', async () => {
    const { pool } = engine;
    const run = await engine.run();
    const former = await engine.connect();
    const died = await leaseRun({ pool: former, clock: new VirtualTime().clock() }, run, 'a');
    await pool.query('UPDATE promptpress.runs SET lead_until = NULL WHERE run = $1', [run]);
    const next = await leaseRun({ pool, clock: new VirtualTime().clock() }, run, 'a');
    await died.close();
    await expect(leaseRun({ pool, clock: wallClock }, run, 'a')).rejects.toMatchObject({
      code: 'state.locked',
    });
    await next.close();
  });

  it('one worker of a run without a coordinator detects dead workers and feeds the queue', async () => {
    const { pool } = engine;
    const run = await engine.run();
    await addSlices(pool, run, [{ n: 1, cells: '' }]);
    await begin(run, 1);
    const hold = await leaseRun({ pool, clock: wallClock }, run, 'a');
    const time = new VirtualTime();
    const fed = [0, 0];
    const cares = fed.map((_none, at) => {
      const feed = (): Promise<void> => {
        fed[at] = (fed[at] ?? 0) + 1;
        return Promise.resolve();
      };
      const queue = { feed } as unknown as SliceQueue;
      return new RunCare({ pool, clock: time.clock(), queue }, run, `worker ${at}`, async () => undefined);
    });
    for (let look = 0; look < 3; look += 1) await time.pass(6000);
    expect([await liveSessions(pool, run), fed]).toEqual([1, [0, 0]]);
    await hold.close();
    const look = async (): Promise<number> => {
      await time.pass(6000);
      return await liveSessions(pool, run);
    };
    await expect.poll(look, { timeout: 20_000 }).toBe(0);
    expect(Math.min(...fed)).toBe(0);
    expect(Math.max(...fed)).toBeGreaterThan(0);
    // Once that one cares no more, another does.
    const [one, another] = (fed[0] ?? 0) > 0 ? [0, 1] : [1, 0];
    await cares[one]?.stop();
    await pool.query(
      "UPDATE promptpress.runs SET cared_until = cared_until - interval '12 s' WHERE run = $1",
      [run],
    );
    const fedByOther = async (): Promise<number> => {
      await time.pass(6000);
      return fed[another] ?? 0;
    };
    await expect.poll(fedByOther, { timeout: 20_000 }).toBeGreaterThan(0);
    await cares[another]?.stop();
  });

  it('a repeated call has ended once it is stopped, even if one was in flight', async () => {
    const time = new VirtualTime();
    let end: () => void = () => undefined;
    let calls = 0;
    const stop = every(time.clock(), 1000, () => {
      calls += 1;
      return new Promise((resolve) => {
        end = resolve;
      });
    });
    await time.pass(1000);
    expect(calls).toBe(1);
    let isStopped = false;
    const stopped = stop().finally(() => {
      isStopped = true;
    });
    await time.pass(10);
    expect(isStopped).toBe(false);
    end();
    await stopped;
    await time.pass(10_000);
    expect(calls).toBe(1);
  });
  it('a repeated call never runs twice at once, and comes in time, also after failures', async () => {
    const time = new VirtualTime(0);
    const random = seededRandom(7);
    const waits: [boolean, number][] = [];
    let [running, endedAt, hasFailed, calls] = [0, 0, false, 0];
    const stop = every(time.clock(), 3000, async () => {
      waits.push([hasFailed, time.now - endedAt]);
      calls += 1;
      running += 1;
      expect(running).toBe(1);
      await new Promise<void>((resolve) => {
        time.at(time.now + Math.floor(random() * 9000), resolve);
      });
      running -= 1;
      endedAt = time.now;
      hasFailed = random() < 0.5;
      if (hasFailed) throw new Error('away');
    });
    await time.pass(600_000);
    expect(calls).toBeGreaterThan(60);
    expect(new Set(waits.map(([failed, ms]) => `${failed} ${ms}`))).toEqual(
      new Set(['false 3000', 'true 1000']),
    );
    const stopped = stop();
    await time.pass(20_000);
    await stopped;
    const before = calls;
    await time.pass(60_000);
    expect(calls).toBe(before);
  });
});
