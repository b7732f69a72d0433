import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../../../src/run/limits/rate/rate.ts';

describe('RateLimiter', () => {
  it('never allows more than the count in any window, whenever requests come', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(1000, 60_000),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }),
        (count, perMs, gaps) => {
          const limiter = new RateLimiter({ count, perMs });
          const used: number[] = [];
          let now = 0;
          for (const gap of gaps) {
            now += gap;
            if (limiter.nextAt() > now) continue;
            limiter.take(now);
            used.push(now);
          }
          for (const from of used)
            expect(used.filter((at) => at >= from && at < from + perMs).length).toBeLessThanOrEqual(count);
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

  it('is unlimited without a rate, and falls to about half of its pace when too many requests are refused', () => {
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

  it('is lowered once by the refusals of one moment, and rises step by step, never above the configured rate', () => {
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

  it('never falls below one request a minute, and keeps a slower configured rate', () => {
    const limiter = new RateLimiter({ count: 2, perMs: 60_000 });
    send(limiter, 100, 0, all);
    expect(limiter.perMinute).toBe(1);
    const slow = new RateLimiter({ count: 1, perMs: 120_000 });
    send(slow, 100, 0, all);
    expect(slow.perMinute).toBe(0.5);
  });

  describe('of 60 a minute that was lowered to 33', () => {
    const lowered = (at = 0): RateLimiter => {
      const limiter = new RateLimiter({ count: 60, perMs: 60_000 });
      for (let n = 0; n < 6; n += 1) limiter.refused(at);
      expect(limiter.perMinute).toBeCloseTo(33);
      return limiter;
    };
    const take = (limiter: RateLimiter, ...moments: readonly number[]): void => {
      for (const at of moments) limiter.take(at);
    };
    const upTo = (count: number, from = 1): readonly number[] =>
      Array.from({ length: count }, (_, n) => from + n);

    it('spaces its requests', () => {
      const limiter = lowered();
      take(limiter, 1000);
      expect(limiter.nextAt()).toBeCloseTo(1000 + 1000 / 0.55);
    });

    it('rises by 3 % with the request after the twentieth', () => {
      const limiter = lowered();
      take(limiter, ...upTo(20));
      expect(limiter.perMinute).toBeCloseTo(33);
      take(limiter, 21);
      expect(limiter.perMinute).toBeCloseTo(33 * 1.03);
      take(limiter, ...upTo(19, 22));
      expect(limiter.perMinute).toBeCloseTo(33 * 1.03);
      take(limiter, 41);
      expect(limiter.perMinute).toBeCloseTo(33 * 1.03 ** 2);
    });

    it('rises after 30 s and eight requests without a refusal', () => {
      const limiter = lowered();
      take(limiter, ...upTo(8), 29_999);
      expect(limiter.perMinute).toBeCloseTo(33);
      take(limiter, 30_000);
      expect(limiter.perMinute).toBeCloseTo(33 * 1.03);
      const slow = lowered();
      take(slow, ...upTo(7), 40_000);
      expect(slow.perMinute).toBeCloseTo(33);
      take(slow, 40_001);
      expect(slow.perMinute).toBeCloseTo(33 * 1.03);
    });

    it('does not rise early after a refusal', () => {
      const limiter = lowered();
      limiter.refused(5000);
      take(limiter, ...upTo(9, 35_000));
      expect(limiter.perMinute).toBeCloseTo(33);
      take(limiter, ...upTo(12, 35_100));
      expect(limiter.perMinute).toBeCloseTo(33 * 1.03);
    });

    it('ignores refusals for 5 s, and counts them from then on', () => {
      const limiter = lowered();
      take(limiter, ...upTo(19));
      for (let n = 0; n < 20; n += 1) expect(limiter.refused(4999)).toBe(true);
      // Of 19 requests nobody knows yet whether the refusals are few.
      expect(limiter.refused(5000)).toBe(true);
      take(limiter, 5000);
      for (let n = 0; n < 4; n += 1) expect(limiter.refused(5000)).toBe(false);
      expect(limiter.perMinute).toBeCloseTo(33);
      expect(limiter.refused(5000)).toBe(false);
      expect(limiter.refused(5000)).toBe(true);
      expect(limiter.perMinute).toBeCloseTo(33 * 0.55);
    });

    it('is not raised while more than three refusals exceed the tolerated share', () => {
      const limiter = lowered();
      let now = 10_000;
      // Eight refusals among twenty are four beyond the share; among the next twenty there is none.
      for (let n = 1; n <= 20; n += 1) {
        limiter.take(++now);
        if ((n * 8) % 20 < 8) limiter.refused(now);
      }
      limiter.take(++now);
      expect(limiter.perMinute).toBeCloseTo(33);
      for (let n = 0; n < 19; n += 1) limiter.take(++now);
      expect(limiter.perMinute).toBeCloseTo(33);
      limiter.take(++now);
      expect(limiter.perMinute).toBeCloseTo(33 * 1.03);
    });
  });

  describe('without a rate', () => {
    const lowered = (moments: readonly number[], at: number): RateLimiter => {
      const limiter = new RateLimiter(undefined);
      for (const moment of moments) limiter.take(moment);
      for (let n = 0; n < 6; n += 1) limiter.refused(at);
      return limiter;
    };

    it('measures its pace by the last 64 requests', () => {
      const moments = Array.from({ length: 100 }, (_, n) => n * 100);
      expect(lowered(moments, 9900).perMinute).toBeCloseTo((60_000 * 64 * 0.55) / 6300);
    });

    it('measures its pace by eight requests, and by no fewer', () => {
      const moments = Array.from({ length: 8 }, (_, n) => n * 100);
      expect(lowered(moments, 1000).perMinute).toBeCloseTo((60_000 * 8 * 0.55) / 1000);
      expect(lowered(moments.slice(1), 1000).perMinute).toBeUndefined();
    });

    it('treats requests of one moment as requests of one millisecond', () => {
      const moments = Array.from({ length: 8 }, () => 0);
      expect(lowered(moments, 0).perMinute).toBeCloseTo(60_000 * 8 * 0.55);
    });

    it('rises by a quarter once it is quiet beyond the pace that was too much', () => {
      const limiter = lowered(
        Array.from({ length: 8 }, (_, n) => n * 1000),
        8000,
      );
      expect(limiter.perMinute).toBeCloseTo(33);
      const rates: number[] = [];
      let now = 8000;
      for (let n = 0; n < 60; n += 1) {
        // Eight requests, and then one after half a minute: quiet each time.
        for (let sent = 0; sent < 8; sent += 1) limiter.take(now);
        now += 30_000;
        limiter.take(now);
        rates.push(limiter.perMinute ?? 0);
      }
      const steps = rates.slice(1).map((rate, n) => rate / (rates[n] ?? 1));
      const beyond = rates.findIndex((rate) => rate > 60);
      expect(beyond).toBeGreaterThan(10);
      for (const [n, by] of steps.entries()) expect(by).toBeCloseTo(n < beyond ? 1.03 : 1.25);
    });
  });
});
