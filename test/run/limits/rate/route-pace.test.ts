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
): number {
  let now = from;
  for (let n = 0; n < count; n += 1) {
    now = Math.max(now, pace.nextAt());
    const sentAt = now;
    pace.take(sentAt);
    now += 100;
    if (isRefused(n, sentAt)) pace.refused(now, sentAt);
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

const refusedOf = (
  pace: RoutePace,
  count: number,
  from: number,
  isRefused: ReturnType<typeof every>,
): readonly [number, number] => {
  let refused = 0;
  const end = send(pace, count, from, (n, now) => {
    const is = isRefused(n, now);
    refused += Number(is);
    return is;
  });
  return [refused, end];
};

describe('RoutePace', () => {
  it('finds the rate that a service accepts, with few refusals from then on', () => {
    const pace = new RoutePace(true, undefined);
    const service = every(() => 1000);
    const now = send(pace, 400, 0, service);
    const [refused, end] = refusedOf(pace, 1000, now, service);
    expect(refused).toBeLessThanOrEqual(20);
    expect((1000 - refused) / ((end - now) / 1000)).toBeGreaterThanOrEqual(0.95);
    expect(pace.learned).toBeGreaterThan(55);
  });

  it('follows a rate that is halved, and one that is doubled', () => {
    let ms = 1000;
    const pace = new RoutePace(true, undefined);
    const service = every(() => ms);
    let now = send(pace, 400, 0, service);
    ms = 2000;
    now = send(pace, 150, now, service);
    expect(pace.perMinute).toBeLessThan(32);
    ms = 500;
    now = send(pace, 700, now, service);
    expect(pace.perMinute).toBeGreaterThan(0.9 * 120);
  });

  it('leaves refusals by chance to the pace that lives with them', () => {
    const pace = new RoutePace(true, perMinute(60));
    send(pace, 100, 0, (n) => n % 6 === 5);
    expect(pace.isFound).toBe(false);
    expect(pace.perMinute).toBeGreaterThan(58);
  });

  it('looks for a pace again after 300 requests, then after 600', () => {
    const pace = new RoutePace(true, perMinute(60));
    const isRefused = (n: number): boolean => n % 6 === 5;
    const lookedFor: number[] = [];
    let now = 0;
    for (let sent = 0, was = true; sent < 1500; sent += 6) {
      now = send(pace, 6, now, isRefused);
      if (pace.isFound !== was) lookedFor.push(sent);
      was = pace.isFound;
    }
    const [left = 0, again = 0, leftAgain = 0, third = 0] = lookedFor;
    expect(again - left).toBeGreaterThanOrEqual(295);
    expect(again - left).toBeLessThan(310);
    expect(third - leftAgain).toBeGreaterThanOrEqual(595);
  });

  it('looks for none while a route that may have the same limit is refused without a found pace', () => {
    const pace = new RoutePace(true, undefined);
    pace.refusedElsewhere(0);
    expect(pace.isFound).toBe(false);
    pace.refused(299_999, 299_999);
    expect(pace.isFound).toBe(false);
    pace.refused(300_000, 300_000);
    expect(pace.isFound).toBe(true);
  });

  it('looks for none on a route of which nobody asked it', () => {
    const pace = new RoutePace(false, undefined);
    for (let n = 0; n < 20; n += 1) pace.refused(n, n);
    expect(pace.isFound).toBe(false);
  });

  it('never exceeds a configured rate', () => {
    const pace = new RoutePace(true, perMinute(60));
    const service = every(() => 500);
    const end = send(pace, 600, 0, service);
    expect(600 / (end / minute)).toBeLessThanOrEqual(60.2);
    expect(pace.learned).toBeUndefined();
  });

  it('begins with what an earlier run has found, but never above the configured rate', () => {
    const begun = (count: number | undefined, learned: number): readonly unknown[] => {
      const pace = new RoutePace(true, count === undefined ? undefined : perMinute(count), [], 0, learned);
      return [pace.perMinute, pace.learned];
    };
    expect(begun(undefined, 30)).toEqual([30, 30]);
    expect(begun(60, 30)).toEqual([30, 30]);
    expect(begun(60, 90)).toEqual([60, undefined]);
  });
});
