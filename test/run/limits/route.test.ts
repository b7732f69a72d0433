import { describe, expect, it } from 'vitest';
import { RouteTraffic, refusalsInARow } from '../../../src/run/limits/route.ts';

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
const route = (): RouteTraffic => new RouteTraffic('submit', { count: 60, perMs: 60_000 }, retry, () => 0.5);

describe('RouteTraffic', () => {
  it('pauses for as long as Retry-After says, for everybody', () => {
    const routes = route();
    routes.take(0);
    expect(routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 22_000 }, 100)).toBeUndefined();
    expect(routes.nextAt()).toBe(22_100);
  });

  it('takes a later Retry-After that comes during a pause, and keeps to a pause that is longer', () => {
    const routes = route();
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 10_000 }, 0);
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 22_000 }, 100);
    expect(routes.pausedUntil).toBe(22_100);
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 3000 }, 200);
    expect(routes.pausedUntil).toBe(22_100);
  });

  it('pauses for an hour at the most, whatever it is told', () => {
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
    for (let n = 0; n < 8; n++)
      routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 5000 }, 100 + n);
    expect(routes.perMinute).toBeCloseTo(33);
  });

  it('does not rest for a refusal among many that are served, unless it is told to', () => {
    const routes = route();
    for (let n = 0; n < 30; n++) {
      routes.take(n * 1000);
      routes.note({ kind: 'served' }, n * 1000 + 500);
    }
    routes.note({ kind: 'throttled', reason: '429' }, 30_000);
    expect(routes.pausedUntil).toBeLessThan(30_000);
    expect(routes.perMinute).toBeCloseTo(60);
    routes.note({ kind: 'throttled', reason: '429', retryAfterMs: 9000 }, 31_000);
    expect(routes.pausedUntil).toBe(40_000);
  });

  it('rests when many in a row are refused, whatever was served before', () => {
    const routes = route();
    for (let n = 0; n < 100; n++) routes.take(n * 1000);
    for (let n = 0; n < 5; n++) routes.note({ kind: 'throttled', reason: '429' }, 100_000 + n);
    expect(routes.pausedUntil).toBeGreaterThan(100_000);
  });

  it('rests longer with each refusal that gives no time of its own', () => {
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

  it('does not take a machine that slept between two failures for a service that failed all the while', () => {
    for (const kind of ['trouble', 'unreachable'] as const) {
      const routes = route();
      expect(routes.note({ kind, reason: 'r' }, 0)).toBeUndefined();
      expect(routes.note({ kind, reason: 'r' }, 8 * 3_600_000)).toBeUndefined();
    }
  });

  it('stops the run at the twentieth equal refusal in a row', () => {
    const routes = route();
    const refuse = (words: string) => routes.note({ kind: 'refused', words }, 0);
    for (let n = 1; n < refusalsInARow; n++) expect(refuse('400: bad prompt')).toBeUndefined();
    expect(refuse('400: other')).toBeUndefined();
    for (let n = 1; n < refusalsInARow; n++) expect(refuse('400: bad prompt')).toBeUndefined();
    expect(routes.note({ kind: 'served' }, 0)).toBeUndefined();
    for (let n = 1; n < refusalsInARow; n++) expect(refuse('400: bad prompt')).toBeUndefined();
    expect(refuse('400: bad prompt')?.code).toBe('route.refused');
  });

  it('rests as a whole after five failures in a row, so that an outage does not eat up every job', () => {
    const routes = route();
    for (let n = 0; n < 4; n++) routes.note({ kind: 'trouble', reason: '503' }, 0);
    expect(routes.nextAt()).toBeLessThanOrEqual(0);
    routes.note({ kind: 'trouble', reason: '503' }, 0);
    expect(routes.pausedUntil).toBe(1000);
  });
});
