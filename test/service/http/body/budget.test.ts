import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { type BodyHold, BodyPool } from '../../../../src/service/http/body/budget.ts';
import { never } from '../../scripted-fetch.ts';

const free = 65_536;

/** A hold whose free part is used up: every further byte counts. */
function opened(pool: BodyPool, signal: AbortSignal = never): BodyHold {
  const hold = pool.open(signal);
  expect(hold.take(free)).toBeUndefined();
  return hold;
}

/** Notes in which order waits end. */
function noted(order: string[], name: string, wait: Promise<void> | undefined): Promise<void> {
  if (wait === undefined) throw new Error(`${name} did not have to wait`);
  return wait.then(
    () => void order.push(name),
    (error: unknown) => void order.push(`${name}: ${String(error)}`),
  );
}

describe('a pool', () => {
  test('counts the bytes beyond the first 64 KiB of each body, so that small responses never wait', () => {
    const pool = new BodyPool(100);
    const large = opened(pool);
    void large.take(5000);
    expect([pool.held, pool.most]).toEqual([5000, 5000]);
    for (let n = 0; n < 1000; n++) opened(pool);
    expect(pool.held).toBe(5000);
    large.release();
    expect([pool.held, pool.most]).toEqual([0, 5000]);
  });

  test('counts a body once, however it is cut into chunks', () => {
    const pool = new BodyPool();
    const hold = pool.open(never);
    void hold.take(free - 10);
    void hold.take(30);
    void hold.take(0);
    void hold.take(5);
    expect(pool.held).toBe(25);
  });

  test('lets the next body be read after bodies that fill it exactly', () => {
    const pool = new BodyPool(1000);
    const [full, next, third] = [opened(pool), opened(pool), opened(pool)] as const;
    expect(full.take(1000)).toBeUndefined();
    expect(next.take(1)).toBeUndefined();
    void third.take(1)?.catch(() => undefined);
    expect([pool.held, pool.waiting]).toEqual([1001, 1]);
  });

  test('lets one reader continue past the bound, then the one that has waited longest', async () => {
    const pool = new BodyPool(100);
    const order: string[] = [];
    const [a, b, c, d] = [opened(pool), opened(pool), opened(pool), opened(pool)] as const;
    expect(a.take(60)).toBeUndefined();
    expect(b.take(60)).toBeUndefined();
    expect(b.take(1_000_000)).toBeUndefined();
    const waits = [
      noted(order, 'c', c.take(50)),
      noted(order, 'a', a.take(200)),
      // It would fit as soon as b is done, and still waits for its turn.
      noted(order, 'd', d.take(1)),
    ];
    await Promise.resolve();
    expect([order, pool.held]).toEqual([[], 1_000_120]);
    b.release();
    await Promise.all(waits.slice(0, 1));
    // c and a do not fit together with what a holds: c gets the pass, and a waits behind it.
    expect([order, pool.held]).toEqual([['c'], 110]);
    c.release();
    await Promise.all(waits.slice(0, 2));
    expect([order, pool.held]).toEqual([['c', 'a'], 260]);
    a.release();
    await Promise.all(waits);
    expect([order, pool.held]).toEqual([['c', 'a', 'd'], 1]);
    d.release();
    expect(pool.held).toBe(0);
  });

  test('does not let a newcomer that would fit pass a waiting reader', async () => {
    const pool = new BodyPool(100);
    const order: string[] = [];
    const [a, b, c, d] = [opened(pool), opened(pool), opened(pool), opened(pool)] as const;
    void a.take(90);
    void b.take(20);
    const waits = [noted(order, 'c', c.take(95)), noted(order, 'd', d.take(1))];
    a.release();
    // 20 are held: d alone would fit.
    await Promise.resolve();
    expect([order, pool.held]).toEqual([[], 20]);
    b.release();
    await Promise.all(waits);
    expect(order).toEqual(['c', 'd']);
  });

  test('ends a wait with the reason of the signal, and releases the next waiter', async () => {
    const pool = new BodyPool(100);
    const order: string[] = [];
    const stop = new AbortController();
    const [a, b, c, d] = [opened(pool), opened(pool), opened(pool, stop.signal), opened(pool)] as const;
    void a.take(60);
    void b.take(60);
    const waits = [noted(order, 'c', c.take(90)), noted(order, 'd', d.take(30))];
    a.release();
    await Promise.resolve();
    expect(order).toEqual([]);
    stop.abort(new Error('enough'));
    await Promise.all(waits);
    expect([order, pool.held]).toEqual([['c: Error: enough', 'd'], 90]);
    c.release();
    expect(pool.held).toBe(90);
  });

  test('does not let a reader wait that was aborted before', async () => {
    const pool = new BodyPool(100);
    void opened(pool).take(200);
    const hold = opened(pool, AbortSignal.abort(new Error('enough')));
    await expect(hold.take(1)).rejects.toThrow('enough');
    hold.release();
    expect(pool.held).toBe(200);
  });
});

/** One reader: chunks that it takes one after the other, and whether it is broken off, and before which chunk. */
const readers = fc.array(
  fc.record({
    chunks: fc.array(fc.integer({ min: 0, max: 3 * free }), { maxLength: 12 }),
    brokenOffAt: fc.option(fc.nat(12), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 24 },
);

test('keeps the sum within the bound and one body, ends every reader and counts nothing at the end, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(
      readers,
      fc.integer({ min: 0, max: 8 * free }),
      fc.scheduler(),
      async (all, bound, s) => {
        const pool = new BodyPool(bound);
        const counted = all.map(({ chunks }) =>
          Math.max(0, chunks.reduce((sum, bytes) => sum + bytes, 0) - free),
        );
        const largest = Math.max(...counted);
        let finished = 0;
        const read = async ({ chunks, brokenOffAt }: (typeof all)[number]): Promise<void> => {
          const stop = new AbortController();
          const hold = pool.open(stop.signal);
          try {
            for (const [index, bytes] of chunks.entries()) {
              if (index === brokenOffAt) void s.schedule(Promise.resolve()).then(() => stop.abort());
              await s.schedule(Promise.resolve());
              await hold.take(bytes);
              expect(pool.held).toBeLessThanOrEqual(bound + largest);
            }
          } catch (error) {
            if (error !== stop.signal.reason) throw error;
          } finally {
            hold.release();
            finished += 1;
          }
        };
        const reading = Promise.all(all.map(read));
        await s.waitFor(reading);
        expect([finished, pool.held]).toEqual([all.length, 0]);
        expect(pool.most).toBeLessThanOrEqual(bound + largest);
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});
