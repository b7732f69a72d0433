import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { LeaseQueue } from '../../../src/engine/queue/lease-queue.ts';
import { packCells } from '../../../src/engine/slices/cells.ts';
import { beginSession } from '../../../src/engine/slices/session.ts';
import { SliceSource } from '../../../src/engine/slices/source.ts';
import { redoOrders } from '../../../src/engine/state/redos.ts';
import { addSlices, takeSlice } from '../../../src/engine/state/slices.ts';
import type { RunPlan } from '../../../src/run/ports.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { jobRecord } from '../../state/records.ts';
import { type TestEngine, testEngine, turnOf } from './opened.ts';

const leaseMs = 60_000;

describe.skipIf(!hasPostgres)('a redo order on an engine', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  /** A run whose jobs `a` and `b` are done, and two workers that hold a slice each and know both. */
  async function ordered() {
    const run = await engine.run(2);
    const { pool } = engine;
    const before = await engine.worker(run);
    await before.commit({ records: [jobRecord('a', 'done'), jobRecord('b', 'done')], attempts: [] });
    const orders = redoOrders(pool, run);
    expect(await orders.add({ keys: ['a', 'b'], again: false })).toEqual({ added: 2, open: 0, made: 0 });
    const workers = [];
    for (const n of [1, 2]) {
      const worker = await engine.worker(run);
      await takeSlice(pool, run, n, worker.session);
      await worker.prefetch(['a', 'b'], n);
      workers.push(worker);
    }
    const [one, other] = workers;
    if (one === undefined || other === undefined) throw new Error('no workers');
    return { run, orders, one, other };
  }

  it('is known to each worker with the record, and changes with it', async () => {
    const { orders, one, other } = await ordered();
    expect([one.redos.of('a'), other.redos.of('b'), one.redos.of('c')]).toEqual([
      'waiting',
      'waiting',
      undefined,
    ]);
    const begun = turnOf(1, 1, [jobRecord('a', 'submitting')], {
      from: one,
      redos: new Map([['a', 'begun']]),
    });
    await one.commit(begun);
    expect([one.redos.of('a'), await one.reader.redos.counts()]).toEqual([
      'begun',
      { waiting: 1, begun: 1, made: 0 },
    ]);
    await one.commit(turnOf(1, 1, [jobRecord('a', 'done')], { from: one, redos: new Map([['a', 'made']]) }));
    expect([one.redos.of('a'), await orders.close()]).toEqual([undefined, 0]);
    await other.commit(
      turnOf(2, 1, [jobRecord('b', 'done')], { from: other, redos: new Map([['b', 'made']]) }),
    );
    expect([await orders.close(), await orders.close()]).toEqual([2, 0]);
    expect(await orders.add({ keys: ['a', 'b'], again: false })).toEqual({ added: 0, open: 0, made: 2 });
  });

  it('lets no job be begun by two workers', async () => {
    const { one, other } = await ordered();
    const begins = (worker: typeof one, n: number) =>
      worker.commit(
        turnOf(n, 1, [jobRecord('a', 'submitting')], { from: worker, redos: new Map([['a', 'begun']]) }),
      );
    const redone = turnOf(1, 1, [jobRecord('a', 'submitting')], {
      from: one,
      redos: new Map([['a', 'begun']]),
    });
    await one.commit(redone);
    await one.commit(turnOf(1, 1, [jobRecord('a', 'done')], { from: one, redos: new Map([['a', 'made']]) }));
    // It still knows the job as it was.
    expect((await begins(other, 2)).refused).toEqual(new Set(['a']));
    expect([other.redos.of('a'), (await other.reader.redos.counts()).made]).toEqual([undefined, 1]);
  });

  it('shows a slice of groups the jobs that others have redone since they were read', async () => {
    const { run, one, other } = await ordered();
    const { pool } = engine;
    const redone = jobRecord('a', 'done', { attempts: 2 });
    await one.commit(turnOf(1, 1, [redone], { from: one, redos: new Map([['a', 'made']]) }));
    expect(other.get('a')).toEqual(jobRecord('a', 'done'));
    await addSlices(pool, run, [{ n: 3, cells: packCells([{ number: 1, repeat: 1, vars: {} }]) }]);
    await pool.query('UPDATE promptpress.slices SET done = n < 3 WHERE run = $1', [run]);
    const ports = { pool, queue: new LeaseQueue(pool, { worker: 'w', leaseMs }), store: other };
    const session = await beginSession({ pool, clock: wallClock }, run, { name: 'w', leaseMs });
    const resolve: RunPlan['resolve'] = (_cell, lookup) => {
      lookup('a');
      return [];
    };
    const plan = { resolve, gathers: () => [1] };
    const source = new SliceSource(
      { ...ports, clock: wallClock },
      { run, session, leaseMs, plan, isOver: () => false },
    );
    try {
      expect((await source.next(8, new AbortController().signal)).of).toMatchObject({ slice: 3 });
      expect([other.get('a'), other.redos.of('a')]).toEqual([redone, undefined]);
    } finally {
      await source.close();
      await session.end();
    }
  });

  it('is not changed by a worker that has lost its slice', async () => {
    const { run, one, other } = await ordered();
    await takeSlice(engine.pool, run, 1, other.session);
    const late = turnOf(1, 1, [jobRecord('a', 'submitting')], {
      from: one,
      redos: new Map([['a', 'begun']]),
    });
    expect((await one.commit(late)).lost).toEqual(new Set([1]));
    expect([one.redos.of('a'), await one.reader.redos.counts()]).toEqual([
      'waiting',
      { waiting: 2, begun: 0, made: 0 },
    ]);
  });

  it('is dropped except for finished jobs', async () => {
    const { orders, one } = await ordered();
    await one.commit(turnOf(1, 1, [jobRecord('a', 'done')], { from: one, redos: new Map([['a', 'made']]) }));
    expect([await orders.cancel(), await orders.cancel(), await one.reader.redos.counts()]).toEqual([
      1,
      0,
      { waiting: 0, begun: 0, made: 0 },
    ]);
    expect(await orders.add({ keys: ['a', 'b'], again: false })).toEqual({ added: 1, open: 0, made: 1 });
  });
});
