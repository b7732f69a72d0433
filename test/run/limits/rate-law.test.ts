import { describe, expect, it } from 'vitest';
import type { Rate } from '../../../src/pipeline/pipeline.ts';
import { routeSender } from '../../rig/limited-route.ts';

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

const minute = 60_000;
const perMinute = (count: number): Rate => ({ count, perMs: minute });

/** Uniform in [0, 1), the same for every seed. */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Behaviour {
  readonly rate: Rate | undefined;
  /** How many requests may be under way. */
  readonly width?: number;
  /** True: the request that arrives now is accepted. */
  readonly takes: (now: number) => boolean;
  readonly servedMs: number;
  readonly refusedMs: number;
  readonly retryAfterMs?: (now: number) => number;
  readonly random: () => number;
}

interface Answered {
  readonly at: number;
  readonly isServed: boolean;
}

/** A route that always has something to send, against a service, for so long of virtual time. */
function drive(behaviour: Behaviour, untilMs: number): readonly Answered[] {
  const { rate, width = 32, takes, servedMs, refusedMs, retryAfterMs, random } = behaviour;
  const route = routeSender(rate, retry, random);
  const underWay: Answered[] = [];
  const answers: Answered[] = [];
  let now = 0;
  while (now < untilMs) {
    if (underWay.length < (route.isProbing ? 1 : width) && route.nextAt() <= now) {
      route.take(now);
      const isServed = takes(now);
      const at = now + (isServed ? servedMs : refusedMs);
      const place = underWay.findIndex((other) => other.at > at);
      underWay.splice(place === -1 ? underWay.length : place, 0, { at, isServed });
      continue;
    }
    const [next] = underWay;
    const mayLeave =
      underWay.length < (route.isProbing ? 1 : width) ? route.nextAt() : Number.POSITIVE_INFINITY;
    if (next === undefined || mayLeave < next.at) {
      now = mayLeave;
      continue;
    }
    now = next.at;
    underWay.shift();
    answers.push(next);
    const stop = route.note(
      next.isServed
        ? { kind: 'served' }
        : {
            kind: 'throttled',
            reason: '429',
            ...(retryAfterMs === undefined ? {} : { retryAfterMs: retryAfterMs(now) }),
          },
      now,
    );
    if (stop !== undefined) throw new Error(stop.message);
  }
  return answers;
}

const servedOf = (answers: readonly Answered[]): number => answers.filter(({ isServed }) => isServed).length;

/** So many in any minute that begins at a whole one. */
function perWholeMinute(count: number): (now: number) => boolean {
  let [window, accepted] = [-1, 0];
  return (now) => {
    if (Math.floor(now / minute) !== window) [window, accepted] = [Math.floor(now / minute), 0];
    if (accepted >= count) return false;
    accepted += 1;
    return true;
  };
}

/** One at a time leaks in, and a few may come at once. */
function leaking(count: number, burst: number): (now: number) => boolean {
  let [level, at] = [0, 0];
  return (now) => {
    level = Math.max(0, level - ((now - at) * count) / minute);
    at = now;
    if (level + 1 > burst) return false;
    level += 1;
    return true;
  };
}

/** How long the answer of what is taken needs, and of what is refused. */
const latencies = [
  [300, 300],
  [8000, 100],
] as const;

describe('a service that refuses some requests whatever the pace', () => {
  const hour = 60 * minute;
  const cases = [0.05, 0.1, 0.15].flatMap((share) => [6, 60, 600].map((pace) => ({ share, pace })));

  it.each(cases)(
    'gets more than half of $pace requests a minute when it refuses $share',
    ({ share, pace }) => {
      for (const [servedMs, refusedMs] of latencies)
        for (let seed = 1; seed <= 4; seed += 1) {
          const chance = chanceOf(seed * 7919);
          const answers = drive(
            {
              rate: perMinute(pace),
              width: 400,
              takes: () => chance() >= share,
              servedMs,
              refusedMs,
              random: chanceOf(seed),
            },
            hour,
          );
          expect(servedOf(answers) / (pace * 60 * (1 - share))).toBeGreaterThanOrEqual(0.5);
        }
    },
  );

  it('gets nearly all when it refuses every seventh', () => {
    let count = 0;
    const answers = drive(
      {
        rate: perMinute(60),
        takes: () => ++count % 7 !== 0,
        servedMs: 300,
        refusedMs: 300,
        random: chanceOf(1),
      },
      hour,
    );
    expect(servedOf(answers) / (60 * 60 * (6 / 7))).toBeGreaterThan(0.94);
  });
});

describe('a service that takes so many a minute', () => {
  const services = [
    { name: 'evenly', make: (limit: number) => leaking(limit, Math.max(2, limit / 10)) },
    { name: 'by the clock', make: perWholeMinute },
  ];
  const cases = services.flatMap(({ name, make }) =>
    [4, 10, 30, 120].map((limit) => ({ name, make, limit })),
  );

  it.each(cases)(
    '$name $limit: is used, and refuses few, whatever the configured rate',
    ({ make, limit }) => {
      for (const [servedMs, refusedMs] of latencies)
        for (const asked of [perMinute(10 * limit), perMinute(1.5 * limit), undefined]) {
          const answers = drive(
            { rate: asked, takes: make(limit), servedMs, refusedMs, random: chanceOf(3) },
            180 * minute,
          );
          const settled = answers.filter(({ at }) => at >= 60 * minute);
          const used = servedOf(settled) / (120 * limit);
          expect(used).toBeGreaterThanOrEqual(0.7);
          // What was taken in the minute before is answered in the first one.
          expect(used).toBeLessThanOrEqual(1.02);
          expect(1 - servedOf(settled) / settled.length).toBeLessThan(0.17);
        }
    },
  );

  it('recovers within half an hour after it refused everything for five minutes', () => {
    const answers = drive(
      {
        rate: perMinute(60),
        takes: (now) => now < 10 * minute || now >= 15 * minute,
        servedMs: 300,
        refusedMs: 300,
        random: chanceOf(5),
      },
      60 * minute,
    );
    const later = answers.filter(({ at }) => at >= 45 * minute);
    expect(servedOf(later)).toBeGreaterThan(0.9 * 60 * 15);
  });
});
