import { describe, expect, it } from 'vitest';
import { FoundLimit } from '../../../src/run/limits/found-limit.ts';
import type { Explanation } from '../../../src/run/limits/refusals.ts';

it('pays for a refusal with forty served requests, however many were served before', () => {
  const limit = new FoundLimit({ perMinute: 60 });
  let now = 0;
  /** How many requests are served until a higher rate is tried. */
  const untilRaised = (): number => {
    for (let served = 1; ; served += 1) {
      now += 60_000;
      limit.served(now, 0, () => 0);
      if (limit.isTrying) return served;
    }
  };
  const raises = Array.from({ length: 50 }, untilRaised);
  expect(raises[0]).toBe(20);
  limit.owe();
  limit.takeBack();
  expect(untilRaised()).toBe(40);
});

const minute = 60_000;
const none = (): number => 0;
type Rate = Extract<Explanation, { by: 'rate' }>;
const rateOf = (count: number, perMs: number): Rate => ({ by: 'rate', count, perMs, share: 0 });

/** Serves a request a minute. @returns how many until more is tried */
function untilTried(limit: FoundLimit): number {
  for (let served = 1; ; served += 1) {
    limit.served(served * minute, 0, none);
    if (limit.isTrying) return served;
  }
}

describe('a window', () => {
  it('is tried one wider after eighty served requests, and up to four times as rarely where that is refused', () => {
    const limit = new FoundLimit({ atOnce: 3 });
    const tries = Array.from({ length: 4 }, () => {
      const served = untilTried(limit);
      expect([limit.window, limit.found]).toEqual([4, { atOnce: 3 }]);
      limit.takeBack();
      limit.countAnew(0);
      return served;
    });
    expect(tries).toEqual([80, 160, 320, 320]);
  });

  it('is wider once three were served since, the last of them beside as many as there were', () => {
    const limit = new FoundLimit({ atOnce: 3 });
    untilTried(limit);
    for (let n = 0; n < 10; n += 1) limit.served(0, 2, none);
    expect(limit.found).toEqual({ atOnce: 3 });
    limit.served(0, 3, none);
    expect(limit.found).toEqual({ atOnce: 4 });
    // The next one is tried soon, and known soon.
    expect(untilTried(limit)).toBe(4);
    for (let n = 0; n < 2; n += 1) limit.served(0, 9, none);
    expect(limit.found).toEqual({ atOnce: 4 });
    limit.served(0, 9, none);
    expect(limit.found).toEqual({ atOnce: 5 });
  });

  it('is none after two refusals within it, unless it was filled three times between them', () => {
    const limit = new FoundLimit({ atOnce: 2 });
    const fill = (): void => {
      for (let n = 0; n < 6; n += 1) limit.served(0, 1, none);
    };
    limit.doubtWindow();
    fill();
    expect(limit.isCounted).toBe(true);
    limit.doubtWindow();
    expect(limit.window).toBe(2);
    // Another window is not known yet, nor doubted.
    limit.follow({ by: 'beside', most: 4, share: 0 }, minute, false);
    limit.doubtWindow();
    expect([limit.window, limit.isCounted]).toEqual([4, false]);
    limit.doubtWindow();
    expect([limit.window, limit.isOpen]).toEqual([Number.POSITIVE_INFINITY, true]);
  });
});

describe('a rate', () => {
  it('is raised by 3 %, then ever faster, and after a lesson by 3 % again', () => {
    const limit = new FoundLimit({ perMinute: 60 });
    let from = 0;
    const raise = (): number => {
      const { spacing } = limit;
      // Twenty are served at once, the last of them at the end of the minute that is counted.
      for (let served = 1; served < 20; served += 1) limit.served(from + minute - 1, 0, none);
      expect(limit.spacing).toBe(spacing);
      from += minute;
      limit.served(from, 0, none);
      return Number((spacing / limit.spacing).toFixed(6));
    };
    limit.countAnew(0);
    expect(Array.from({ length: 5 }, raise)).toEqual([1.03, 1.12, 1.48, 1.5, 1.5]);
    limit.countAnew(from);
    expect(raise()).toBe(1.03);
  });

  it('that is refused goes back to the one that was accepted for a while, then ever further below', () => {
    const limit = new FoundLimit({ perMinute: 60 });
    for (let now = minute; now <= 40 * minute; now += minute) limit.served(now, 0, none);
    const lower = (): number => {
      limit.lower();
      return Number((60_000 / limit.spacing).toFixed(3));
    };
    expect(limit.spacing).toBeLessThan(1000);
    expect(Array.from({ length: 6 }, lower)).toEqual([60, 58.2, 54.708, 48.143, 36.589, 21.953]);
    limit.goBack();
    expect(limit.found).toEqual({ perMinute: 60 });
  });

  it('is one that was accepted where the first raise alone is taken back', () => {
    const back = (raises: number): object => {
      const limit = new FoundLimit({});
      limit.follow(rateOf(10, minute), minute, false);
      const { found } = limit;
      for (let n = 1; n <= 20 * raises; n += 1) limit.served(n * minute, 0, none);
      limit.takeBack();
      limit.goBack();
      return { ...limit.found, isSame: limit.found.perMinute === found.perMinute };
    };
    expect(back(1)).toEqual({ perMinute: expect.closeTo(9.85), isSame: true });
    expect(back(2)).toEqual({ isSame: false });
  });

  it('that was found after a rest is that of an outage where more than a fifth more are served in its time', () => {
    const found = (served: number, raises = 0): object => {
      const limit = new FoundLimit({});
      const spans = new Set<number>();
      limit.follow(rateOf(10, minute), minute, true);
      for (let n = 0; n < raises; n += 1) {
        untilTried(limit);
        limit.takeBack();
      }
      limit.served(0, 0, (ms) => {
        spans.add(ms);
        return served;
      });
      return { ...limit.found, spans: [...spans] };
    };
    expect(found(12)).toEqual({ perMinute: expect.closeTo(9.85), spans: [minute] });
    expect(found(13)).toEqual({ spans: [minute] });
    // More was refused since: it is a rate.
    expect(found(99, 1)).toEqual({ perMinute: expect.closeTo(9.85), spans: [] });
  });
});
