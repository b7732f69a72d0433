import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../../src/run/limits/rate.ts';

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

  /** As many requests, one after the other as fast as it lets them, of which `isRefused` says which are refused. */
  function send(
    limiter: RateLimiter,
    count: number,
    from: number,
    isRefused: (n: number) => boolean,
  ): number {
    let now = from;
    for (let n = 0; n < count; n += 1) {
      now = Math.max(now + 1, limiter.nextAt());
      limiter.take(now);
      if (isRefused(n)) limiter.refused(now);
    }
    return now;
  }

  const all = (): boolean => true;
  const none = (): boolean => false;

  it('is unlimited without a rate, and learns about half of its pace when too many are refused', () => {
    const limiter = new RateLimiter(undefined);
    for (let at = 0; at < 10_000; at += 500) {
      expect(limiter.nextAt()).toBeLessThanOrEqual(at);
      limiter.take(at);
    }
    for (let n = 0; n < 6; n += 1) limiter.refused(10_000);
    expect(limiter.perMinute).toBeCloseTo(66, 0);
  });

  it('is not lowered by one refusal in five', () => {
    const limiter = new RateLimiter({ count: 60, perMs: 60_000 });
    send(limiter, 1000, 0, (n) => n % 5 === 4);
    expect(limiter.perMinute).toBeCloseTo(60);
  });

  it('is lowered once by the refusals of one moment, and comes back step by step, never above what was asked', () => {
    const limiter = new RateLimiter({ count: 60, perMs: 60_000 });
    limiter.take(0);
    for (let n = 0; n < 40; n += 1) limiter.refused(n);
    expect(limiter.perMinute).toBeCloseTo(33);
    let now = 0;
    const rates: number[] = [];
    for (let n = 0; n < 40; n += 1) {
      now = send(limiter, 20, now, none);
      rates.push(limiter.perMinute ?? 0);
    }
    expect(rates[2]).toBeGreaterThan(33);
    expect(rates[2]).toBeLessThan(40);
    expect(rates.at(-1)).toBeCloseTo(60);
    expect(Math.max(...rates)).toBeLessThanOrEqual(60.0001);
  });

  it('says of a refusal whether it is one of few', () => {
    const limiter = new RateLimiter({ count: 60, perMs: 60_000 });
    limiter.take(0);
    // Nothing is known of the others yet.
    expect(limiter.refused(0)).toBe(true);
    const now = send(limiter, 30, 0, none);
    expect(limiter.refused(now)).toBe(false);
    for (let n = 0; n < 5; n += 1) limiter.refused(now);
    expect(limiter.refused(now)).toBe(true);
  });

  it('learns nothing from a handful of requests', () => {
    const limiter = new RateLimiter(undefined);
    limiter.take(0);
    for (let n = 0; n < 6; n += 1) limiter.refused(50);
    expect(limiter.perMinute).toBeUndefined();
  });

  it('never falls below one request a minute, and keeps a slower one that was asked for', () => {
    const limiter = new RateLimiter({ count: 2, perMs: 60_000 });
    send(limiter, 100, 0, all);
    expect(limiter.perMinute).toBe(1);
    const slow = new RateLimiter({ count: 1, perMs: 120_000 });
    send(slow, 100, 0, all);
    expect(slow.perMinute).toBe(0.5);
  });
});
