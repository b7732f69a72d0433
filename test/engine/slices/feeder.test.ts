import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { engineError } from '../../../src/engine/postgres/engine-error.ts';
import type { EnginePool } from '../../../src/engine/postgres/pool.ts';
import { LeaseQueue } from '../../../src/engine/queue/lease-queue.ts';
import { unpackCells } from '../../../src/engine/slices/cells.ts';
import { feed, pause, untilDone } from '../../../src/engine/slices/feeder.ts';
import { leaseRun } from '../../../src/engine/slices/lead-lease.ts';
import { beginInvocation, endRun, openRuns, runStatus, stopRun } from '../../../src/engine/slices/runs.ts';
import { endLease, endSession, openSession, takeSlice } from '../../../src/engine/state/slices.ts';
import type { Cell } from '../../../src/plan/cell.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type TestEngine, testEngine } from '../state/opened.ts';

describe.skipIf(!hasPostgres)('feeding a run', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  const never = new AbortController().signal;

  /** @param onCell is called before a cell is given */
  async function* cells(count: number, onCell: (number: number) => void = () => undefined) {
    for (let number = 1; number <= count; number += 1) {
      onCell(number);
      const cell: Cell = { number, repeat: 1, vars: { n: number } };
      yield await Promise.resolve(cell);
    }
  }

  const feedCells = (
    run: number,
    invocation: number,
    from: AsyncIterable<Cell>,
    signal = never,
    pool = engine.pool,
  ) => {
    const queue = new LeaseQueue(pool, { worker: 'feeder', leaseMs: 1000 });
    return feed(
      from,
      { pool, queue, clock: wallClock },
      { run, invocation, epoch: 0, size: 2, slots: 1 },
      signal,
    );
  };

  const fedTo = async (run: number): Promise<readonly (readonly number[])[]> => {
    const { rows } = await engine.pool.query<{ cells: string }>(
      'SELECT cells FROM promptpress.slices WHERE run = $1 ORDER BY n',
      [run],
    );
    return rows.map((row) => unpackCells(row.cells, 'shown').map(({ number }) => number));
  };

  it.each([0, 1, 63, 64, 65, 128])('notes that all of %i cells are fed', async (count) => {
    const run = await engine.run();
    const { invocation } = await beginInvocation(engine.pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    await feedCells(run, invocation, cells(count));
    expect(await runStatus(engine.pool, run)).toMatchObject({ fed: true, waiting: Math.ceil(count / 2) });
    expect((await fedTo(run)).flat()).toHaveLength(count);
  });

  it('feeds each cell once, however often answers of the engine are lost', async () => {
    const run = await engine.run();
    const { invocation } = await beginInvocation(engine.pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    let asked = 0;
    const pool: EnginePool = {
      ...engine.pool,
      query: async (text, values) => {
        const found = await engine.pool.query<never>(text, values);
        asked += 1;
        if (asked % 3 === 0) throw engineError('away', 'engine');
        return found;
      },
    };
    await feedCells(run, invocation, cells(150), never, pool);
    expect((await fedTo(run)).flat()).toEqual(Array.from({ length: 150 }, (_unused, at) => at + 1));
    expect(await runStatus(engine.pool, run)).toMatchObject({ fed: true, waiting: 75 });
  });

  it('feeds nothing once another process leads the run', async () => {
    const run = await engine.run();
    const { invocation } = await beginInvocation(engine.pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    const lead = await leaseRun({ pool: engine.pool, clock: wallClock }, run, 'a run');
    await feedCells(run, invocation, cells(10));
    expect(await runStatus(engine.pool, run)).toMatchObject({ fed: false, waiting: 0 });
    await lead.close();
  });

  it('continues for a feeder that died, with each cell once and in order', async () => {
    const run = await engine.run();
    const { invocation } = await beginInvocation(engine.pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    const dies = new AbortController();
    const die = (number: number): void => {
      if (number === 100) dies.abort();
    };
    await feedCells(run, invocation, cells(105, die), dies.signal);
    expect((await fedTo(run)).flat()).toHaveLength(64);
    expect(await runStatus(engine.pool, run)).toMatchObject({ fed: false, waiting: 32 });

    expect(await beginInvocation(engine.pool, run, { spec: 'spec', epoch: 0, bounds: {} })).toEqual({
      invocation,
      goesOn: true,
    });
    await feedCells(run, invocation, cells(105));
    const fed = await fedTo(run);
    expect(fed.flat()).toEqual(Array.from({ length: 105 }, (_unused, at) => at + 1));
    expect(fed.at(-1)).toEqual([105]);
    expect(await runStatus(engine.pool, run)).toMatchObject({ fed: true, waiting: 53 });
  });

  it('feeds nothing for an earlier invocation, and keeps slice numbers unique', async () => {
    const run = await engine.run();
    const first = await beginInvocation(engine.pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    await feedCells(run, first.invocation, cells(4));
    await endRun(engine.pool, run, first.invocation);
    const second = await beginInvocation(engine.pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    expect(second).toEqual({ invocation: first.invocation + 1, goesOn: false });
    await feedCells(run, first.invocation, cells(4));
    expect(await fedTo(run)).toEqual([]);
    await feedCells(run, second.invocation, cells(2));
    const { rows } = await engine.pool.query('SELECT n FROM promptpress.slices WHERE run = $1', [run]);
    expect(rows).toEqual([{ n: 3 }]);
  });

  it('gives out no slice of another invocation or of a stopped run; the first end of a run counts', async () => {
    const run = await engine.run();
    const { invocation } = await beginInvocation(engine.pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    await feedCells(run, invocation, cells(2));
    const session = await openSession(engine.pool, 'a worker');
    expect(await takeSlice(engine.pool, run, 1, session, invocation + 1)).toBeUndefined();
    expect(await takeSlice(engine.pool, run, 1, session, invocation)).toMatchObject({ epoch: 1 });
    const end = { kind: 'stopped', code: 'service.unauthorized', message: 'no' } as const;
    await stopRun(engine.pool, run, invocation, end);
    await stopRun(engine.pool, run, invocation, { kind: 'interrupted', forced: false });
    expect(await runStatus(engine.pool, run)).toMatchObject({ state: 'stopping', end });
    expect(await takeSlice(engine.pool, run, 1, session, invocation)).toBeUndefined();
  });

  it('lists the open runs with waiting slices, including slices of dead workers', async () => {
    const { pool } = engine;
    const [run, other] = [await engine.run(), await engine.run()];
    const waiting = async () =>
      (await openRuns(pool)).filter((open) => open.run === run || open.run === other);
    const { invocation } = await beginInvocation(pool, run, { spec: 'spec', epoch: 0, bounds: {} });
    await beginInvocation(pool, other, { spec: 'spec', epoch: 0, bounds: {} });
    expect(await waiting()).toEqual([]);
    await feedCells(run, invocation, cells(6));
    const open = { run, name: expect.any(String), invocation };
    expect(await waiting()).toEqual([{ ...open, waiting: 3 }]);
    const session = await openSession(pool, 'a worker');
    await takeSlice(pool, run, 1, session, invocation);
    await takeSlice(pool, run, 2, session, invocation);
    expect(await waiting()).toEqual([{ ...open, waiting: 1 }]);
    await endLease(pool, run, 1, 1);
    expect(await waiting()).toEqual([{ ...open, waiting: 2 }]);
    await endSession(pool, session);
    expect(await waiting()).toEqual([{ ...open, waiting: 3 }]);
    await pool.query('UPDATE promptpress.slices SET done = true WHERE run = $1', [run]);
    expect(await waiting()).toEqual([]);
  });
});

it('feeds no further ahead than 1,000 slices and two for each task slot, at most 32 at a time', async () => {
  const time = new VirtualTime();
  let [waiting, most, fed] = [0, 0, 0];
  const counts: number[] = [];
  const query = (text: string, values: readonly unknown[] = []) => {
    if (text.includes('count(*)')) return Promise.resolve({ rows: [{ waiting }] });
    if (text.startsWith('SELECT')) return Promise.resolve({ rows: [{ upto: fed, fed: false }] });
    const slices = values[5] as readonly string[];
    counts.push(slices.length);
    fed = values[3] as number;
    waiting += slices.length;
    most = Math.max(most, waiting);
    return Promise.resolve({ rows: slices.map((_, at) => ({ n: at })) });
  };
  async function* cells() {
    for (let number = 1; number <= 1500; number += 1)
      yield await Promise.resolve({ number, repeat: 1, vars: {} } satisfies Cell);
  }
  const queue = { feed: () => Promise.resolve() } as unknown as LeaseQueue;
  const feeding = feed(
    cells(),
    { pool: { query } as unknown as EnginePool, queue, clock: time.clock() },
    { run: 1, invocation: 1, epoch: 0, size: 1, slots: 5 },
    new AbortController().signal,
  );
  // Seven slices are done now and then.
  for (let round = 0; round < 80; round += 1) {
    for (let turns = 0; turns < 200; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(waiting).toBe(Math.min(1010, waiting + 1500 - fed));
    waiting -= 7;
    await time.pass(500);
  }
  await feeding;
  expect([most, Math.max(...counts)]).toEqual([1010, 32]);
});

it.each<[string, unknown, unknown]>([
  ['while the engine is away', engineError('away', 'engine'), 'done'],
  ['not where its failure does not pass', engineError('damaged', 'engine'), undefined],
  ['not where it is a bug', new TypeError('a bug'), new TypeError('a bug')],
])('repeats work %s', async (_, failure, expected) => {
  const time = new VirtualTime();
  let calls = 0;
  const work = untilDone(
    () => {
      calls += 1;
      return calls < 4 ? Promise.reject(failure) : Promise.resolve('done');
    },
    time.clock(),
    new AbortController().signal,
  ).catch((error: unknown) => error);
  await time.pass(5000);
  expect([await work, calls]).toEqual([expected, expected === 'done' ? 4 : 1]);
});

it('leaves no listener or timer behind, however often it waits', async () => {
  const time = new VirtualTime();
  const aborted = new AbortController();
  const { signal } = aborted;
  let tries = 0;
  const waiting = untilDone(
    () => {
      tries += 1;
      return tries > 20 ? Promise.resolve('done') : Promise.reject(engineError('away', 'engine'));
    },
    time.clock(),
    signal,
  );
  await time.pass(20 * 500);
  expect([await waiting, tries]).toEqual(['done', 21]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  let armed = 0;
  const at = (_at: number, _call: () => void) => {
    armed += 1;
    return () => {
      armed -= 1;
    };
  };
  const paused = pause({ now: () => time.now, at }, 1000, signal);
  aborted.abort();
  await paused;
  expect([armed, getEventListeners(signal, 'abort')]).toEqual([0, []]);
});
