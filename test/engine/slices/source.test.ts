import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { registered, SharedImages } from '../../../src/engine/images.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import type { EnginePool } from '../../../src/engine/postgres/pool.ts';
import { bullmqOnPostgres } from '../../../src/engine/queue/bullmq-postgres.ts';
import { BullmqQueue } from '../../../src/engine/queue/bullmq-queue.ts';
import { LeaseQueue } from '../../../src/engine/queue/lease-queue.ts';
import { Orphans } from '../../../src/engine/queue/orphans.ts';
import type { SliceQueue } from '../../../src/engine/queue/queue.ts';
import { packCells } from '../../../src/engine/slices/cells.ts';
import { readLacks } from '../../../src/engine/slices/lacks.ts';
import { beginSession } from '../../../src/engine/slices/session.ts';
import { SliceSource } from '../../../src/engine/slices/source.ts';
import { addSlices, endLease, takeSlice } from '../../../src/engine/state/slices.ts';
import { type EngineStore, openEngineStore } from '../../../src/engine/state/store.ts';
import type { ImageFile } from '../../../src/plan/request/image-files.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { jobRecord } from '../../state/records.ts';
import { type TestEngine, testEngine, turnOf } from '../state/opened.ts';

const leaseMs = 60_000;
const { signal } = new AbortController();

/** A run of one cell, and a worker that has taken nothing yet. */
async function oneSlice(engine: TestEngine) {
  const { pool } = engine;
  const run = await engine.run();
  await addSlices(pool, run, [{ n: 1, cells: packCells([{ number: 1, repeat: 1, vars: {} }]) }]);
  const session = await beginSession({ pool, clock: wallClock }, run, { name: 'a worker', leaseMs });
  const worker = await openEngineStore(pool, { run, session: session.session, clock: wallClock });
  return { pool, run, worker, session, queue: new LeaseQueue(pool, { worker: 'w', leaseMs }) };
}

type OpenQueue = (worker: string, pool: EnginePool, url: string) => Promise<SliceQueue>;

const leaseQueue: OpenQueue = async (worker, pool) => new LeaseQueue(pool, { worker, leaseMs });
/** What is given back is there again at once: the clock of the worker is far behind. */
const bullmqQueue: OpenQueue = async (worker, pool, url) =>
  new BullmqQueue(
    await bullmqOnPostgres(parseEngineAddress(url), pool, { clock: wallClock, leaseMs, mayMigrate: true }),
    { worker, leaseMs, clock: new VirtualTime().clock() },
  );

