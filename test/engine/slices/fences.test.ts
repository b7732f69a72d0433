import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { LeaseQueue } from '../../../src/engine/queue/lease-queue.ts';
import { Orphans } from '../../../src/engine/queue/orphans.ts';
import { packCells } from '../../../src/engine/slices/cells.ts';
import { endLacked, noteLacks, readLacks } from '../../../src/engine/slices/lacks.ts';
import { LateFacts, noteLateFacts } from '../../../src/engine/slices/late-facts.ts';
import { beginInvocation, closeRun, endRun, runStatus, stopRun } from '../../../src/engine/slices/runs.ts';
import { beginSession, liveSessions } from '../../../src/engine/slices/session.ts';
import { SliceSource } from '../../../src/engine/slices/source.ts';
import { addSlices, takeSlice } from '../../../src/engine/state/slices.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { jobRecord } from '../../state/records.ts';
import { type TestEngine, testEngine, turnOf } from '../state/opened.ts';

const leaseMs = 60_000;

describe.skipIf(!hasPostgres)('the engine', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  const doneOf = async (run: number): Promise<readonly boolean[]> => {
    const text = 'SELECT done FROM promptpress.slices WHERE run = $1 ORDER BY n';
    return (await engine.pool.query<{ done: boolean }>(text, [run])).rows.map(({ done }) => done);
  };

  /** A source that has taken the only slice of a run. */
  async function holding(beforeEnd: () => Promise<void> = () => Promise.resolve()) {
    const { pool } = engine;
    const run = await engine.run();
    await addSlices(pool, run, [{ n: 1, cells: packCells([{ number: 1, repeat: 1, vars: {} }]) }]);
    const store = await engine.worker(run);
    const session = await beginSession({ pool, clock: wallClock }, run, { name: 'a worker', leaseMs });
    const queue = new LeaseQueue(pool, { worker: 'w', leaseMs });
    const source = new SliceSource(
      { pool, queue, store, clock: wallClock },
      { run, session, leaseMs, plan: { resolve: () => [] }, isOver: () => false, beforeEnd },
    );
    expect((await source.next(8, new AbortController().signal)).of).toMatchObject({ slice: 1, epoch: 1 });
    return { run, source, session };
  }

  it('closes no slice that another worker has taken over', async () => {
    const { run, source, session } = await holding();
    expect(await takeSlice(engine.pool, run, 1, 99)).toMatchObject({ epoch: 2 });
    source.end({ slice: 1, epoch: 1 }, 'closed');
    await source.close();
    await session.end();
    expect(await doneOf(run)).toEqual([false]);
  });

  it('closes a slice only after everything else is written, and no worker takes it again', async () => {
    const seen: unknown[] = [];
    let run = 0;
    const held = await holding(async () => {
      const { rows } = await engine.pool.query('SELECT FROM promptpress.leases_over WHERE run = $1', [run]);
      seen.push([rows.length, await doneOf(run)]);
    });
    ({ run } = held);
    held.source.end({ slice: 1, epoch: 1 }, 'closed');
    await held.source.close();
    await held.session.end();
    expect([seen, await doneOf(run)]).toEqual([[[0, [false]]], [true]]);
    expect(await takeSlice(engine.pool, run, 1, 99)).toBeUndefined();
  });

  it('opens only slices of its own run again, and for facts about the very last submission', async () => {
    const { pool } = engine;
    const [run, other] = [await engine.run(1), await engine.run(1)];
    const worker = await engine.worker(run);
    await takeSlice(pool, run, 1, worker.session);
    const doubt = jobRecord('a', 'in-doubt', { submittedAt: 18, submittedBy: '1/1', attempts: 2 });
    await worker.commit(turnOf(1, 1, [doubt]));
    await pool.query('UPDATE promptpress.slices SET done = true WHERE run = ANY ($1)', [[run, other]]);
    const late = new LateFacts(pool, run);
    const fact = { key: 'a', submittedAt: 18, submittedBy: '1/1', taskId: '7' };
    await noteLateFacts(pool, run, [
      { ...fact, submittedAt: 17 },
      { ...fact, submittedBy: '1/2' },
    ]);
    await noteLateFacts(pool, other, [fact]);
    expect([await late.feed(), await doneOf(run)]).toEqual([false, [true]]);
    await noteLateFacts(pool, run, [fact]);
    expect([await late.feed(), await doneOf(run), await doneOf(other)]).toEqual([true, [false], [true]]);
    // What it did not settle, it never will.
    expect(await late.feed()).toBe(false);
  });

  it('opens a finished slice again for a fact that came while it was held', async () => {
    const { pool } = engine;
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    await takeSlice(pool, run, 1, worker.session);
    const sent = { submittedAt: 18, submittedBy: '1/1' };
    await worker.commit(turnOf(1, 1, [jobRecord('a', 'in-doubt', { ...sent, attempts: 1 })]));
    await noteLateFacts(pool, run, [{ key: 'a', ...sent, taskId: '7' }]);
    const late = new LateFacts(pool, run);
    for (let looks = 0; looks < 3; looks += 1)
      expect([await late.feed(), await doneOf(run)]).toEqual([true, [false]]);
    // The holder had read the job before anything was heard.
    await pool.query('UPDATE promptpress.slices SET done = true WHERE run = $1', [run]);
    expect([await late.feed(), await doneOf(run)]).toEqual([true, [false]]);
    expect(await late.feed()).toBe(false);
  });

  it('opens slices with jobs below a doubt again once there is a fact about it', async () => {
    const { run, source, session } = await holding();
    const { pool } = engine;
    await addSlices(pool, run, [
      { n: 2, cells: '' },
      { n: 3, cells: '' },
    ]);
    const worker = await engine.worker(run);
    await takeSlice(pool, run, 2, worker.session);
    const doubt = jobRecord('a', 'in-doubt', { submittedAt: 18, submittedBy: '2/1', attempts: 1 });
    await worker.commit(turnOf(2, 1, [doubt]));
    source.end({ slice: 1, epoch: 1, belowDoubt: true }, 'closed');
    await source.close();
    await session.end();
    await pool.query('UPDATE promptpress.slices SET done = true WHERE run = $1', [run]);
    const late = new LateFacts(pool, run);
    expect(await late.feed()).toBe(false);
    await noteLateFacts(pool, run, [{ key: 'a', submittedAt: 18, submittedBy: '2/1', taskId: '7' }]);
    expect([await late.feed(), await doneOf(run)]).toEqual([true, [false, false, true]]);
  });

  it('opens a slice with jobs below a doubt again if it was held when the fact came', async () => {
    const { run, source, session } = await holding();
    const { pool } = engine;
    await addSlices(pool, run, [{ n: 2, cells: '' }]);
    const worker = await engine.worker(run);
    await takeSlice(pool, run, 2, worker.session);
    const doubt = jobRecord('a', 'in-doubt', { submittedAt: 18, submittedBy: '2/1', attempts: 1 });
    await worker.commit(turnOf(2, 1, [doubt]));
    const isDone = async (n: number): Promise<void> => {
      await pool.query('UPDATE promptpress.slices SET done = true WHERE run = $1 AND n = $2', [run, n]);
    };
    await isDone(2);
    const late = new LateFacts(pool, run);
    await noteLateFacts(pool, run, [{ key: 'a', submittedAt: 18, submittedBy: '2/1', taskId: '7' }]);
    expect([await late.feed(), await doneOf(run)]).toEqual([true, [false, false]]);
    await isDone(2);
    // Its cells were closed below the doubt before the fact came.
    source.end({ slice: 1, epoch: 1, belowDoubt: true }, 'closed');
    await source.close();
    await session.end();
    await isDone(1);
    expect([await late.feed(), await doneOf(run)]).toEqual([true, [false, true]]);
    await isDone(1);
    expect([await late.feed(), await doneOf(run)]).toEqual([false, [true, true]]);
  });

  it('writes nothing for an invocation that has ended, and does not end the next one', async () => {
    const { pool } = engine;
    const run = await engine.run();
    const first = await beginInvocation(pool, run, { spec: 'one', epoch: 0, bounds: {} });
    await addSlices(pool, run, [{ n: 1, cells: '' }]);
    await pool.query('UPDATE promptpress.runs SET next_slice = 2 WHERE run = $1', [run]);
    const worker = await engine.worker(run);
    await takeSlice(pool, run, 1, worker.session, first.invocation);
    await worker.commit(turnOf(1, 1, [jobRecord('a', 'running', { taskId: '7', attempts: 1 })]));
    expect(await new LeaseQueue(pool, { worker: 'dead', leaseMs }).take(run)).toEqual({ run, slice: 1 });
    await noteLacks(pool, run, worker.session, 1, [{ path: 'a.png', sha256: 'aa' }]);
    await endRun(pool, run, first.invocation);
    const { invocation } = await beginInvocation(pool, run, { spec: 'two', epoch: 0, bounds: {} });
    // Neither a lease of before nor what somebody lacked then keeps anybody from it.
    expect(await readLacks(pool, run)).toEqual([]);
    expect(await new LeaseQueue(pool, { worker: 'w', leaseMs }).take(run)).toEqual({ run, slice: 1 });
    const sent = turnOf(1, 1, [jobRecord('b', 'submitting', { attempts: 1 })]);
    expect(await worker.commit(sent)).toEqual({ refused: new Set(), lost: new Set([1]) });
    await stopRun(pool, run, first.invocation, { kind: 'interrupted', forced: false });
    await endRun(pool, run, first.invocation);
    expect(await runStatus(pool, run)).toMatchObject({ state: 'open', invocation, waiting: 1 });
  });

  it('keeps the reason why a run was stopped when its coordinator closes it', async () => {
    const { pool } = engine;
    const run = await engine.run();
    const { invocation } = await beginInvocation(pool, run, { spec: 'one', epoch: 0, bounds: {} });
    const end = { kind: 'budget', code: 'budget.cost', message: 'used up' } as const;
    await stopRun(pool, run, invocation, end);
    expect(await closeRun(pool, run, 0)).toBe(0);
    expect(await runStatus(pool, run)).toMatchObject({ state: 'ended', end });
  });

  it('ends a run for lack of a file only once every worker has lacked it long enough', async () => {
    const { pool } = engine;
    const run = await engine.run(1);
    const begin = (name: string) => beginSession({ pool, clock: wallClock }, run, { name, leaseMs });
    const [first, second] = [await begin('first'), await begin('second')];
    const { invocation } = await beginInvocation(pool, run, { spec: 'one', epoch: 0, bounds: {} });
    await addSlices(pool, run, [{ n: 2, cells: '' }]);
    const file = { path: 'a.png', sha256: 'aa' };
    const stateAfter = async (session: number): Promise<string | undefined> => {
      await noteLacks(pool, run, session, 2, [file]);
      const before = "UPDATE promptpress.lacks SET since = since - interval '61 s' WHERE session = $1";
      await pool.query(before, [session]);
      await endLacked(pool, run, invocation, 60_000);
      return (await runStatus(pool, run))?.state;
    };
    expect(await stateAfter(first.session)).toBe('open');
    await noteLacks(pool, run, second.session, 2, [file]);
    await endLacked(pool, run, invocation, 60_000);
    expect((await runStatus(pool, run))?.state).toBe('open');
    expect(await stateAfter(second.session)).toBe('stopping');
  });

  it('counts per run, without workers and left slices of another run', async () => {
    const { pool } = engine;
    const [run, other] = [await engine.run(1), await engine.run(1)];
    const [own, dead] = [
      await beginSession({ pool, clock: wallClock }, run, { name: 'a worker', leaseMs }),
      await beginSession({ pool, clock: wallClock }, other, { name: 'another', leaseMs }),
    ];
    await takeSlice(pool, other, 1, dead.session);
    await pool.query(
      "UPDATE promptpress.sessions SET started = started - interval '1 hour', seen = seen - interval '1 hour' WHERE session = $1",
      [dead.session],
    );
    // Its own slices are no orphans, however long it could not show itself.
    await takeSlice(pool, run, 1, own.session);
    await pool.query("UPDATE promptpress.sessions SET seen = seen - interval '1 hour' WHERE session = $1", [
      own.session,
    ]);
    const orphans = new Orphans({ pool, run, session: own.session }, () => 0);
    await orphans.count();
    expect([orphans.areThere, await liveSessions(pool, run)]).toEqual([false, 1]);
    await own.end();
    expect([await liveSessions(pool, run), await liveSessions(pool, other)]).toEqual([0, 1]);
    await dead.end();
  });
});
