import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../src/run/rate.ts';

describe('RateLimiter', () => {
  it('never lets more than the count through in any window, whenever it is asked', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(1000, 60_000),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }),
        (count, perMs, gaps) => {
          const limiter = new RateLimiter({ count, perMs });
          const taken: number[] = [];
          let now = 0;
          for (const gap of gaps) {
            now += gap;
            if (limiter.nextAt() > now) continue;
            limiter.take(now);
            taken.push(now);
          }
          for (const from of taken)
            expect(taken.filter((at) => at >= from && at < from + perMs).length).toBeLessThanOrEqual(count);
        },
      ),
    );
  });

  it('is unlimited without a rate, and learns half of its pace when it is refused', () => {
    const limiter = new RateLimiter(undefined);
    for (let at = 0; at < 10_000; at += 500) {
      expect(limiter.nextAt()).toBeLessThanOrEqual(at);
      limiter.take(at);
    }
    limiter.lower(10_000);
    expect(limiter.perMinute).toBeCloseTo(60, 0);
  });

  it('is halved by the refusals of one moment together, and comes back by a quarter for each quiet half minute, never above what was asked', () => {
    const limiter = new RateLimiter({ count: 60, perMs: 60_000 });
    limiter.lower(0);
    limiter.lower(100);
    limiter.lower(6000);
    expect(limiter.perMinute).toBeCloseTo(15);
    let now = 6000;
    const rates: number[] = [];
    for (let quarter = 0; quarter < 10; quarter++) {
      now += 30_000;
      limiter.take(now);
      rates.push(limiter.perMinute ?? 0);
    }
    expect(rates[0]).toBeCloseTo(18.75);
    expect(rates.at(-1)).toBeCloseTo(60);
    expect(Math.max(...rates)).toBeLessThanOrEqual(60.0001);
  });

  it('learns nothing from a handful of requests', () => {
    const limiter = new RateLimiter(undefined);
    limiter.take(0);
    limiter.lower(50);
    expect(limiter.perMinute).toBeUndefined();
  });

  it('never falls below one request a minute', () => {
    const limiter = new RateLimiter({ count: 2, perMs: 60_000 });
    for (let n = 0; n < 20; n++) limiter.lower(10_000 * n);
    expect(limiter.perMinute).toBe(1);
  });
});
