import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FoundPace } from '../../../../src/run/limits/rate/found-pace.ts';
import { type Hint, sendAgainst, sharesOf } from '../../../rig/limited-route.ts';
import { changing, type LimiterKind, limiters } from '../../../rig/limiters.ts';
import { seededRandom } from '../../../rig/virtual-run.ts';

const minute = 60_000;
const kinds = Object.keys(limiters) as LimiterKind[];
const hints: readonly Hint[] = ['none', 'whole seconds', 'exact'];
const cases = kinds.flatMap((kind) => hints.map((hint) => ({ kind, hint })));

describe('a service that refuses what is more than it accepts, and never said how much that is', () => {
  it.each(cases)('$kind, Retry-After $hint: refuses 2 % at most, and is used to 95 %', ({ kind, hint }) => {
    const rate = { count: 60, perMs: minute };
    const sent = sendAgainst({ limiter: limiters[kind](rate), hint }, 60 * minute);
    const { refused, perMs } = sharesOf(sent, 20 * minute, 60 * minute);
    expect(refused).toBeLessThanOrEqual(0.02);
    expect(perMs * minute).toBeGreaterThanOrEqual(0.95 * 60);
  });

  it.each(kinds)(
    '%s: nine tenths are used ten minutes after the limit was doubled, and five after it was halved',
    (kind) => {
      const rate = { count: 60, perMs: minute };
      for (const [factor, afterMs] of [
        [2, 10 * minute],
        [0.5, 5 * minute],
      ] as const) {
        const at = 20 * minute;
        const limiter = changing(kind, rate, at, { ...rate, count: 60 * factor });
        const sent = sendAgainst({ limiter, width: 64 }, 40 * minute);
        const { refused, perMs } = sharesOf(sent, at + afterMs, 40 * minute);
        expect(perMs * minute).toBeGreaterThanOrEqual(0.9 * 60 * factor);
        expect(refused).toBeLessThanOrEqual(0.03);
      }
    },
  );

  it('refuses few from the first request on where an earlier run has found the limit', () => {
    const limiter = limiters['sliding window']({ count: 60, perMs: minute });
    const sent = sendAgainst({ limiter, learned: 59 }, 20 * minute);
    const { refused, perMs } = sharesOf(sent, 0, 20 * minute);
    expect(refused).toBeLessThanOrEqual(0.02);
    expect(perMs * minute).toBeGreaterThan(57);
  });

  it('refuses 8 % of the requests at most while its limit is halved again and again', () => {
    const rate = { count: 480, perMs: minute };
    for (const kind of kinds) {
      const halvings = [480, 240, 120, 60].map((count) => limiters[kind]({ ...rate, count }));
      const limiter = (at: number): number | undefined =>
        halvings[Math.min(3, Math.floor(at / (15 * minute)))]?.(at);
      const { refused } = sharesOf(sendAgainst({ limiter }, 60 * minute), 10 * minute, 60 * minute);
      expect(refused).toBeLessThan(0.08);
    }
  });
});

/** A pace of one request a second, that was found at 0. */
const found = (wanted?: number, capMs = 60_000): FoundPace =>
  new FoundPace(wanted, 1 / 1000, undefined, capMs);

describe('FoundPace', () => {
  it('waits no longer than retry.cap, or one spacing, between two requests of a service that refuses all', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 100_000 }), fc.integer({ min: 1, max: 60 }), (capMs, perMin) => {
        const pace = new FoundPace(undefined, perMin / minute, undefined, capMs);
        let now = 0;
        for (let n = 0; n < 30; n += 1) {
          const at = Math.max(now, pace.nextAt());
          expect(at - now).toBeLessThanOrEqual(Math.max(capMs, 1 / pace.pace, minute / perMin) + 1);
          pace.take(at);
          pace.refused(at + 10, at);
          now = at + 10;
        }
      }),
    );
  });

  it('asks again when the service said, and with one request at a time', () => {
    const pace = found();
    pace.take(0);
    pace.refused(10, 0, 7000);
    expect(pace.nextAt()).toBe(7010);
    pace.take(7010);
    expect(pace.nextAt()).toBeGreaterThanOrEqual(8010);
    pace.refused(7020, 7010, 250);
    expect(pace.nextAt()).toBe(7270);
  });

  it('never is faster than the configured rate, whatever is refused, for ever so long', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 0.3, noNaN: true }),
        (seed, share) => {
          const random = seededRandom(seed);
          const pace = found(1.5 / 1000);
          let now = 0;
          for (let n = 0; n < 1500; n += 1) {
            now = Math.max(now, pace.nextAt()) + 1;
            pace.take(now);
            if (random() < share) pace.refused(now, now);
            else pace.served(now);
            expect(pace.pace).toBeLessThanOrEqual(1.5 / 1000);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('bears two refusals that are far apart, and is lower after the third', () => {
    const pace = found();
    const paces: number[] = [];
    let now = 0;
    for (let n = 1; n <= 48; n += 1) {
      now = Math.max(now, pace.nextAt());
      pace.take(now);
      if (n % 16 === 0) {
        pace.refused(now, now);
        paces.push(pace.pace * 1000);
      } else pace.served(now);
    }
    expect(paces.slice(0, 2)).toEqual([1, 1]);
    expect(paces[2]).toBeLessThanOrEqual(0.98);
  });

  it('tries no raise before all refusals are paid, and takes one back that is refused', () => {
    const pace = found();
    let now = 0;
    const send = (count: number): void => {
      for (let n = 0; n < count; n += 1) {
        now = Math.max(now, pace.nextAt());
        pace.take(now);
        pace.served(now);
      }
    };
    const refuse = (): void => {
      now = Math.max(now, pace.nextAt());
      pace.take(now);
      pace.refused(now, now);
    };
    send(12);
    refuse();
    const [raised, kept] = [pace.pace, pace.found ?? 0];
    expect(kept).toBeLessThanOrEqual(raised);
    send(78);
    expect(pace.pace).toBeCloseTo(kept);
    send(10);
    expect(pace.pace).toBeGreaterThan(kept * 1.019);
    refuse();
    expect([pace.pace, pace.found]).toEqual([kept, kept]);
  });
});
