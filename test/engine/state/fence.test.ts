import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endHold, endSession, takeSlice } from '../../../src/engine/state/slices.ts';
import type { EngineStore } from '../../../src/engine/state/store.ts';
import type { JobStatus } from '../../../src/plan/job.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { jobRecord } from '../../state/records.ts';
import { type TestEngine, testEngine, turnOf } from './opened.ts';

const nothing = { refused: new Set(), lost: new Set() };

describe.skipIf(!hasPostgres)('commits of several workers', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  type Worker = EngineStore & { readonly session: number };

  /** A run with as many workers as slices, each of which holds the slice of its number, from 1. */
  async function working(count: number): Promise<{ run: number; workers: readonly Worker[] }> {
    const run = await engine.run(count);
    const workers: Worker[] = [];
    for (let n = 1; n <= count; n += 1) {
      const worker = await engine.worker(run);
      expect(await takeSlice(engine.pool, run, n, worker.session)).toEqual({ epoch: 1, cells: '[]' });
      workers.push(worker);
    }
    return { run, workers };
  }

  it('writes nothing of a slice that was taken over, and all the rest', async () => {
    const { run, workers } = await working(2);
    const [old, next] = workers as [Worker, Worker];
    const sent = jobRecord('a', 'submitting', { submittedAt: 17, submittedBy: '1/1', attempts: 1 });
    expect(await old.commit(turnOf(1, 1, [sent]))).toEqual(nothing);
    expect(await takeSlice(engine.pool, run, 1, next.session)).toMatchObject({ epoch: 2 });
    expect(await takeSlice(engine.pool, run, 2, old.session)).toMatchObject({ epoch: 2 });

    const committed = await old.commit({
      records: [jobRecord('a', 'running', { taskId: '7' }), jobRecord('b', 'submitting')],
      attempts: [
        { key: 'a', at: 1, outcome: 'accepted', taskId: '7' },
        { key: 'b', at: 2, outcome: 'sent' },
      ],
      slices: {
        of: new Map([
          ['a', 1],
          ['b', 2],
        ]),
        epochs: new Map([
          [1, 1],
          [2, 2],
        ]),
        basis: new Map(),
      },
      heard: [
        { key: 'a', submittedAt: 17, submittedBy: '1/1', taskId: '7' },
        // Another worker may decide in the very same millisecond.
        { key: 'a', submittedAt: 17, submittedBy: '1/2' },
      ],
    });
    expect(committed).toEqual({ refused: new Set(), lost: new Set([1]) });
    expect(old.get('a')).toEqual(sent);
    expect(await old.reader.get('a')).toEqual(sent);
    expect(await old.reader.attempts('a')).toEqual([]);
    expect(await old.reader.attempts('b')).toEqual([{ key: 'b', at: 2, outcome: 'sent' }]);
    expect(await old.reader.totals()).toMatchObject({ jobs: { submitting: 2, running: 0 }, attempts: 1 });

    // What was heard all the same is a fact, and whoever takes the slice is told of it.
    const heard = { key: 'a', submittedAt: 17, submittedBy: '1/1', taskId: '7' };
    expect(await next.others.look(['a', 'b'])).toEqual([heard]);
    expect(await next.left(1)).toEqual([{ record: sent, sender: `${old.session}/1/1`, heard }]);
    // The word of the service outweighs a later "it never left".
    await old.commit({
      records: [],
      attempts: [],
      heard: [{ key: 'a', submittedAt: 17, submittedBy: '1/1' }],
    });
    expect(await next.others.look(['a'])).toEqual([heard]);
  });

  it('makes a takeover wait for a commit under way, and that commit is there when it is over', async () => {
    const { run, workers } = await working(1);
    const [old] = workers as [Worker];
    let finish: () => void = () => undefined;
    const underWay = new Promise<void>((resolve) => {
      finish = resolve;
    });
    // A transaction that has committed nothing yet holds the slice, as a commit does.
    const slow = engine.pool.transaction(async (connection) => {
      await connection.query('SELECT FROM promptpress.slices WHERE run = $1 AND n = 1 FOR SHARE', [run]);
      await connection.query("SELECT set_config('application_name', 'slow', true)");
      await underWay;
    });
    const order: string[] = [];
    const commit = old
      .commit(turnOf(1, 1, [jobRecord('a', 'submitting')]))
      .then((done) => order.push('commit') && done);
    await commit;
    const taken = takeSlice(engine.pool, run, 1, 99).then((slice) => order.push('taken') && slice);
    await expect
      .poll(() =>
        engine.database.query(
          "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
        ),
      )
      .toEqual([{ waiting: 1 }]);
    order.push('over');
    finish();
    await slow;
    expect(await taken).toMatchObject({ epoch: 2 });
    expect(order).toEqual(['commit', 'over', 'taken']);
    expect(await old.commit(turnOf(1, 1, [jobRecord('b', 'submitting')]))).toEqual({
      refused: new Set(),
      lost: new Set([1]),
    });
    expect(old.get('b')).toBeUndefined();
  });

  it('gives an equal job to the slice that writes it first, and shows the others its record', async () => {
    const { workers } = await working(4);
    const commits = await Promise.all(
      workers.map((worker, at) =>
        worker.commit(
          turnOf(at + 1, 1, [jobRecord(`own-${at}`, 'submitting'), jobRecord('equal', 'submitting')]),
        ),
      ),
    );
    expect(commits.filter(({ refused }) => refused.size === 0)).toHaveLength(1);
    const winner = commits.findIndex(({ refused }) => refused.size === 0) + 1;
    for (const [at, worker] of workers.entries()) {
      expect(worker.others.holdOf('equal')?.slice).toBe(winner);
      expect(worker.others.holdOf(`own-${at}`)?.slice).toBe(at + 1);
    }
    expect((await workers[0]?.reader.totals())?.jobs.submitting).toBe(5);
  });

  const resting: readonly JobStatus[] = ['pending', 'modal', 'done', 'failed', 'in-doubt'];
  it.each(['pending', 'submitting', 'running', 'modal', 'saving', 'done', 'failed', 'in-doubt'] as const)(
    'lets another slice go on from a job that is %s only where that rests',
    async (status) => {
      const { workers } = await working(2);
      const [one, two] = workers as [Worker, Worker];
      await one.commit(turnOf(1, 1, [jobRecord('a', status)]));
      await two.prefetch(['a', 'none'], 2);
      expect(two.get('a')).toEqual(jobRecord('a', status));
      const taken = await two.commit(
        turnOf(2, 1, [jobRecord('a', 'submitting', { tries: 1 })], { from: two }),
      );
      expect(taken.refused.size).toBe(resting.includes(status) ? 0 : 1);
      expect(two.others.holdOf('a')?.slice).toBe(resting.includes(status) ? 2 : 1);
      // It is no longer the first one's, however late that hears of it.
      const again = await one.commit(turnOf(1, 1, [jobRecord('a', 'failed')], { from: one }));
      expect(again.refused.size).toBe(resting.includes(status) ? 1 : 0);
      expect(one.get('a')?.tries).toBe(resting.includes(status) ? 1 : 0);
    },
  );

  it('refuses a decision about a record that has changed since, read again meanwhile or not', async () => {
    const { workers } = await working(3);
    const [one, two, three] = workers as [Worker, Worker, Worker];
    await one.commit(turnOf(1, 1, [jobRecord('a', 'failed')]));
    for (const worker of [two, three]) {
      await worker.prefetch(['a'], worker === two ? 2 : 3);
      expect(worker.get('a')?.status).toBe('failed');
    }
    await two.commit(turnOf(2, 1, [jobRecord('a', 'done')], { from: two }));
    // It is looked at again, but what is committed was decided before.
    const decided = turnOf(3, 1, [jobRecord('a', 'submitting')], { from: three });
    await three.others.look(['a']);
    const committed = await three.commit(decided);
    expect(committed).toEqual({ refused: new Set(['a']), lost: new Set() });
    expect(three.get('a')).toEqual(jobRecord('a', 'done'));
    expect(await three.reader.get('a')).toEqual(jobRecord('a', 'done'));
  });

  it('names who may still send a job, until that is known to be over', async () => {
    const { run, workers } = await working(2);
    const [old, next] = workers as [Worker, Worker];
    await old.commit(
      turnOf(1, 1, [jobRecord('a', 'submitting'), jobRecord('done', 'done'), jobRecord('p', 'pending')]),
    );
    const sender = `${old.session}/1/1`;
    await takeSlice(engine.pool, run, 1, next.session);
    const left = await next.left(1);
    expect(left.map(({ record, sender: by }) => [record.key, by])).toEqual([
      ['a', sender],
      ['p', sender],
    ]);
    await next.commit(
      turnOf(1, 2, [jobRecord('a', 'in-doubt', { sender }), jobRecord('b', 'in-doubt', { sender })]),
    );
    await next.others.look(['a']);
    expect(next.get('a')?.sender).toBe(sender);
    await endHold(engine.pool, run, 1, 1);
    await next.others.look(['a']);
    expect(next.get('a')).toEqual(jobRecord('a', 'in-doubt'));
    await endSession(engine.pool, next.session);
    await takeSlice(engine.pool, run, 1, 99);
    await next.commit({
      records: [],
      attempts: [],
      heard: [{ key: 'b', submittedAt: 1, submittedBy: '1/1' }],
    });
    expect(await old.left(1)).toEqual([{ record: jobRecord('p', 'pending') }]);
  });
});
