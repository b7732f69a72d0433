import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../src/cli/adapters/clock.ts';
import { readSharedJob, settleSharedJob, unheardJobs } from '../../src/engine/doubts.ts';
import { LateFacts } from '../../src/engine/slices/late-facts.ts';
import { beginSession } from '../../src/engine/slices/session.ts';
import { addSlices, takeSlice } from '../../src/engine/state/slices.ts';
import { openEngineStore } from '../../src/engine/state/store.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import { hasPostgres } from '../rig/postgres.ts';
import { jobRecord } from '../state/records.ts';
import { type TestEngine, testEngine, turnOf } from './state/opened.ts';

const doubt = (key: string): JobRecord =>
  jobRecord(key, 'in-doubt', { submittedAt: 17, submittedBy: '1/1', attempts: 1, cost: 0.5 });

describe.skipIf(!hasPostgres)('a job in doubt that a user settles while workers are at work', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  async function inDoubt(key: string) {
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    const epoch = (await takeSlice(engine.pool, run, 1, worker.session))?.epoch ?? 0;
    await worker.commit(turnOf(1, epoch, [doubt(key)]));
    const job = await readSharedJob(engine.pool, run, key);
    if (job === undefined) throw new Error('There is no record.');
    expect(job).toMatchObject({ record: { status: 'in-doubt' }, version: { slice: 1 } });
    expect(job.sender).toBeUndefined();
    const attempts = [{ key, at: 5, outcome: 'user.retry' }];
    const settle = (record: JobRecord): Promise<boolean> =>
      settleSharedJob(engine.pool, run, job, { records: [record], attempts });
    return { run, worker, epoch, settle };
  }

  it('is not changed by the user once a worker has decided about it', async () => {
    const { worker, epoch, settle } = await inDoubt('first');
    const sent = jobRecord('first', 'submitting', { submittedAt: 18, submittedBy: '1/1', attempts: 2 });
    await worker.commit(turnOf(1, epoch, [sent], { from: worker }));
    const before = await worker.reader.totals();
    expect(await settle(jobRecord('first', 'pending', { attempts: 1 }))).toBe(false);
    expect(await worker.reader.get('first')).toEqual(sent);
    expect(await worker.reader.attempts('first')).toEqual([]);
    expect(await worker.reader.totals()).toEqual(before);
  });

  it('is changed by the user’s decision: a worker with older data submits nothing', async () => {
    const { worker, epoch, settle } = await inDoubt('second');
    const settled = jobRecord('second', 'pending', { attempts: 1 });
    expect(await settle(settled)).toBe(true);
    // A second decision from the same doubt is none.
    expect(await settle(jobRecord('second', 'failed', { attempts: 1 }))).toBe(false);
    const sent = jobRecord('second', 'submitting', { submittedAt: 18, submittedBy: '1/1', attempts: 2 });
    const { refused } = await worker.commit(turnOf(1, epoch, [sent], { from: worker }));
    expect(refused).toEqual(new Set(['second']));
    expect(worker.get('second')).toEqual(settled);
    // As the user left it, it is submitted, once.
    const again = await worker.commit(turnOf(1, epoch, [sent], { from: worker }));
    expect(again.refused).toEqual(new Set());
    expect(await worker.reader.totals()).toMatchObject({
      jobs: { submitting: 1, pending: 0, 'in-doubt': 0 },
    });
    expect(await worker.reader.attempts('second')).toHaveLength(1);
  });

  it('opens the slices with jobs below it, including one that was held during the decision', async () => {
    const { run, worker, settle } = await inDoubt('parent');
    const { pool } = engine;
    await addSlices(pool, run, [
      { n: 2, cells: '' },
      { n: 3, cells: '' },
      { n: 4, cells: '' },
    ]);
    await pool.query('UPDATE promptpress.runs SET next_slice = 5 WHERE run = $1', [run]);
    await takeSlice(pool, run, 3, worker.session);
    const close = (n: number, below: boolean): Promise<unknown> =>
      pool.query('UPDATE promptpress.slices SET done = true, below_doubt = $3 WHERE run = $1 AND n = $2', [
        run,
        n,
        below,
      ]);
    for (const [n, below] of [
      [1, false],
      [2, true],
      [4, false],
    ] as const)
      await close(n, below);
    const late = new LateFacts(pool, run);
    const waiting = async (): Promise<readonly number[]> => {
      const { rows } = await pool.query<{ n: number }>(
        'SELECT n FROM promptpress.slices WHERE run = $1 AND NOT done ORDER BY n',
        [run],
      );
      return rows.map(({ n }) => n);
    };
    expect([await late.feed(), await waiting()]).toEqual([false, [3]]);
    expect(await settle(jobRecord('parent', 'running', { attempts: 1, taskId: '42' }))).toBe(true);
    expect([await late.feed(), await waiting()]).toEqual([true, [2, 3, 5]]);
    // Its holder had looked at the job before.
    for (const n of [2, 3, 5]) await close(n, n < 5);
    expect([await late.feed(), await waiting()]).toEqual([true, [3]]);
    await close(3, true);
    expect([await late.feed(), await waiting()]).toEqual([false, []]);
  });

  it('is reported as unheard only while its worker is silent', async () => {
    const run = await engine.run(1);
    const { pool } = engine;
    const { session } = await beginSession({ pool, clock: wallClock }, run, { name: 'w', leaseMs: 30_000 });
    await takeSlice(pool, run, 1, session);
    const store = await openEngineStore(pool, { run, session, clock: wallClock });
    await store.commit(turnOf(1, 1, [jobRecord('sent', 'submitting', { submittedAt: 17, attempts: 1 })]));
    expect(await unheardJobs(pool, run)).toBeUndefined();
    await pool.query("UPDATE promptpress.sessions SET seen = seen - interval '9 s' WHERE session = $1", [
      session,
    ]);
    expect(await unheardJobs(pool, run)).toEqual({ jobs: 1, workers: ['w'], leaseMs: 30_000 });
    await pool.query('UPDATE promptpress.sessions SET over = true WHERE session = $1', [session]);
    expect(await unheardJobs(pool, run)).toBeUndefined();
  });

  it('that has a task gets a slice of its own, which a worker takes', async () => {
    const { run, worker, settle } = await inDoubt('third');
    await engine.pool.query('UPDATE promptpress.slices SET done = true WHERE run = $1', [run]);
    const { rows } = await engine.pool.query<{ next: number }>(
      'UPDATE promptpress.runs SET next_slice = 7 WHERE run = $1 RETURNING next_slice AS next',
      [run],
    );
    expect(rows).toEqual([{ next: 7 }]);
    const running = jobRecord('third', 'running', { attempts: 1, taskId: '42' });
    expect(await settle(running)).toBe(true);
    expect(await takeSlice(engine.pool, run, 7, worker.session)).toEqual({ epoch: 1, cells: '' });
    expect(await worker.left(7)).toMatchObject([{ record: running }]);
    expect(worker.others.leaseOf('third')).toMatchObject({ slice: 7, epoch: 0 });
    expect(await worker.commit(turnOf(7, 1, [{ ...running, status: 'done' }], { from: worker }))).toEqual({
      refused: new Set(),
      lost: new Set(),
    });
  });
});
