import { describe, expect, it } from 'vitest';
import { RoutePace } from '../../../../src/run/limits/rate/route-pace.ts';

const minute = 60_000;
const perMinute = (count: number) => ({ count, perMs: minute });

/** Sends one request after the other as fast as the pace allows, each answered after 100 ms. @returns the end */
function send(
  pace: RoutePace,
  count: number,
  from: number,
  isRefused: (n: number, now: number) => boolean,
  pauseMs?: number,
): number {
  let now = from;
  for (let n = 0; n < count; n += 1) {
    now = Math.max(now, pace.nextAt());
    const sentAt = now;
    pace.take(sentAt);
    now += 100;
    if (isRefused(n, sentAt)) pace.refused(now, sentAt, pauseMs);
    else pace.served(now, sentAt);
  }
  return now;
}

/** A service that accepts one request in so many ms. */
function every(ms: () => number): (n: number, now: number) => boolean {
  let free = 0;
  return (_n, now) => {
    if (now < free) return true;
    free = Math.max(free, now - 1) + ms();
    return false;
  };
}

const sixth = (n: number): boolean => n % 6 === 5;

describe('RoutePace', () => {
  it.each([
    [9, undefined],
    [10, 600],
  ])(
    'knows a pace at the second refusal, once ten requests were served between the two: %d',
    (between, known) => {
      const pace = new RoutePace(60_000, undefined);
      // One every 100 ms; the service says when to ask again.
      send(pace, between + 2, 0, (n) => n === 0 || n === between + 1, 1);
      expect([pace.isFound, pace.perMinute && Math.round(pace.perMinute / 100) * 100]).toEqual([
        known !== undefined,
        known,
      ]);
    },
  );

  it('knows none while only refusals are known, and has no rest of its own then', () => {
    const pace = new RoutePace(60_000, undefined);
    for (let n = 0; n < 8; n += 1) pace.take(0);
    for (let n = 0; n < 4; n += 1) pace.refused(100 + n, 0, 1);
    expect([pace.isFound, pace.nextAt()]).toEqual([false, Number.NEGATIVE_INFINITY]);
  });

  it('follows a rate that is halved, and one that is doubled', () => {
    let ms = 1000;
    const pace = new RoutePace(60_000, undefined);
    const service = every(() => ms);
    let now = send(pace, 400, 0, service);
    ms = 2000;
    now = send(pace, 150, now, service);
    expect(pace.perMinute).toBeLessThan(32);
    ms = 500;
    now = send(pace, 700, now, service);
    expect(pace.perMinute).toBeGreaterThan(0.9 * 120);
  });

  it('leaves refusals by chance to the pace that lives with them, and looks for another ever more rarely', () => {
    const pace = new RoutePace(60_000, perMinute(60));
    const found: number[] = [];
    let now = 0;
    for (let sent = 0, was = false; sent < 6000; sent += 6) {
      now = send(pace, 6, now, sixth);
      if (pace.isFound !== was) found.push(sent);
      was = pace.isFound;
    }
    const [first = 0, left = 0, again = 0, leftAgain = 0, third = 0] = found;
    expect(first).toBeGreaterThanOrEqual(300);
    expect(left - first).toBeLessThan(120);
    expect([again - left >= 1200, third - leftAgain >= 2400]).toEqual([true, true]);
    expect(pace.isFound).toBe(false);
    expect(pace.perMinute).toBeGreaterThan(58);
  });

  it('looks for none while a route is refused that may have the same limit', () => {
    const pace = new RoutePace(60_000, undefined);
    const service = every(() => 1000);
    const now = send(pace, 400, 0, service);
    expect(pace.isFound).toBe(true);
    pace.refusedElsewhere(now);
    expect(pace.isFound).toBe(false);
    let at = now;
    while (at < now + 290_000) at = send(pace, 1, at, service);
    expect(pace.isFound).toBe(false);
    send(pace, 800, now + 300_000, service);
    expect(pace.isFound).toBe(true);
  });

  it('looks for none on a route of which nobody asked it', () => {
    const pace = new RoutePace(undefined, undefined);
    send(
      pace,
      400,
      0,
      every(() => 1000),
    );
    expect(pace.isFound).toBe(false);
  });

  it('never exceeds a configured rate, and has learned nothing where that is accepted', () => {
    const pace = new RoutePace(60_000, perMinute(60));
    const end = send(
      pace,
      600,
      0,
      every(() => 500),
    );
    expect(600 / (end / minute)).toBeLessThanOrEqual(60.2);
    expect(pace.learned).toBeUndefined();
  });

  it('begins with what an earlier run has found, but never above the configured rate', () => {
    const begun = (count: number | undefined, learned: number): readonly unknown[] => {
      const pace = new RoutePace(60_000, count === undefined ? undefined : perMinute(count), [], 0, learned);
      return [pace.isFound, pace.perMinute, pace.learned];
    };
    expect(begun(undefined, 30)).toEqual([true, 30, 30]);
    expect(begun(60, 30)).toEqual([true, 30, 30]);
    expect(begun(60, 90)).toEqual([false, 60, undefined]);
  });
});
