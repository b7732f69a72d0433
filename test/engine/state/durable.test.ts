import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineError } from '../../../src/engine/postgres/engine-error.ts';
import type { EnginePool } from '../../../src/engine/postgres/pool.ts';
import { beginInvocation, endRun, runStatus } from '../../../src/engine/slices/runs.ts';
import { addSlices, openSession, takeSlice } from '../../../src/engine/state/slices.ts';
import { openEngineStore } from '../../../src/engine/state/store.ts';
import type { JobErrorCode } from '../../../src/pipeline/diagnostics/job-errors.ts';
import type { JobStatus } from '../../../src/plan/job.ts';
import type { Clock } from '../../../src/run/clock.ts';
import { hasOwnPostgres, hasPostgres, ownServer } from '../../rig/postgres.ts';
import { jobRecord } from '../../state/records.ts';
import { type TestEngine, testEngine, turnOf } from './opened.ts';

/** A clock that jumps to whatever is waited for. */
function jumping(): Clock {
  let now = 0;
  return {
    now: () => now,
    at: (atMs, call) => {
      now = atMs;
      setImmediate(call);
      return () => undefined;
    },
  };
}

interface Watched extends EnginePool {
  /** All that was asked. */
  readonly asked: { readonly text: string; readonly values: readonly unknown[] }[];
  /** The answers to so many questions from now on are lost. */
  lose(answers: number): void;
}

function watched(pool: EnginePool): Watched {
  let losing = 0;
  const asked: Watched['asked'] = [];
  return {
    ...pool,
    asked,
    query: async (text, values = []) => {
      asked.push({ text, values });
      const answer = await pool.query<never>(text, values);
      if (losing === 0) return answer;
      losing -= 1;
      throw new EngineError('away', 'The answer was lost.', 'Ask again.');
    },
    lose: (answers) => {
      losing = answers;
    },
  };
}