describe.skipIf(!hasPostgres)('the slices of a worker', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  it.each([
    ['let go of', true],
    ['not let go of', false],
  ])('a slice that is taken again, and was %s, shows the changes of others', async (_words, isEnded) => {
    const { pool, run, worker, session, queue } = await oneSlice(engine);
    const source = new SliceSource(
      { pool, queue, store: worker, clock: wallClock },
      {
        run,
        session,
        leaseMs,
        // The cells of the slice ask for one job.
        plan: {
          resolve: (_cell, lookup) => {
            lookup('a');
            return [];
          },
        },
        isOver: () => false,
      },
    );
    try {
      expect((await source.next(8, signal)).of).toMatchObject({ slice: 1, epoch: 1 });
      const sent = jobRecord('a', 'submitting', { submittedAt: 17, submittedBy: '1/1', attempts: 1 });
      await worker.commit(turnOf(1, 1, [sent]));
      expect(worker.get('a')).toEqual(sent);

      // Somebody else takes the slice over, and does the job.
      const other = await engine.worker(run);
      expect((await takeSlice(pool, run, 1, other.session))?.epoch).toBe(2);
      await other.prefetch(['a'], 1);
      const done = jobRecord('a', 'done', { attempts: 1 });
      await other.commit(turnOf(1, 2, [done], { from: other }));
      if (isEnded) source.end({ slice: 1, epoch: 1 }, 'lost');
      await pool.query(
        'UPDATE promptpress.slices SET lease_holder = NULL, lease_until = NULL WHERE run = $1',
        [run],
      );

      expect((await source.next(8, signal)).of).toMatchObject({ slice: 1, epoch: 3 });
      expect(worker.get('a')).toEqual(done);
      // The end of the earlier holding comes late: what this one needs stays.
      const released = vi.spyOn(worker, 'release');
      source.end({ slice: 1, epoch: 1 }, 'lost');
      expect(released).not.toHaveBeenCalled();
      await source.close();
      // Given back without a delay: it is somebody else's at once.
      expect(await new LeaseQueue(pool, { worker: 'another', leaseMs }).take(run)).toEqual({
        run,
        slice: 1,
      });
    } finally {
      await source.close();
      await session.end();
    }
  });

  it.each([
    ['another one here, and are taken once', { sha256: 'bb', bytes: 1 }, leaseQueue, 31],
    [
      'broken here, and are taken once',
      { error: { code: 'input.not-image' as const, message: 'It is no image.' } },
      leaseQueue,
      31,
    ],
    [
      'another one here, and ever less often where BullMQ gives them',
      { sha256: 'bb', bytes: 1 },
      bullmqQueue,
      5,
    ],
  ])('are left to others where a file that they show is %s', async (_words, own, open, maxTakes) => {
    const { pool, run, session } = await oneSlice(engine);
    const queue = await open('another', pool, engine.database.url);
    await queue.feed(run, [1]);
    const imagesOf = (file: ImageFile, leads: boolean, its = pool): SharedImages => {
      const images = new SharedImages({ facts: () => file }, its, run, leads);
      images.begin(1);
      return images;
    };
    // The coordinator registers the files of a cell before it gives the cell.
    const theRuns = imagesOf({ sha256: 'aa', bytes: 1 }, true);
    async function* cells(): AsyncGenerator<string> {
      yield 'a cell';
    }
    for await (const cell of registered(cells(), () => theRuns.facts('pic.png'), theRuns))
      expect(cell).toBe('a cell');

    const time = new VirtualTime();
    /** Time passes in steps, for what a step causes takes turns of the event loop. */
    const pass = async (seconds: number): Promise<void> => {
      for (let step = 0; step < seconds * 4; step += 1) {
        await time.pass(250);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const statements: string[] = [];
    const counted = new Proxy(pool, {
      get: (of, name) =>
        name === 'query'
          ? (text: string, values?: readonly unknown[]) => {
              statements.push(text);
              return time.hold(() => pool.query(text, values));
            }
          : Reflect.get(of, name),
    });
    const images = imagesOf(own, false, counted);
    const store = await openEngineStore(counted, { run, session: session.session, clock: wallClock });
    const lacked: string[] = [];
    const ownQueue = await open('w', counted, engine.database.url);
    const [take, giveBack] = [ownQueue.take.bind(ownQueue), ownQueue.giveBack.bind(ownQueue)];
    const takes = vi.spyOn(ownQueue, 'take').mockImplementation((...args) => time.hold(() => take(...args)));
    vi.spyOn(ownQueue, 'giveBack').mockImplementation((...args) => time.hold(() => giveBack(...args)));
    const source = new SliceSource(
      {
        pool: counted,
        queue: ownQueue,
        store,
        clock: time.clock(),
      },
      {
        run,
        session,
        leaseMs,
        plan: {
          resolve: () => {
            images.facts('pic.png');
            return [];
          },
        },
        images,
        onLacked: (path) => lacked.push(path),
        isOver: () => false,
      },
    );
    const leaving = new AbortController();
    const waiting = source.next(8, leaving.signal);
    try {
      await pass(2);
      expect(lacked).toEqual(['pic.png']);
      expect(await readLacks(pool, run)).toEqual([
        { worker: 'a worker', path: 'pic.png', sha256: 'aa', slices: 1 },
      ]);
      // Somebody who has the file takes it after a moment, of which the engine's own clock says when it is over.
      await pool.query('UPDATE promptpress.slices SET not_before = NULL WHERE run = $1', [run]);
      const other = await queue.take(run);
      expect(other).toEqual({ run, slice: 1 });
      await queue.giveBack({ run, slice: 1 }, 0);
      const before = statements.length;
      const seconds = 30;
      takes.mockClear();
      await pass(seconds);
      expect(takes.mock.calls.length).toBeLessThanOrEqual(maxTakes);
      // A look for a slice each second, and one for the file.
      expect(statements.length - before).toBeLessThanOrEqual(2 * (seconds + 1));
      expect((await queue.take(run))?.slice).toBe(1);
      await queue.giveBack({ run, slice: 1 }, 0);

      // Once a copy lies in the place of the run, the slice is its own.
      await theRuns.serve(() => Promise.resolve(true));
      await pass(16);
      expect((await waiting).of).toMatchObject({ slice: 1, isWhole: true });
      expect(await readLacks(pool, run)).toEqual([]);
    } finally {
      leaving.abort();
      await waiting;
      await source.close();
      await session.end();
      await Promise.all([queue.close(), ownQueue.close()]);
    }
  });

  it('do not end before a file named by a reply was requested', async () => {
    const { pool, run, worker, session, queue } = await oneSlice(engine);
    const images = new SharedImages({ facts: () => ({ sha256: 'aa', bytes: 1 }) }, pool, run, false);
    images.begin(1);
    let hasReplied = false;
    const source = new SliceSource(
      { pool, queue, store: worker, clock: wallClock },
      {
        run,
        session,
        leaseMs,
        plan: {
          resolve: () => {
            if (hasReplied) images.facts('reply.png');
            return [];
          },
        },
        images,
        isOver: () => false,
      },
    );
    try {
      const { cells, of } = await source.next(8, signal);
      hasReplied = true;
      for (const cell of cells) source.resolve(cell, () => undefined);
      source.end({ slice: 1, epoch: of?.epoch ?? 0 }, 'closed');
    } finally {
      await source.close();
      await session.end();
    }
    const { rows } = await pool.query<{ done: boolean }>(
      'SELECT done FROM promptpress.slices WHERE run = $1',
      [run],
    );
    expect(rows).toEqual([{ done: false }]);
  });

  it('are read once turns of an earlier lease have ended, and nothing more is decided for that lease', async () => {
    const { pool, run, worker, session, queue } = await oneSlice(engine);
    const order: string[] = [];
    const store: EngineStore = {
      ...worker,
      settled: async () => {
        order.push('asks for the end of turns');
        await worker.settled();
        order.push('turns are over');
      },
      left: (slice) => {
        order.push('reads');
        return worker.left(slice);
      },
    };
    const source = new SliceSource(
      { pool, queue, store, clock: wallClock },
      { run, session, leaseMs, plan: { resolve: () => [] }, isOver: () => false },
    );
    source.onLost(({ slice, epoch }) => {
      order.push(`${slice}/${epoch} is lost`);
      // A turn is under way just then.
      void worker
        .commit(turnOf(1, 1, [jobRecord('a', 'submitting')]))
        .then(({ lost }) => order.push(`a turn has lost ${[...lost].join()}`));
    });
    try {
      await source.next(8, signal);
      await pool.query(
        'UPDATE promptpress.slices SET lease_holder = NULL, lease_until = NULL WHERE run = $1',
        [run],
      );
      order.length = 0;
      expect((await source.next(8, signal)).of).toMatchObject({ slice: 1, epoch: 2 });
      expect(order).toEqual([
        '1/1 is lost',
        'asks for the end of turns',
        'a turn has lost 1',
        'turns are over',
        'reads',
      ]);
    } finally {
      await source.close();
      await session.end();
    }
  });

  it('are taken once the number of task slots is known, and their number is reported', async () => {
    const { pool, run, worker, session, queue } = await oneSlice(engine);
    const take = vi.spyOn(queue, 'take');
    const taken: number[] = [];
    const held: number[] = [];
    const source = new SliceSource(
      { pool, queue, store: worker, clock: wallClock },
      {
        run,
        session,
        leaseMs,
        plan: { resolve: () => [] },
        isOver: () => false,
        // It is known the second time.
        lackedSlotMs: () => (taken.push(take.mock.calls.length) > 1 ? 0 : undefined),
        onHeld: (slices) => held.push(slices),
      },
    );
    try {
      expect((await source.next(8, signal)).of).toMatchObject({ slice: 1, epoch: 1 });
      expect(taken).toEqual([0, 0]);
      expect(take).toHaveBeenCalledTimes(1);
      source.end({ slice: 1, epoch: 1 }, 'waits');
      expect(held).toEqual([1, 0]);
    } finally {
      await source.close();
      await session.end();
    }
  });

  it('are taken one at a time without task slots, and more after 15 s, in search of tasks', async () => {
    const { pool, run, worker, session, queue } = await oneSlice(engine);
    const cells = packCells([{ number: 2, repeat: 1, vars: {} }]);
    await addSlices(pool, run, [
      { n: 2, cells },
      { n: 3, cells },
      { n: 4, cells },
    ]);
    const lacked = [200, 450, 700, 14_999, 15_000, 0];
    const source = new SliceSource(
      { pool, queue, store: worker, clock: wallClock },
      {
        run,
        session,
        leaseMs,
        plan: { resolve: () => [] },
        isOver: () => false,
        lackedSlotMs: () => lacked.shift(),
      },
    );
    const left: number[] = [];
    const next = async (): Promise<number | undefined> => {
      const { of } = await source.next(8, signal);
      left.push(lacked.length);
      return of?.slice;
    };
    try {
      expect([await next(), await next(), await next()]).toEqual([1, 2, 3]);
      expect(left).toEqual([5, 1, 0]);
    } finally {
      await source.close();
      await session.end();
    }
  });

  /** A source whose time a test lets pass, of slices with so many cells. */
  async function given(counts: readonly number[]) {
    const { pool } = engine;
    const run = await engine.run();
    const cells = (of: number): string =>
      packCells(Array.from({ length: of }, (_unused, at) => ({ number: at + 1, repeat: 1, vars: {} })));
    await addSlices(
      pool,
      run,
      counts.map((count, at) => ({ n: at + 1, cells: cells(count) })),
    );
    const worker = await engine.worker(run);
    const time = new VirtualTime(0);
    const queue = new LeaseQueue(pool, { worker: 'w', leaseMs });
    const kept: (readonly [at: number, slices: readonly number[]])[] = [];
    const keep = vi.spyOn(queue, 'keep').mockImplementation((turns) => {
      kept.push([time.now, turns.map(({ slice }) => slice)]);
      return Promise.resolve([]);
    });
    const take = vi.spyOn(queue, 'take');
    const begun = await beginSession({ pool, clock: wallClock }, run, { name: 'a worker', leaseMs });
    const held = { back: false };
    const over: (() => void)[] = [];
    let isOver = false;
    const session = {
      ...begun,
      get isOver() {
        return isOver;
      },
      onOver: (listener: () => void): void => void over.push(listener),
    };
    const die = (): void => {
      isOver = true;
      for (const listener of over) listener();
    };
    const source = new SliceSource(
      { pool, queue, store: worker, clock: time.clock() },
      {
        run,
        session,
        leaseMs,
        plan: { resolve: () => [] },
        isOver: () => false,
        isHeldBack: () => held.back,
      },
    );
    const lost: string[] = [];
    const forgetLost = source.onLost(({ slice, epoch }) => lost.push(`${slice}/${epoch}`));
    const next = async (most: number): Promise<string> => {
      const { cells: some, of } = await source.next(most, signal);
      const numbers = some.map(({ number }) => number).join(' ');
      return `${of?.slice}/${of?.epoch}: ${numbers}${of?.isWhole === true ? ' whole' : ''}`;
    };
    const close = async (): Promise<void> => {
      await source.close();
      await begun.end();
    };
    /** The lease of all slices ends, as the queue sees it. */
    const expire = async (): Promise<void> => {
      const free = 'UPDATE promptpress.slices SET lease_holder = NULL, lease_until = NULL WHERE run = $1';
      await pool.query(free, [run]);
    };
    return { source, time, queue, take, keep, kept, lost, forgetLost, next, expire, die, held, close };
  }

  it('that end while their cells are passed on pass no further cells', async () => {
    const { source, next, close } = await given([5, 2]);
    expect(await next(2)).toBe('1/1: 1 2');
    source.end({ slice: 1, epoch: 1 }, 'waits');
    expect(await next(2)).toBe('2/1: 1 2 whole');
    await close();
  });

  it('pass on all their cells, although an earlier lease ends meanwhile', async () => {
    const { source, next, expire, close } = await given([5]);
    expect(await next(8)).toBe('1/1: 1 2 3 4 5 whole');
    await expire();
    expect(await next(2)).toBe('1/2: 1 2');
    source.end({ slice: 1, epoch: 1 }, 'lost');
    expect(await next(2)).toBe('1/2: 3 4');
    expect(await next(2)).toBe('1/2: 5 whole');
    await close();
  });

  it('that are lost while their cells are passed on pass no further cells', async () => {
    const { keep, time, lost, forgetLost, next, close } = await given([5, 2]);
    expect(await next(2)).toBe('1/1: 1 2');
    keep.mockImplementation((turns) => Promise.resolve(turns));
    await time.pass(leaseMs / 3);
    expect(lost).toEqual(['1/1']);
    expect(await next(2)).toBe('2/1: 1 2 whole');
    forgetLost();
    await time.pass(leaseMs / 3);
    expect(lost).toEqual(['1/1']);
    await close();
  });

  it('are renewed three times per lease, until they have ended', async () => {
    const { source, time, kept, next, close } = await given([1, 1]);
    await next(8);
    await next(8);
    for (let at = 0; at < leaseMs; at += 1000) await time.pass(1000);
    source.end({ slice: 1, epoch: 1 }, 'waits');
    for (let at = 0; at < leaseMs; at += 1000) await time.pass(1000);
    expect(kept).toEqual(
      [1, 2, 3, 4, 5, 6].map((third) => [(third * leaseMs) / 3, third <= 3 ? [1, 2] : [2]]),
    );
    await close();
  });

  it('are left to others while nothing new may be sent', async () => {
    const { source, time, next, held, close } = await given([1, 1]);
    expect(await next(8)).toContain('1/1');
    held.back = true;
    const stop = new AbortController();
    const waiting = source.next(8, stop.signal);
    await time.pass(60_000);
    stop.abort();
    await time.pass(1000);
    expect(await waiting).toEqual({ cells: [], last: false });
    held.back = false;
    expect(await next(8)).toContain('2/1');
    await close();
  });

  it('are all lost once the worker is known to be gone: it keeps and takes none', async () => {
    const { source, time, take, kept, lost, next, die, close } = await given([1, 1, 1]);
    await next(8);
    await next(8);
    expect([source.isDead, lost]).toEqual([false, []]);
    die();
    expect([source.isDead, lost]).toEqual([true, ['1/1', '2/1']]);
    await time.pass(leaseMs);
    const takes = take.mock.calls.length;
    expect(await source.next(8, signal)).toEqual({ cells: [], last: true });
    expect([take.mock.calls.length - takes, kept]).toEqual([0, []]);
    await close();
  });

  it('are given back once their requests have ended, and then no longer renewed', async () => {
    const { source, time, queue, keep, next, close } = await given([1]);
    await next(8);
    const order: string[] = [];
    let answer: () => void = () => undefined;
    keep.mockImplementation(async () => {
      order.push('says');
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      order.push('has said');
      return [];
    });
    const giveBack = vi.spyOn(queue, 'giveBack').mockImplementation(() => {
      order.push('gives back');
      return Promise.resolve();
    });
    await time.pass(leaseMs / 3);
    const closed = close();
    // Whatever does not wait for the answer comes to its end meanwhile.
    for (let n = 0; n < 5; n += 1) await engine.pool.query('SELECT 1');
    answer();
    await closed;
    await time.pass(leaseMs);
    expect([order, giveBack.mock.calls.length]).toEqual([['says', 'has said', 'gives back'], 1]);
    expect(source.isDead).toBe(false);
  });

  it('of dead workers are reported until they are taken over', async () => {
    const { pool } = engine;
    const run = await engine.run();
    const cells = packCells([{ number: 1, repeat: 1, vars: {} }]);
    await addSlices(
      pool,
      run,
      [1, 2, 3].map((n) => ({ n, cells })),
    );
    const [worker, dead, gone] = [
      await engine.worker(run),
      await engine.worker(run),
      await engine.worker(run),
    ];
    await takeSlice(pool, run, 1, dead.session);
    await takeSlice(pool, run, 2, gone.session);
    await endLease(pool, run, 2, 1);
    const told: boolean[] = [];
    const orphans = new Orphans({ pool, run, session: worker.session }, () => 0);
    orphans.onChange((areThere) => told.push(areThere));
    await orphans.count();
    expect(told).toEqual([]);
    await pool.query(
      "UPDATE promptpress.sessions SET lease_ms = 1000, seen = clock_timestamp() - interval '2 s' WHERE session = ANY ($1)",
      [[dead.session, gone.session]],
    );
    await orphans.count();
    expect(told).toEqual([true]);
    orphans.onTaken();
    expect(told).toEqual([true, false]);
    await takeSlice(pool, run, 1, worker.session);
    await orphans.count();
    expect(told).toEqual([true, false]);
  });

  it('of dead workers are not taken over without end by a worker that holds many', async () => {
    const { pool } = engine;
    const run = await engine.run();
    await addSlices(pool, run, [{ n: 1, cells: '[]' }]);
    const [worker, dead] = [await engine.worker(run), await engine.worker(run)];
    await takeSlice(pool, run, 1, dead.session);
    await pool.query(
      "UPDATE promptpress.sessions SET lease_ms = 1000, seen = clock_timestamp() - interval '2 s' WHERE session = $1",
      [dead.session],
    );
    const told: boolean[] = [];
    for (const held of [64, 63]) {
      const orphans = new Orphans({ pool, run, session: worker.session }, () => held);
      orphans.onChange((areThere) => told.push(areThere));
      await orphans.count();
    }
    expect(told).toEqual([true]);
  });
});
