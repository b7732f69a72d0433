import { describe, expect, it } from 'vitest';
import { RouteTraffic } from '../../../src/run/limits/route.ts';

const retry = {
  attempts: 6,
  baseMs: 1000,
  capMs: 60_000,
  resubmits: 2,
  ambiguous: 'retry',
  patienceMs: 600_000,
  invalid: 2,
  permanent: [],
  transient: [],
} as const;
const route = (): RouteTraffic => new RouteTraffic('submit', retry, () => 0.5);

describe('RouteTraffic', () => {
  it('pauses for as long as Retry-After says, for everybody', () => {
    const routes = route();
    routes.take(0);
    expect(routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 22_000 }, 100)).toBeUndefined();
    expect(routes.nextAt()).toBe(22_100);
  });

  it('extends a pause by a later Retry-After, and keeps a pause that is longer', () => {
    const routes = route();
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 10_000 }, 0);
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 22_000 }, 100);
    expect(routes.pausedUntil).toBe(22_100);
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 3000 }, 200);
    expect(routes.pausedUntil).toBe(22_100);
  });

  it('pauses for an hour at the most, whatever the service asks for', () => {
    const routes = route();
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 999_999_999_000 }, 100);
    expect(routes.pausedUntil).toBe(3_600_100);
  });

  it('rests a little also when Retry-After is 0', () => {
    const routes = route();
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 0 }, 100);
    expect(routes.pausedUntil).toBe(1100);
  });

  it('lowers its pace once for the refusals of requests that had left before', () => {
    const routes = route();
    for (let n = 0; n < 20; n++) routes.take(n * 1000 - 20_000);
    for (let n = 0; n < 8; n++)
      routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 5000 }, 100 + n);
    expect(routes.perMinute).toBeCloseTo(33, 0);
  });

  it('does not rest for a refusal among many served requests, unless the service asks for a wait', () => {
    const routes = route();
    for (let n = 0; n < 30; n++) {
      routes.take(n * 1000);
      routes.note({ kind: 'served' }, n * 1000 + 500);
    }
    routes.note({ kind: 'throttled', reason: '429' }, 30_000);
    expect(routes.pausedUntil).toBeLessThan(30_000);
    expect(routes.perMinute).toBeUndefined();
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 9000 }, 31_000);
    expect(routes.pausedUntil).toBe(40_000);
  });

  it('rests when many in a row are refused, whatever was served before', () => {
    const routes = route();
    for (let n = 0; n < 100; n++) routes.take(n * 1000);
    for (let n = 0; n < 5; n++) routes.note({ kind: 'throttled', reason: '429' }, 100_000 + n);
    expect(routes.pausedUntil).toBeGreaterThan(100_000);
  });

  it('rests longer with each refusal without a Retry-After', () => {
    const routes = route();
    const rests: number[] = [];
    let now = 0;
    for (let n = 0; n < 8; n++) {
      routes.note({ kind: 'unreachable', reason: 'refused' }, now);
      rests.push(routes.pausedUntil - now);
      now = routes.pausedUntil;
    }
    expect(rests).toEqual([1000, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('stops the run when it has only refused for the patience, and not when it served in between', () => {
    const patient = route();
    patient.note({ kind: 'throttled', reason: 'busy' }, 0);
    patient.note({ kind: 'served' }, 300_000);
    expect(patient.note({ kind: 'throttled', reason: 'busy' }, 700_000)).toBeUndefined();
    const stop = patient.note({ kind: 'throttled', reason: 'still busy' }, 1_300_000);
    expect(stop?.code).toBe('route.patience');
    expect(stop?.message).toContain('still busy');
  });

  it('does not count a sleep between two failures as an outage', () => {
    for (const kind of ['trouble', 'unreachable'] as const) {
      const routes = route();
      expect(routes.note({ kind, reason: 'r' }, 0)).toBeUndefined();
      expect(routes.note({ kind, reason: 'r' }, 8 * 3_600_000)).toBeUndefined();
    }
  });

  it('rests as a whole after five failures in a row, so that an outage does not eat up every job', () => {
    const routes = route();
    for (let n = 0; n < 4; n++) routes.note({ kind: 'trouble', reason: '503' }, 0);
    expect(routes.nextAt()).toBeLessThanOrEqual(0);
    routes.note({ kind: 'trouble', reason: '503' }, 0);
    expect(routes.pausedUntil).toBe(1000);
  });

  it('rests longer with each failure after the fifth, where the service advises to retry', () => {
    const routes = route();
    for (let n = 0; n < 4; n++) routes.note({ kind: 'trouble', reason: '503' }, 0);
    const rests = [0, 1000, 2000, 4000, 8000].map((now) => {
      routes.note({ kind: 'trouble', reason: '503' }, now);
      return routes.pausedUntil - now;
    });
    expect(rests).toEqual([1000, 1000, 2000, 4000, 8000]);
  });

  it.each(['trouble', 'unreachable'] as const)(
    'that is %s for the patience ends the run, and not before',
    (kind) => {
      const routes = route();
      const met: unknown[] = [];
      for (const at of [50_000, 150_000, 250_000, 350_000, 649_999, 650_000, 651_600])
        met.push(routes.note({ kind, reason: 'bad gateway' }, at)?.message);
      expect(met).toEqual([
        ...Array.from({ length: 5 }, () => undefined),
        'No submit request has been served for 600 s (retry.patience). The last one: bad gateway',
        'No submit request has been served for 602 s (retry.patience). The last one: bad gateway',
      ]);
    },
  );

  it('counts a refused connection once in a pause', () => {
    const routes = route();
    for (const at of [0, 999, 999, 999, 999, 999]) routes.note({ kind: 'unreachable', reason: 'r' }, at);
    expect([routes.pausedUntil, routes.isProbing]).toEqual([1000, false]);
    routes.note({ kind: 'unreachable', reason: 'r' }, 1000);
    expect(routes.pausedUntil).toBe(2000);
  });

  it('does not rest for four refusals in a row at a sufficient pace, and rests at the fifth', () => {
    const routes = route();
    for (let n = 0; n < 100; n++) routes.take(n * 1000);
    for (let n = 0; n < 4; n++) routes.note({ kind: 'throttled', reason: '429' }, 100_000 + n);
    expect([routes.pausedUntil, routes.isProbing]).toEqual([Number.NEGATIVE_INFINITY, false]);
    routes.note({ kind: 'throttled', reason: '429' }, 100_004);
    expect([routes.pausedUntil, routes.isProbing]).toEqual([108_004, true]);
    routes.note({ kind: 'served' }, 108_004);
    expect(routes.isProbing).toBe(false);
  });

  describe('at a sufficient pace', () => {
    const throttledRoute = (): RouteTraffic => {
      const routes = route();
      for (let n = 0; n < 100; n++) routes.take(n * 1000);
      routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 9000 }, 100_000);
      return routes;
    };
    const refuse = (routes: RouteTraffic, times: number, at: number): void => {
      for (let n = 0; n < times; n++) routes.note({ kind: 'throttled', reason: '429' }, at);
    };

    it('counts no refusal while it rests', () => {
      const routes = throttledRoute();
      refuse(routes, 3, 108_999);
      refuse(routes, 1, 109_000);
      expect(routes.pausedUntil).toBe(109_000);
    });

    it('counts refusals again from the end of the rest on', () => {
      const routes = throttledRoute();
      refuse(routes, 3, 109_000);
      expect(routes.pausedUntil).toBe(109_000);
      refuse(routes, 1, 109_000);
      expect(routes.pausedUntil).toBeGreaterThan(109_000);
    });

    it('ends the run when it has refused everybody for the patience', () => {
      const routes = route();
      for (let n = 0; n < 100; n++) routes.take(n * 1000);
      const met = [100_000, 699_999, 700_000].map(
        (at) => routes.note({ kind: 'throttled', reason: '429' }, at)?.code,
      );
      expect(met).toEqual([undefined, undefined, 'route.patience']);
    });
  });

  it('takes any number of served requests', () => {
    const routes = route();
    for (let n = 0; n < 40; n++) expect(routes.note({ kind: 'served' }, n)).toBeUndefined();
  });

  describe('serves others', () => {
    const trouble = { kind: 'trouble', reason: '503' } as const;

    it('from its first answer on, a refusal of the request too', () => {
      for (const first of [{ kind: 'served' }, { kind: 'refused', words: 'w' }] as const) {
        const routes = route();
        expect(routes.isServing(0)).toBe(false);
        routes.note(trouble, 0);
        expect(routes.isServing(0)).toBe(false);
        routes.note(first, 0);
        expect(routes.isServing(0)).toBe(true);
      }
    });

    it('until five failures in a row, and then for a minute after the last answer', () => {
      const routes = route();
      routes.note({ kind: 'served' }, 1000);
      for (let n = 0; n < 4; n++) routes.note(trouble, 2000);
      expect([routes.isServing(9_000_000), routes.isProbing]).toEqual([true, false]);
      routes.note(trouble, 2000);
      expect([routes.isServing(60_999), routes.isServing(61_000), routes.isProbing]).toEqual([
        true,
        false,
        true,
      ]);
    });
  });

  it('counts served results, and results of jobs that were not deferred before', () => {
    const routes = route();
    expect(routes.tally).toEqual({ served: 0, firsts: 0, firstsServed: 0 });
    routes.count({ kind: 'served' }, true);
    routes.count({ kind: 'served' }, false);
    routes.count({ kind: 'served' }, false);
    routes.count({ kind: 'trouble', reason: '503' }, true);
    routes.count({ kind: 'refused', words: 'w' }, false);
    expect(routes.tally).toEqual({ served: 3, firsts: 2, firstsServed: 1 });
  });

  it('allows a request when its pause allows it, and has no pace before it was refused', () => {
    const routes = route();
    routes.take(5000);
    expect(routes.nextAt()).toBeLessThanOrEqual(5000);
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 3_600_000 }, 5000);
    expect(routes.nextAt()).toBe(3_605_000);
    expect(new RouteTraffic('submit', retry, () => 0.5).perMinute).toBeUndefined();
  });
});
