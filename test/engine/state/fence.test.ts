import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { submittedBeside } from '../../../src/engine/state/reader.ts';
import { endLease, takeSlice } from '../../../src/engine/state/slices.ts';
import { type EngineStore, openEngineStore } from '../../../src/engine/state/store.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import { describeFences, type FenceWorker } from '../../rig/fenced/contract.ts';
import { textRecord } from '../../rig/jobs.ts';
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

  it('know who else got, or may still get, the id of a task', async () => {
    const { workers } = await working(2);
    const [one, other] = workers as [Worker, Worker];
    const submittedAt = Date.now();
    const sent = jobRecord('b', 'submitting', { submittedAt: submittedAt + 700, parent: 'root' });
    const mine = jobRecord('a', 'running', { taskId: '7', submittedAt });
    const accepted = { outcome: 'accepted', taskId: '7', at: submittedAt };
    await one.commit(turnOf(1, 1, [mine], { attempts: [{ key: 'a', ...accepted }] }));
    expect(await one.claims(mine)).toEqual({ keys: ['a'], mayGrow: false });
    await other.commit(turnOf(2, 1, [sent, jobRecord('root', 'done')]));
    expect(await one.claims(mine)).toEqual({ keys: ['a'], mayGrow: true });
    // Nobody waits for ever for the answer to what a dead worker has sent.
    const before = submittedAt - 300_000;
    expect((await one.claims({ ...mine, submittedAt: before })).mayGrow).toBe(false);
    const got = { ...sent, status: 'running' as const, taskId: '7' };
    await other.commit(turnOf(2, 1, [got], { from: other, attempts: [{ key: 'b', ...accepted }] }));
    expect(await one.claims(mine)).toEqual({ keys: ['a', 'b'], mayGrow: false });
    expect([one.get('b'), one.get('root')?.key]).toEqual([got, 'root']);
  });

  it('take for a claim of a task id only what was submitted about then, and for a rival only an image under way', async () => {
    const { workers } = await working(2);
    const [one, other] = workers as [Worker, Worker];
    const now = Date.now();
    const mine = jobRecord('a', 'running', { taskId: '7', submittedAt: now });
    await one.commit(
      turnOf(1, 1, [mine], {
        attempts: [
          { key: 'long ago', outcome: 'accepted', taskId: '7', at: now - 86_400_000 },
          { key: 'a', outcome: 'accepted', taskId: '7', at: now },
        ],
      }),
    );
    const rival = async (at: number, request: Partial<JobRecord>): Promise<boolean> => {
      const sent = jobRecord('b', 'submitting', { ...request, submittedAt: at });
      await other.commit(turnOf(2, 1, [sent], { from: other }));
      return (await one.claims({ ...mine, submittedAt: at })).mayGrow;
    };
    expect(await one.claims(mine)).toEqual({ keys: ['a'], mayGrow: false });
    expect(await rival(now, {})).toBe(true);
    expect(await rival(now, { kind: 'generate', request: textRecord().request })).toBe(false);
    // What was sent so long ago has been answered, or never will be.
    expect(await rival(now - 3_600_000, {})).toBe(false);
  });

  it('are left no job in doubt of whose last submission nothing is known, whatever is known of an earlier one', async () => {
    const { run, workers } = await working(1);
    const [worker] = workers as [Worker];
    const sent = { submittedAt: 17, submittedBy: '1/1', attempts: 1 };
    const records = ['known', 'unknown'].map((key) =>
      jobRecord(key, 'in-doubt', { ...sent, doubtful: { count: 1, since: 17 } }),
    );
    await worker.commit(
      turnOf(1, 1, records, {
        lateFacts: [
          { key: 'known', submittedAt: 17, submittedBy: '1/1', taskId: '7' },
          { key: 'unknown', submittedAt: 16, submittedBy: '1/1', taskId: '8' },
        ],
      }),
    );
    const next = await engine.worker(run);
    await takeSlice(engine.pool, run, 1, next.session);
    expect((await next.left(1)).map(({ record, lateFact }) => [record.key, lateFact?.taskId])).toEqual([
      ['known', '7'],
    ]);
  });

  it('leave a text to its worker until it can receive nothing more, and a task until nothing more is sent', async () => {
    const { run, workers } = await working(1);
    const [dead] = workers as [Worker];
    const sent = { submittedAt: 17, submittedBy: '1/1', attempts: 1 };
    const text = { ...textRecord(), ...sent, key: 'text', status: 'submitting' as const };
    const image = jobRecord('image', 'submitting', sent);
    await dead.commit(turnOf(1, 1, [text, image]));
    const next = await engine.worker(run, { textMs: 20_000 });
    await takeSlice(engine.pool, run, 1, next.session);
    const senders = async (over: boolean, silentMs: number): Promise<readonly unknown[]> => {
      await engine.pool.query(
        `UPDATE promptpress.sessions SET over = $2, lease_ms = 10000, seen = clock_timestamp() - $3 * interval '1 ms' WHERE session = $1`,
        [dead.session, over, silentMs],
      );
      const left = await next.left(1);
      return ['text', 'image'].map((key) => left.find(({ record }) => record.key === key)?.sender);
    };
    const hold = `${dead.session}/1/1`;
    expect(await senders(false, 3_600_000)).toEqual([hold, hold]);
    // It may have sent for one and a half of its leases since it was seen, and a text takes 20 s at most.
    expect(await senders(true, 34_000)).toEqual([hold, undefined]);
    expect(await senders(true, 36_000)).toEqual([undefined, undefined]);
  });

  it('find who may still get the id without reading the rows that were put back', async () => {
    const { run } = await working(2);
    const { pool } = engine;
    await pool.query(
      `INSERT INTO promptpress.slices (run, n, done) SELECT $1, n, true FROM generate_series(3, 1002) AS n`,
      [run],
    );
    await pool.query(
      `INSERT INTO promptpress.jobs (run, slice, rev, number, session, tokens, assumed, cost, possible, attempts, unanswered,
         open, trouble, root, status, key, code, slot, step, doc)
       SELECT $1, 3 + n / 4, 1, n, 1, 0, 0, 0, 0, 1, 0, true, false, false, 'pending', 'k' || n, '', 's', 's', '{"submittedAt":7}'
       FROM generate_series(0, 3999) AS n`,
      [run],
    );
    const { rows } = await pool.query<Record<string, string>>(
      `EXPLAIN (ANALYZE, COSTS off, TIMING off) ${submittedBeside}`,
      [run, 'a', 7, 1000],
    );
    const plan = rows.flatMap((row) => Object.values(row)).join('\n');
    expect(plan).toContain('jobs_open');
    expect(plan).not.toContain('Rows Removed by Filter');
  });

  it('write nothing of a slice that was taken over, and all the rest', async () => {
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
      lateFacts: [
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
    const lateFact = { key: 'a', submittedAt: 17, submittedBy: '1/1', taskId: '7' };
    expect(await next.others.read(['a', 'b'])).toEqual([lateFact]);
    expect(await next.left(1)).toEqual([{ record: sent, sender: `${old.session}/1/1`, lateFact }]);
    // The word of the service outweighs a later "it never left".
    await old.commit({
      records: [],
      attempts: [],
      lateFacts: [{ key: 'a', submittedAt: 17, submittedBy: '1/1' }],
    });
    expect(await next.others.read(['a'])).toEqual([lateFact]);
  });

  it('write nothing of a slice held by another worker under the same epoch, as after a restore', async () => {
    const { run, workers } = await working(2);
    const [cutOff, next] = workers as [Worker, Worker];
    await engine.pool.query(
      'UPDATE promptpress.slices SET epoch = 0, holder = NULL WHERE run = $1 AND n = 1',
      [run],
    );
    expect(await takeSlice(engine.pool, run, 1, next.session)).toMatchObject({ epoch: 1 });
    const late = await cutOff.commit(turnOf(1, 1, [jobRecord('a', 'submitting')]));
    expect(late).toEqual({ refused: new Set(), lost: new Set([1]) });
    expect(await next.commit(turnOf(1, 1, [jobRecord('a', 'submitting')]))).toEqual(nothing);
  });

  it.each<[string, (store: EngineStore) => Promise<unknown>]>([
    ['it is left with', (store) => store.left(1)],
    ['its cells need', (store) => store.prefetch(['a', 'b'], 1)],
    ['is looked at', (store) => store.others.read(['a', 'b'])],
  ])('show the last decision about a slice that comes back where %s is read', async (_words, read) => {
    const { run, workers } = await working(2);
    const [{ session }, other] = workers as [Worker, Worker];
    let held: Promise<void> | undefined;
    const query: typeof engine.pool.query = async (text, values) => {
      const rows = await engine.pool.query<never>(text, values);
      const until = held;
      held = undefined;
      await until;
      return rows;
    };
    const store = await openEngineStore({ ...engine.pool, query }, { run, session, clock: wallClock });
    await store.commit(turnOf(1, 1, [jobRecord('a', 'submitting'), jobRecord('b', 'pending')]));
    await takeSlice(engine.pool, run, 1, other.session);
    await other.left(1);
    const running = jobRecord('a', 'running', { taskId: '7' });
    expect(await other.commit(turnOf(1, 2, [running], { from: other }))).toEqual(nothing);
    await takeSlice(engine.pool, run, 1, session);
    store.release(1);
    let answer: () => void = () => undefined;
    held = new Promise((resolve) => {
      answer = resolve;
    });
    const reading = read(store);
    // Decided here after the engine was asked, and before the answer is there.
    await expect.poll(() => held === undefined).toBe(true);
    expect(await store.commit(turnOf(1, 3, [jobRecord('b', 'submitting')], { from: store }))).toEqual(
      nothing,
    );
    answer();
    await reading;
    expect([store.get('a'), store.get('b')?.status]).toEqual([running, 'submitting']);
  });

  it('write no attempt of a job that another slice wrote first', async () => {
    const { workers } = await working(2);
    const [first, second] = workers as [Worker, Worker];
    const of = (at: number) => ({ attempts: [{ key: 'a', at, outcome: 'sent' }] });
    await first.commit(turnOf(1, 1, [jobRecord('a', 'submitting')], of(1)));
    const { refused } = await second.commit(turnOf(2, 1, [jobRecord('a', 'submitting')], of(2)));
    expect([refused, await first.reader.attempts('a')]).toEqual([new Set(['a']), of(1).attempts]);
  });

  it('make a takeover wait for a commit in flight, which is then included', async () => {
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

  describeFences(async (count, slices) => {
    const run = await engine.run(slices);
    return Promise.all(
      Array.from({ length: count }, async (): Promise<FenceWorker> => {
        const worker = await engine.worker(run);
        return {
          ...worker,
          take: async (slice) => (await takeSlice(engine.pool, run, slice, worker.session))?.epoch ?? 0,
          holder: (slice, epoch) => `${worker.session}/${slice}/${epoch}`,
          end: (slice, epoch) => endLease(engine.pool, run, slice, epoch),
        };
      }),
    );
  });
});