describe.skipIf(!hasPostgres)('a commit', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  // First of all: what other tests have done comes late to the statistics.
  it('reads no more of a large table than of a small one, and touches no index while a job is in progress', async () => {
    const run = await engine.run(1);
    const pool = await engine.connect({ connections: 1 });
    const session = await openSession(pool, 'a worker');
    await takeSlice(pool, run, 1, session);
    const store = await openEngineStore(pool, { run, session, clock: jumping() });
    const seen = async (): Promise<Record<'seq' | 'fetched' | 'hot' | 'updated', number>> => {
      await pool.query('SELECT pg_stat_force_next_flush()');
      const { rows } =
        await pool.query<never>(`SELECT sum(seq_tup_read)::int AS seq, sum(idx_tup_fetch)::int AS fetched,
        max(n_tup_hot_upd) FILTER (WHERE relname = 'jobs')::int AS hot, max(n_tup_upd) FILTER (WHERE relname = 'jobs')::int AS updated
        FROM pg_stat_user_tables WHERE relname IN ('jobs', 'attempts', 'totals')`);
      return rows[0] ?? { seq: 0, fetched: 0, hot: 0, updated: 0 };
    };
    const turn = (status: JobStatus, from: number, count = 4, apart = 1): Promise<unknown> =>
      store.commit(
        turnOf(
          1,
          1,
          Array.from({ length: count }, (_unused, at) => jobRecord(`k${from + apart * at}`, status)),
        ),
      );
    // The plans are made, and kept, while there is nothing.
    for (let at = 0; at < 10; at += 1) await turn('submitting', 10_000 + 4 * at);
    await turn('done', 0, 4000);
    const before = await seen();
    for (let at = 0; at < 320; at += 32) await turn('submitting', 20_000 + at, 32);
    // One job in eight, so that its page has room for all its versions: while other databases of the server have transactions open,
    // no version can be taken away.
    for (const status of ['running', 'saving', 'done'] as const)
      for (let at = 0; at < 320; at += 32) await turn(status, 20_000 + at, 4, 8);
    const after = await seen();
    // Were the table read for each turn, it would be forty times; what other connections have read may be in the count.
    expect(after.seq - before.seq).toBeLessThan(4 * 4000);
    expect(after.fetched - before.fetched).toBeLessThan((320 + 3 * 40) * 2);
    expect(after.updated - before.updated).toBe(3 * 40);
    // All but those by which the job leaves the index of open jobs, and but for a page here and there that is full.
    expect(after.hot - before.hot).toBeGreaterThan(2 * 40 * 0.4);
  });

  it('is one query, and is written once however often its answer is lost', async () => {
    const run = await engine.run(1);
    const pool = watched(engine.pool);
    const session = await openSession(pool, 'a worker');
    await takeSlice(pool, run, 1, session);
    const store = await openEngineStore(pool, {
      run,
      session,
      clock: jumping(),
      budget: {
        worker: 'w',
        charge: ({ status, cost = 0 }) => ({ cost, tokens: status === 'submitting' ? 100 : 40 }),
      },
    });
    const sent = turnOf(1, 1, [jobRecord('a', 'submitting', { attempts: 1, cost: 2 })], {
      attempts: [{ key: 'a', at: 1, outcome: 'sent' }],
      submits: 1,
    });
    pool.asked.splice(0);
    pool.lose(2);
    expect(await store.commit(sent)).toEqual({ refused: new Set(), lost: new Set() });
    expect(pool.asked).toHaveLength(3);
    const accepted = { key: 'a', at: 2, outcome: 'accepted', taskId: '7' };
    const running = jobRecord('a', 'running', { attempts: 1, cost: 3, taskId: '7' });
    await store.commit(turnOf(1, 1, [running], { attempts: [accepted] }));
    expect(pool.asked).toHaveLength(4);

    // What was sent first is executed last.
    const { text, values } = pool.asked[0] ?? { text: '', values: [] };
    await engine.pool.query(text, values);
    expect(await store.reader.get('a')).toEqual(running);
    expect(await store.reader.attempts('a')).toEqual([...sent.attempts, accepted]);
    expect(store.attempts('a')).toEqual([...sent.attempts, accepted]);
    expect(await store.reader.totals()).toMatchObject({
      jobs: { submitting: 0, running: 1 },
      attempts: 1,
      cost: 3,
    });
    expect(await store.reader.submissions()).toEqual({ known: 1, counted: 1 });
    const spent =
      'SELECT kind, used FROM promptpress.purse_worker WHERE run = $1 AND worker = $2 ORDER BY kind';
    expect(await engine.database.query(spent, [run, 'w'])).toEqual([
      { kind: 'cost', used: 3 },
      { kind: 'invocation', used: 1 },
      { kind: 'submits', used: 1 },
      { kind: 'tokens', used: 40 },
    ]);
  });

  it('brings the reserve of a request in flight with the slice that is taken over', async () => {
    const run = await engine.run(1);
    const session = await openSession(engine.pool, 'a worker');
    await takeSlice(engine.pool, run, 1, session);
    const charge = () => ({ cost: 2, tokens: 100 });
    const first = await engine.worker(run, { session, budget: { worker: 'w', charge } });
    await first.commit(turnOf(1, 1, [jobRecord('a', 'submitting', { attempts: 1 })]));
    const taken: unknown[] = [];
    const takeOver = ({ key }: { readonly key: string }, charged: unknown): void => {
      taken.push([key, charged]);
    };
    const second = await engine.worker(run, { budget: { worker: 'v', charge, takeOver } });
    await takeSlice(engine.pool, run, 1, second.session);
    await second.left(1);
    expect(taken).toEqual([['a', { cost: 2, tokens: 100 }]]);
  });

  it('counts a failure that the pipeline does not accept once, in the invocation in which it fails', async () => {
    const { pool } = engine;
    const run = await engine.run(1);
    const { invocation } = await beginInvocation(pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    await addSlices(pool, run, [{ n: 1, cells: '' }]);
    const store = await engine.worker(run, { acceptedFailures: ['task.moderated'] });
    await takeSlice(pool, run, 1, store.session, invocation);
    const failures = async (): Promise<number | undefined> => (await runStatus(pool, run))?.failures;
    const failed = (key: string, code: JobErrorCode = 'task.failed') =>
      jobRecord(key, 'failed', { error: { code, message: '' } });
    const unlike = [failed('b', 'button.missing'), failed('d', 'task.moderated'), jobRecord('c', 'done')];
    await store.commit(turnOf(1, 1, [failed('a'), ...unlike]));
    await store.commit(turnOf(1, 1, [failed('a')], { from: store }));
    expect(await failures()).toBe(1);
    await pool.query('SELECT promptpress.fold_totals($1, 1)', [run]);
    expect(await failures()).toBe(1);
    await endRun(pool, run, invocation);
    await beginInvocation(pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    expect(await failures()).toBe(0);
  });

  it('fails with the cause once the patience is over', async () => {
    const run = await engine.run(1);
    const pool = watched(engine.pool);
    const store = await openEngineStore(pool, { run, session: 1, clock: jumping(), patienceMs: 1000 });
    pool.asked.splice(0);
    pool.lose(100);
    await expect(store.commit({ records: [jobRecord('a', 'done')], attempts: [] })).rejects.toMatchObject({
      code: 'engine.away',
    });
    expect(pool.asked).toHaveLength(5);
  });

  it('keeps whole replies with the record that names them, and writes many of them before it', async () => {
    const run = await engine.run();
    const [one, two] = [await engine.worker(run), await engine.worker(run)];
    const long = `"${'é'.repeat(3_000_000)}"`;
    const places = [
      one.keepReply('a', '{"x":"\\u0000"}'),
      one.keepReply('b', long),
      one.keepReply('b', long),
    ];
    const other = two.keepReply('c', '{}');
    expect(other.segment).not.toBe(places[0]?.segment);
    await two.commit({ records: [jobRecord('c', 'done')], attempts: [] });
    await one.commit({ records: [jobRecord('a', 'done')], attempts: [] });
    await one.commit({ records: [jobRecord('b', 'done')], attempts: [] });
    const lines = await engine.database.query<{ segment: number; start: number; line: string }>(
      'SELECT segment, start::int AS start, line FROM promptpress.replies WHERE run = $1 ORDER BY segment, start',
      [run],
    );
    expect(
      lines.map(({ segment, start, line }) => ({
        segment,
        offset: start,
        length: Buffer.byteLength(line),
        sha256: hash('sha256', line),
      })),
    ).toEqual([...places, other]);
    expect(lines[0]?.line).toBe('{"job":"a","reply":{"x":"\\u0000"}}');
    expect(() => one.keepReply('a', '{\n}')).toThrow('Internal error');
  });

  it('keeps a reply that is larger than what goes with one turn', async () => {
    const run = await engine.run();
    const worker = await engine.worker(run);
    const place = worker.keepReply('a', `"${'x'.repeat(9 * 1024 * 1024)}"`);
    await worker.commit({ records: [jobRecord('a', 'done')], attempts: [] });
    const length = 'SELECT length(line) AS length FROM promptpress.replies WHERE run = $1';
    expect(await engine.database.query(length, [run])).toEqual([{ length: place.length }]);
  });

  it('keeps the sums of finished slices in one row', async () => {
    const run = await engine.run(2);
    const worker = await engine.worker(run);
    for (const n of [1, 2]) {
      await takeSlice(engine.pool, run, n, worker.session);
      const records = [jobRecord(`${n}`, 'done', { attempts: 1, cost: n }), jobRecord(`${n} b`, 'done')];
      await worker.commit(turnOf(n, 1, records));
    }
    const [before, last] = [await worker.reader.totals(), await worker.reader.lastNumber()];
    expect(before).toMatchObject({ jobs: { done: 4 }, attempts: 2, cost: 3 });
    for (const n of [1, 2]) await engine.pool.query('SELECT promptpress.fold_totals($1, $2)', [run, n]);
    expect(await worker.reader.totals()).toEqual(before);
    expect(await worker.reader.lastNumber()).toBe(last);
    const rows = "SELECT count(*)::int AS rows FROM promptpress.totals WHERE run = $1 AND status = 'done'";
    expect(await engine.database.query(rows, [run])).toEqual([{ rows: 1 }]);
  });
});

describe.skipIf(!hasOwnPostgres)('a server that crashes', () => {
  it('has lost nothing that it acknowledged, and writes a turn in flight once', async () => {
    await using server = await ownServer();
    await using engine = await testEngine(server.url());
    const run = await engine.run(1);
    const worker = await engine.worker(run);
    await takeSlice(engine.pool, run, 1, worker.session);
    let crashed: Promise<void> | undefined;
    for (let at = 0; at < 60; at += 1) {
      if (at === 20) crashed = server.crash().then(() => server.start());
      const turn = turnOf(1, 1, [jobRecord(`k${at}`, 'done', { attempts: 1 })], {
        attempts: [{ key: `k${at}`, at, outcome: 'sent' }],
      });
      expect(await worker.commit(turn)).toEqual({ refused: new Set(), lost: new Set() });
    }
    await crashed;
    expect(await worker.reader.totals()).toMatchObject({ jobs: { done: 60 }, attempts: 60 });
    expect(await engine.database.query('SELECT count(*)::int AS attempts FROM promptpress.attempts')).toEqual(
      [{ attempts: 60 }],
    );
  });
});
