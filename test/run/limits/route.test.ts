import { describe, expect, it } from 'vitest';
import { type RouteSignal, RouteTraffic } from '../../../src/run/limits/route.ts';

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
const route = (patienceMs: number = retry.patienceMs): RouteTraffic =>
  new RouteTraffic('submit', { ...retry, patienceMs });
const throttled = { kind: 'throttled', reason: '429' } as const;
const trouble = { kind: 'trouble', reason: '503' } as const;
const served = { kind: 'served' } as const;

let sent = 0;

/** A request leaves, and is answered some ms later. */
function send(routes: RouteTraffic, signal: RouteSignal, at: number, afterMs = 0) {
  const key = `k${(sent += 1)}`;
  routes.pace.take(key, at);
  const stop = routes.note(signal, at + afterMs, key);
  routes.pace.ended(key, at + afterMs);
  return stop;
}

/** The moment at which the next request may leave. */
function nextOf(routes: RouteTraffic, from: number): number {
  let now = from;
  while (routes.nextAt(now) > now) now = routes.nextAt(now);
  return now;
}

describe('RouteTraffic', () => {
  it('pauses for as long as Retry-After says, for everybody', () => {
    const routes = route();
    expect(send(routes, { ...throttled, retryAfterMs: 22_000 }, 0, 100)).toBeUndefined();
    expect([routes.nextAt(100), routes.pausedUntil, routes.isProbing]).toEqual([22_100, 22_100, true]);
    expect(nextOf(routes, 100)).toBe(22_100);
  });

  it.each([
    ['an hour', 2 * 3_600_000, 3_600_000],
    ['the patience', 600_000, 600_000],
  ])('pauses for %s at the most, whatever the service asks for', (_, patienceMs, most) => {
    const routes = route(patienceMs);
    send(routes, { ...throttled, retryAfterMs: 999_999_999_000 }, 100);
    expect(routes.pausedUntil).toBe(100 + most);
  });

  it('rests a little also when Retry-After is 0', () => {
    const routes = route();
    send(routes, { ...throttled, retryAfterMs: 0 }, 100);
    expect(routes.pausedUntil).toBe(100 + retry.baseMs);
  });

  it('learns no more of what left before its pause', () => {
    const routes = route();
    for (const key of ['a', 'b', 'c']) routes.pace.take(key, 0);
    routes.note({ ...throttled, retryAfterMs: 10_000 }, 100, 'a');
    routes.note({ ...throttled, retryAfterMs: 22_000 }, 200, 'b');
    routes.note({ ...throttled, retryAfterMs: 3000 }, 300, 'c');
    expect(routes.pausedUntil).toBe(10_100);
  });

  it('does not rest for one refusal among many that were served', () => {
    const routes = route();
    for (let n = 0; n < 30; n++) send(routes, served, n * 1000, 500);
    send(routes, throttled, 30_000, 100);
    expect(nextOf(routes, 30_100) - 30_100).toBeLessThanOrEqual(retry.baseMs);
    expect([routes.isProbing, routes.pace.found]).toEqual([false, {}]);
  });

  it('stops the run when it has only refused for the patience, and not when it served in between', () => {
    const patient = route();
    send(patient, { kind: 'throttled', reason: 'busy' }, 0);
    send(patient, served, 300_000);
    expect(send(patient, { kind: 'throttled', reason: 'busy' }, 700_000)).toBeUndefined();
    const stop = send(patient, { kind: 'throttled', reason: 'still busy' }, 1_300_000);
    expect(stop?.code).toBe('route.patience');
    expect(stop?.message).toContain('still busy');
  });

  it('does not count a sleep between two failures as an outage', () => {
    for (const kind of ['trouble', 'unreachable'] as const) {
      const routes = route();
      expect(send(routes, { kind, reason: 'r' }, 0)).toBeUndefined();
      expect(send(routes, { kind, reason: 'r' }, 8 * 3_600_000)).toBeUndefined();
    }
  });

  it.each(['trouble', 'unreachable'] as const)(
    'that is %s for the patience ends the run, and not before',
    (kind) => {
      const routes = route();
      const met: unknown[] = [];
      for (const at of [50_000, 150_000, 250_000, 350_000, 649_999, 650_000, 651_600])
        met.push(send(routes, { kind, reason: 'bad gateway' }, at)?.message);
      expect(met).toEqual([
        ...Array.from({ length: 5 }, () => undefined),
        'No submit request has been served for 600 s (retry.patience). The last one: bad gateway',
        'No submit request has been served for 602 s (retry.patience). The last one: bad gateway',
      ]);
    },
  );

  it('ends the run when it has refused everybody for the patience', () => {
    const routes = route();
    const met = [100_000, 699_999, 700_000].map((at) => send(routes, throttled, at)?.code);
    expect(met).toEqual([undefined, undefined, 'route.patience']);
  });

  it.each(['throttled', 'unreachable'] as const)(
    'rests once a flight is %s as a whole, one request at a time probes it, and one that is served ends that',
    (kind) => {
      const routes = route();
      for (const key of ['a', 'b', 'c']) routes.pace.take(key, 0);
      for (const key of ['a', 'b', 'c']) routes.note({ kind, reason: 'r' }, 100, key);
      const probedAt = nextOf(routes, 100);
      expect(probedAt).toBeGreaterThanOrEqual(100 + retry.baseMs);
      expect(probedAt).toBeLessThanOrEqual(100 + 2 * retry.baseMs);
      expect(routes.isProbing).toBe(true);
      routes.pace.take('probe', probedAt);
      expect(routes.nextAt(probedAt)).toBeGreaterThan(probedAt);
      routes.note(served, probedAt + 100, 'probe');
      expect([routes.isProbing, routes.nextAt(probedAt + 100) <= probedAt + 100]).toEqual([false, true]);
    },
  );

  it('lets single submissions probe, ever later, once one has failed that may be paid', () => {
    const routes = route();
    for (const key of ['a', 'b']) routes.pace.take(key, 0);
    for (const key of ['a', 'b']) routes.note(trouble, 100, key);
    let now = 100;
    for (let n = 0; n < 30; n++) {
      const restMs = Math.max(retry.baseMs, Math.min(retry.capMs, (now - 100) / 3));
      expect(routes.isProbed).toBe(true);
      expect(nextOf(routes, now)).toBeCloseTo(now + restMs, 6);
      now += restMs;
      send(routes, trouble, now);
    }
    send(routes, served, now + retry.capMs);
    expect([routes.isProbing, routes.pace.found]).toEqual([false, {}]);
  });

  it('rests from the second unclear answer in a row on, ever longer, until one is served', () => {
    const routes = route(8 * 3_600_000);
    const unclear = { kind: 'trouble', reason: 'code 5', isUnclear: true } as const;
    send(routes, unclear, 0);
    expect(routes.pausedUntil).toBe(retry.baseMs);
    const rests: number[] = [];
    for (let n = 0, now = 10_000; n < 9; n++) {
      send(routes, unclear, now);
      expect(routes.isProbed).toBe(true);
      rests.push(routes.pausedUntil - now);
      now = nextOf(routes, now);
    }
    expect(rests).toEqual([15, 30, 60, 120, 240, 480, 900, 900, 900].map((seconds) => seconds * 1000));
    send(routes, served, 1e7);
    expect(routes.isProbed).toBe(false);
  });

  it('takes any number of served requests', () => {
    const routes = route();
    for (let n = 0; n < 40; n++) expect(send(routes, served, n)).toBeUndefined();
    expect(routes.nextAt(40)).toBe(Number.NEGATIVE_INFINITY);
  });

  describe('serves others', () => {
    it('from its first answer on, a refusal of the request too', () => {
      for (const first of [served, { kind: 'refused', words: 'w' }] as const) {
        const routes = route();
        expect(routes.isServing(0)).toBe(false);
        send(routes, trouble, 0);
        expect(routes.isServing(0)).toBe(false);
        send(routes, first, 0);
        expect(routes.isServing(0)).toBe(true);
      }
    });

    it('until five failures in a row, and then for a minute after the last answer', () => {
      const routes = route();
      send(routes, served, 1000);
      for (let n = 0; n < 4; n++) send(routes, trouble, 2000);
      expect(routes.isServing(9_000_000)).toBe(true);
      send(routes, trouble, 2000);
      expect([routes.isServing(60_999), routes.isServing(61_000)]).toEqual([true, false]);
    });
  });

  it('learns nothing where no money is left', () => {
    const routes = route();
    for (let n = 0; n < 9; n++) send(routes, { kind: 'quota', reason: 'empty' }, n);
    expect([routes.nextAt(9), routes.isProbing, routes.hasServed]).toEqual([
      Number.NEGATIVE_INFINITY,
      false,
      false,
    ]);
  });
});
