import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Departures } from '../../../src/run/limits/departures.ts';

const second = 1000;
const minute = 60_000;
const hour = 3_600_000;

/** A route that always has something to send. @returns when its requests left, and the most numbers that were remembered */
function sendAll(departures: Departures, untilMs: number, late: () => number) {
  const left: number[] = [];
  let [now, size] = [0, 0];
  for (;;) {
    now = Math.max(now, departures.nextAt(now)) + late();
    if (now > untilMs) return { left, size };
    departures.pass(now);
    departures.leave(now);
    left.push(now);
    size = Math.max(size, departures.size);
  }
}

/** The most in any window. */
function maxInWindow(times: readonly number[], perMs: number): number {
  let [most, from] = [0, 0];
  for (const [to, at] of times.entries()) {
    while ((times[from] ?? 0) <= at - perMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

describe('requests between the gate and the network', () => {
  it.each([
    [20, second, 0.98],
    [7, second, 0.98],
    [1000, second, 0.96],
    [600, minute, 0.99],
    [100_000, hour, 0.998],
  ])('use nearly all of %d in %d ms, a few ms late each time, and never more', (count, perMs, least) => {
    let step = 0;
    const ms = Math.min(20, perMs / count / 4);
    const { left } = sendAll(
      new Departures({ count, perMs }),
      3 * perMs,
      () => (((step += 1) * 37) % 10) * (ms / 10),
    );
    expect(maxInWindow(left, perMs)).toBeLessThanOrEqual(count);
    expect(left.length / (3 * count)).toBeGreaterThanOrEqual(least);
  });

  it('take few stored entries, however many are sent', () => {
    const { left, size } = sendAll(new Departures({ count: 100_000, perMs: hour }), 2 * hour, () => 0);
    expect(left.length).toBeGreaterThan(199_000);
    expect(size).toBeLessThanOrEqual(1026);
  });

  it('keep up with a thousand a second though each timer is late', () => {
    const departures = new Departures({ count: 1000, perMs: second });
    let [now, left] = [0, 0];
    while (now <= 3 * second) {
      const at = departures.nextAt(now);
      if (at > now) now = at + 4;
      else {
        departures.pass(now);
        departures.leave(now);
        left += 1;
      }
    }
    expect(left).toBeGreaterThanOrEqual(0.95 * 3000);
  });

  it('that are withdrawn count as never sent', () => {
    const departures = new Departures({ count: 2, perMs: second });
    for (const now of [0, 600]) departures.pass(now);
    expect(departures.nextAt(1200)).toBe(Number.POSITIVE_INFINITY);
    for (let n = 0; n < 2; n += 1) departures.withdraw();
    expect([departures.size, departures.nextAt(1200) <= 1200]).toEqual([0, true]);
  });

  it('count as sent now until they are sent or withdrawn', () => {
    const act = fc.record({ ms: fc.nat(400), act: fc.constantFrom('pass', 'pass', 'leave', 'withdraw') });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.array(act, { maxLength: 300 }), (count, acts) => {
        const departures = new Departures({ count, perMs: second });
        const left: number[] = [];
        let [now, passed] = [0, 0];
        for (const { ms, act } of acts) {
          now += ms;
          if (act === 'pass') {
            if (departures.nextAt(now) > now) continue;
            departures.pass(now);
            passed += 1;
          } else if (passed > 0) {
            passed -= 1;
            if (act === 'withdraw') departures.withdraw();
            else {
              departures.leave(now);
              left.push(now);
            }
          }
        }
        expect(maxInWindow(left, second)).toBeLessThanOrEqual(count);
      }),
    );
  });
});
