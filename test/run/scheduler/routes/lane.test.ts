import { describe, expect, it } from 'vitest';
import { PriorityQueue } from '../../../../src/run/scheduler/queues.ts';
import { Lane } from '../../../../src/run/scheduler/routes/lane.ts';
import type { RouteSignal } from '../../../../src/run/scheduler/routes/outcome.ts';

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
const laneOf = (patienceMs: number = retry.patienceMs): Lane =>
  new Lane('submit', '', new PriorityQueue(new Map()), { ...retry, patienceMs });
const throttled = { kind: 'throttled', reason: '429' } as const;
const trouble = { kind: 'trouble', reason: '503' } as const;
const served = { kind: 'served' } as const;

let sent = 0;

/** A request leaves, and is answered some ms later. */
function send(lane: Lane, signal: RouteSignal, at: number, afterMs = 0) {
  const key = `k${(sent += 1)}`;
  lane.pace.take(key, at);
  const stop = lane.note(signal, at + afterMs, key);
  lane.pace.ended(key, at + afterMs);
  return stop;
}

/** The moment at which the next request may leave. */
function nextOf(lane: Lane, from: number): number {
  let now = from;
  while (lane.nextAt(now) > now) now = lane.nextAt(now);
  return now;
}

describe('a lane', () => {
  it('pauses for as long as Retry-After says, for everybody', () => {
    const lane = laneOf();
    expect(send(lane, { ...throttled, retryAfterMs: 22_000 }, 0, 100)).toBeUndefined();
    expect([lane.nextAt(100), lane.restsUntil, lane.isProbing]).toEqual([22_100, 22_100, true]);
    expect(nextOf(lane, 100)).toBe(22_100);
  });

  it.each([
    ['an hour', 2 * 3_600_000, 3_600_000],
    ['the patience', 600_000, 600_000],
  ])('pauses for %s at the most, whatever the service asks for', (_, patienceMs, most) => {
    const lane = laneOf(patienceMs);
    send(lane, { ...throttled, retryAfterMs: 999_999_999_000 }, 100);
    expect(lane.restsUntil).toBe(100 + most);
  });

  it('rests a little also when Retry-After is 0', () => {
    const lane = laneOf();
    send(lane, { ...throttled, retryAfterMs: 0 }, 100);
    expect(lane.restsUntil).toBe(100 + retry.baseMs);
  });

  it('learns nothing from answers to what left before its pause', () => {
    const lane = laneOf();
    for (const key of ['a', 'b', 'c']) lane.pace.take(key, 0);
    lane.note({ ...throttled, retryAfterMs: 10_000 }, 100, 'a');
    lane.note({ ...throttled, retryAfterMs: 22_000 }, 200, 'b');
    lane.note({ ...throttled, retryAfterMs: 3000 }, 300, 'c');
    expect(lane.restsUntil).toBe(10_100);
  });

  it('does not rest for one refusal among many that were served', () => {
    const lane = laneOf();
    for (let n = 0; n < 30; n++) send(lane, served, n * 1000, 500);
    send(lane, throttled, 30_000, 100);
    expect(nextOf(lane, 30_100) - 30_100).toBeLessThanOrEqual(retry.baseMs);
    expect([lane.isProbing, lane.pace.found]).toEqual([false, {}]);
  });

  it('stops the run when it has only refused for the patience, and not when it served in between', () => {
    const patient = laneOf();
    send(patient, { kind: 'throttled', reason: 'busy' }, 0);
    send(patient, served, 300_000);
    expect(send(patient, { kind: 'throttled', reason: 'busy' }, 700_000)).toBeUndefined();
    const stop = send(patient, { kind: 'throttled', reason: 'still busy' }, 1_300_000);
    expect(stop?.code).toBe('route.patience');
    expect(stop?.message).toContain('still busy');
  });

  it('does not count a sleep between two failures as an outage', () => {
    for (const kind of ['trouble', 'unreachable'] as const) {
      const lane = laneOf();
      expect(send(lane, { kind, reason: 'r' }, 0)).toBeUndefined();
      expect(send(lane, { kind, reason: 'r' }, 8 * 3_600_000)).toBeUndefined();
    }
  });

  it.each(['trouble', 'unreachable'] as const)(
    'that is %s for the patience ends the run, and not before',
    (kind) => {
      const lane = laneOf();
      const met: unknown[] = [];
      for (const at of [50_000, 150_000, 250_000, 350_000, 649_999, 650_000, 651_600])
        met.push(send(lane, { kind, reason: 'bad gateway' }, at)?.message);
      expect(met).toEqual([
        ...Array.from({ length: 5 }, () => undefined),
        'No submit request has been served for 600 s (retry.patience). The last one: bad gateway',
        'No submit request has been served for 602 s (retry.patience). The last one: bad gateway',
      ]);
    },
  );

  it('ends the run when it has refused everybody for the patience', () => {
    const lane = laneOf();
    const met = [100_000, 699_999, 700_000].map((at) => send(lane, throttled, at)?.code);
    expect(met).toEqual([undefined, undefined, 'route.patience']);
  });

  it.each(['throttled', 'unreachable'] as const)(
    'rests once a flight is %s as a whole, one request at a time probes it, and one that is served ends that',
    (kind) => {
      const lane = laneOf();
      for (const key of ['a', 'b', 'c']) lane.pace.take(key, 0);
      for (const key of ['a', 'b', 'c']) lane.note({ kind, reason: 'r' }, 100, key);
      const probedAt = nextOf(lane, 100);
      expect(probedAt).toBeGreaterThanOrEqual(100 + retry.baseMs);
      expect(probedAt).toBeLessThanOrEqual(100 + 2 * retry.baseMs);
      expect(lane.isProbing).toBe(true);
      lane.pace.take('probe', probedAt);
      expect(lane.nextAt(probedAt)).toBeGreaterThan(probedAt);
      lane.note(served, probedAt + 100, 'probe');
      expect([lane.isProbing, lane.nextAt(probedAt + 100) <= probedAt + 100]).toEqual([false, true]);
    },
  );

  it('lets single submissions probe, ever later, once one has failed that may be paid', () => {
    const lane = laneOf();
    for (const key of ['a', 'b']) lane.pace.take(key, 0);
    for (const key of ['a', 'b']) lane.note(trouble, 100, key);
    let now = 100;
    for (let n = 0; n < 30; n++) {
      const restMs = Math.max(retry.baseMs, Math.min(retry.capMs, (now - 100) / 3));
      expect(lane.isProbed).toBe(true);
      expect(nextOf(lane, now)).toBeCloseTo(now + restMs, 6);
      now += restMs;
      send(lane, trouble, now);
    }
    send(lane, served, now + retry.capMs);
    expect([lane.isProbing, lane.pace.found]).toEqual([false, {}]);
  });

  it('lets no request that may be paid probe when the failed ones certainly made nothing', () => {
    const lane = laneOf();
    for (const key of ['a', 'b']) lane.pace.take(key, 0);
    for (const key of ['a', 'b']) lane.note({ ...trouble, isUnmade: true }, 100, key);
    expect([lane.isProbed, nextOf(lane, 100) > 100, lane.isProbing]).toEqual([false, true, true]);
  });

  it('rests from the second unclear answer in a row on, ever longer, until one is served', () => {
    const lane = laneOf(8 * 3_600_000);
    const unclear = { kind: 'trouble', reason: 'code 5', isUnclear: true } as const;
    send(lane, unclear, 0);
    expect(lane.restsUntil).toBe(retry.baseMs);
    const rests: number[] = [];
    for (let n = 0, now = 10_000; n < 9; n++) {
      send(lane, unclear, now);
      expect(lane.isProbed).toBe(true);
      rests.push(lane.restsUntil - now);
      now = nextOf(lane, now);
    }
    expect(rests).toEqual([15, 30, 60, 120, 240, 480, 900, 900, 900].map((seconds) => seconds * 1000));
    send(lane, served, 1e7);
    expect(lane.isProbed).toBe(false);
    send(lane, unclear, 2e7);
    expect(lane.restsUntil - 2e7).toBe(retry.baseMs);
  });

  it('takes any number of served requests', () => {
    const lane = laneOf();
    for (let n = 0; n < 40; n++) expect(send(lane, served, n)).toBeUndefined();
    expect(lane.nextAt(40)).toBe(40);
  });

  describe('serves others', () => {
    it('once it has answered, be it with a refusal of the request', () => {
      for (const first of [served, { kind: 'refused', words: 'w' }] as const) {
        const lane = laneOf();
        expect(lane.isServing(0)).toBe(false);
        send(lane, trouble, 0);
        expect(lane.isServing(0)).toBe(false);
        send(lane, first, 0);
        expect(lane.isServing(0)).toBe(true);
      }
    });

    it('until five failures in a row, and then for a minute after the last answer', () => {
      const lane = laneOf();
      send(lane, served, 1000);
      for (let n = 0; n < 4; n++) send(lane, trouble, 2000);
      expect(lane.isServing(9_000_000)).toBe(true);
      send(lane, trouble, 2000);
      expect([lane.isServing(60_999), lane.isServing(61_000)]).toEqual([true, false]);
    });
  });

  it('learns nothing where no money is left', () => {
    const lane = laneOf();
    for (let n = 0; n < 9; n++) send(lane, { kind: 'quota', reason: 'empty' }, n);
    expect([lane.nextAt(9), lane.isProbing, lane.hasServed]).toEqual([9, false, false]);
  });
});
