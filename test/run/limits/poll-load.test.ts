import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PollLoad } from '../../../src/run/limits/poll-load.ts';
import { Heap } from '../../../src/run/scheduler/queues.ts';
import { seededRandom } from '../../rig/virtual-run.ts';

/** Polls many tasks that never end for some seconds. @returns when the polls were, and the interval of each by its wish */
function polled(load: PollLoad, needs: readonly number[], forMs: number) {
  const due = new Heap<{ readonly at: number; readonly wishMs: number }>((a, b) => a.at < b.at);
  const random = seededRandom(3);
  for (const wishMs of needs) due.push({ at: random() * wishMs, wishMs });
  const moments: number[] = [];
  const intervals: { readonly wishMs: number; readonly ms: number; readonly at: number }[] = [];
  for (;;) {
    const next = due.pop();
    if (next === undefined || next.at > forMs) return { moments, intervals };
    moments.push(next.at);
    const ms = load.waitMs(next.wishMs, next.at);
    intervals.push({ wishMs: next.wishMs, ms, at: next.at });
    due.push({ at: next.at + ms, wishMs: next.wishMs });
  }
}

describe('PollLoad', () => {
  it('leaves the intervals of few tasks unchanged', () => {
    const { intervals } = polled(
      new PollLoad(undefined),
      Array.from({ length: 50 }, () => 1000),
      30_000,
    );
    expect(intervals.every(({ wishMs, ms }) => Math.abs(ms - wishMs) < 1e-6)).toBe(true);
  });

  it('stretches the intervals of many tasks by the same factor', () => {
    const needs = Array.from({ length: 1000 }, (_, n) => (n % 2 === 0 ? 2000 : 6000));
    const { intervals, moments } = polled(new PollLoad(undefined), needs, 120_000);
    const late = intervals.filter(({ at }) => at > 60_000);
    const ratio = (wish: number): number => {
      const own = late.filter(({ wishMs }) => wishMs === wish);
      return own.reduce((sum, { ms }) => sum + ms, 0) / own.length / wish;
    };
    expect(ratio(2000) / ratio(6000)).toBeGreaterThan(0.85);
    expect(ratio(2000) / ratio(6000)).toBeLessThan(1.15);
    const second = moments.filter((at) => at > 60_000).length / 60;
    expect(second).toBeGreaterThan(80);
    expect(second).toBeLessThanOrEqual(100);
  });

  it('gives no second more polls than the limit once they are running, whatever the tasks want', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 60 }),
        (needs, count) => {
          const load = new PollLoad({ count, perMs: 1000 });
          const seconds = new Map<number, number>();
          for (const wishMs of needs) {
            const second = Math.floor(load.waitMs(wishMs, 0) / 1000);
            seconds.set(second, (seconds.get(second) ?? 0) + 1);
          }
          expect(Math.max(...seconds.values())).toBeLessThanOrEqual(count);
        },
      ),
    );
  });

  it('delays no poll beyond the time of all due polls, however many tasks come and however low the limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 0, max: 20_000 }),
        fc.constantFrom(
          { count: 1, perMs: 3_600_000 },
          { count: 1, perMs: 60_000 },
          { count: 5, perMs: 1000 },
          undefined,
        ),
        (tasks, wishMs, limit) => {
          const load = new PollLoad(limit);
          const perWindow = Math.max(1, Math.floor(load.perSecond));
          const windowMs = Math.max(1000, 1000 / load.perSecond);
          for (let n = 0; n < tasks; n++) {
            // What it waits for beyond its wish is at most four times the line, and the room that is free behind all others.
            const longest = wishMs + 5 * (Math.ceil(tasks / perWindow) + 1) * windowMs;
            expect(load.waitMs(wishMs, n)).toBeLessThanOrEqual(longest);
          }
        },
      ),
    );
  });

  it('never polls a task sooner than it would be polled alone', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30_000), { minLength: 1, maxLength: 200 }), (needs) => {
        const load = new PollLoad({ count: 5, perMs: 1000 });
        for (const [n, wishMs] of needs.entries())
          expect(load.waitMs(wishMs, n * 10)).toBeGreaterThanOrEqual(wishMs - 1e-6);
      }),
    );
  });
});
