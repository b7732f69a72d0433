import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FoundPace } from '../../../src/run/limits/found-limit.ts';
import { Pace, type Refused } from '../../../src/run/limits/pace.ts';
import { changing, countingRefused, type Limiter } from '../../rig/limiters.ts';
import { seededRandom } from '../../rig/virtual-run.ts';
import {
  atOnce,
  backAt,
  byChance,
  counts,
  cutting,
  drive,
  type Sent,
  type Server,
  within,
} from './pace-rig.ts';

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
const { baseMs, capMs } = retry;
const minute = 60_000;
const newPace = (found?: FoundPace): Pace => new Pace(retry, found);
const seeds = [1, 2, 3, 4];

/** From when on the next request may leave; infinite: once another has ended. */
function nextOf(pace: Pace, from: number): number {
  let now = from;
  while (pace.nextAt(now) > now && pace.nextAt(now) !== Number.POSITIVE_INFINITY) now = pace.nextAt(now);
  return pace.nextAt(now) === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : now;
}

const names = (count: number, name = 'k'): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${name}${n}`);

/** A flight leaves at one moment, and is refused as a whole. */
function refuseAll(pace: Pace, at: number, count = 8, refused: Refused = {}, afterMs = 100): number {
  const keys = names(count, `${at}-`);
  for (const key of keys) pace.take(key, at);
  for (const key of keys) pace.refused(key, at + afterMs, refused);
  return at + afterMs;
}

/** Requests one after the other, each served. @returns when the last one was */
function serve(pace: Pace, count: number, from: number): number {
  let now = from;
  for (const key of names(count, `${from}s`)) {
    now = nextOf(pace, now);
    pace.take(key, now);
    now += 100;
    pace.served(key, now);
  }
  return now;
}

const refusedAt = (sent: readonly Sent[]): readonly number[] =>
  sent.flatMap(({ isRefused, at }) => (isRefused ? [at] : []));

describe('a pace', () => {
  it('is that of the caller while nothing is refused', () => {
    const pace = newPace();
    const sent = drive(pace, backAt(0), { untilMs: minute, most: 32 });
    expect(sent).toHaveLength((32 * minute) / 300);
    expect([pace.found, pace.isProbing, pace.window]).toEqual([{}, false, Number.POSITIVE_INFINITY]);
  });

  it('is not changed by what says nothing about it', () => {
    const pace = newPace();
    for (const key of names(20)) {
      pace.take(key, 0);
      pace.withdraw(key, 100);
      // Nothing is known of it any more.
      pace.refused(key, 200);
    }
    expect([pace.nextAt(200), pace.found]).toEqual([Number.NEGATIVE_INFINITY, {}]);
  });

  it('counts a task that was served, whether it then ends or says nothing more', () => {
    const found = (['ended', 'withdraw'] as const).map((end) => {
      const pace = newPace();
      const server = within(() => 10, 10_000);
      for (let n = 0; n < 200; n += 1) {
        const key = `${n}`;
        const now = nextOf(pace, 300 * n);
        pace.take(key, now);
        if (server(now, [], () => 0).isRefused === true) pace.refused(key, now + 50);
        else {
          pace.served(key, now + 100, true);
          pace[end](key, now + 200);
        }
      }
      return pace.found;
    });
    expect(found[0]).toHaveProperty('perMinute');
    expect(found[1]).toEqual(found[0]);
  });

  it('lets the next probe leave where the one under way says nothing', () => {
    const pace = newPace();
    const now = nextOf(pace, refuseAll(pace, 0, 8, { isCut: true }));
    pace.take('probe', now);
    expect(nextOf(pace, now)).toBe(Number.POSITIVE_INFINITY);
    pace.withdraw('probe', now + 50);
    expect([nextOf(pace, now + 50), pace.isProbing]).toEqual([now + 50, true]);
  });
});

describe('one flight, one lesson', () => {
  it('whatever its answers are, and however late they come', () => {
    const lessons = (refusals: readonly Refused[]): readonly number[] => {
      const pace = newPace();
      const keys = names(refusals.length);
      for (const key of keys) pace.take(key, 0);
      for (const [n, key] of keys.entries()) pace.refused(key, 100 + n, refusals[n]);
      return [nextOf(pace, 200)];
    };
    const [once] = lessons([{}, {}]);
    expect(lessons(Array.from({ length: 30 }, () => ({})))[0]).toBeLessThanOrEqual((once ?? 0) + 200);
    const [asked] = lessons([{ waitMs: 9000 }, {}]);
    expect(lessons([{ waitMs: 9000 }, {}, { waitMs: 30_000 }, { isCut: true }])).toEqual([asked]);
  });

  it('lets nothing leave until the flight is judged, and judges it soon', () => {
    const pace = newPace();
    for (const key of names(8)) pace.take(key, 0);
    pace.refused('k0', 100);
    expect(pace.nextAt(100)).toBeGreaterThan(100);
    expect(pace.nextAt(100)).toBeLessThanOrEqual(100 + baseMs);
    for (const key of names(8).slice(1)) pace.served(key, 200);
    expect(nextOf(pace, 200)).toBeLessThanOrEqual(100 + baseMs);
    expect(pace.isProbing).toBe(false);
  });

  it('does not rest longer for a second burst of the same flight', () => {
    const pace = newPace();
    for (const key of names(16)) pace.take(key, 0);
    for (const key of names(8)) pace.refused(key, 100);
    const restsUntil = nextOf(pace, 100);
    for (const key of names(16).slice(8)) pace.refused(key, restsUntil - 10);
    expect(nextOf(pace, restsUntil - 10)).toBeLessThanOrEqual(restsUntil);
  });
});

describe('where everything is refused', () => {
  it('rests for retry.base, and a probe that is served ends that', () => {
    const pace = newPace();
    const refused = refuseAll(pace, 0);
    const probedAt = nextOf(pace, refused);
    expect(probedAt - refused).toBeGreaterThanOrEqual(baseMs);
    // A burst of failures of one moment.
    expect(probedAt - refused).toBeLessThanOrEqual(2 * baseMs);
    pace.take('probe', probedAt);
    expect(pace.nextAt(probedAt)).toBeGreaterThan(probedAt);
    pace.served('probe', probedAt + 100);
    expect([pace.isProbing, nextOf(pace, probedAt + 100), pace.found]).toEqual([false, probedAt + 100, {}]);
  });

  it('rests no longer for a second burst some minutes later', () => {
    const pace = newPace();
    let now = nextOf(pace, refuseAll(pace, 0));
    now = serve(pace, 400, now);
    const refused = refuseAll(pace, now);
    expect(nextOf(pace, refused) - refused).toBeLessThanOrEqual(4 * baseMs);
  });

  it('asks one at a time, ever more rarely, and at least once in retry.cap', () => {
    const pace = newPace();
    const sent = drive(pace, backAt(Number.POSITIVE_INFINITY), { untilMs: 30 * minute, most: 16 });
    const probes = sent.slice(16).map(({ at }) => at);
    const gaps = probes.slice(1).map((at, n) => at - (probes[n] ?? 0));
    for (const [n, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual((gaps[n - 1] ?? 0) - 1);
    expect(gaps[0]).toBeLessThanOrEqual(2 * baseMs);
    expect(gaps.at(-1)).toBeLessThanOrEqual(capMs + 200);
    expect(gaps.at(-1)).toBeGreaterThan(capMs / 2);
  });

  it('asks more often in the first minute where the user gave the rate, and then as rarely', () => {
    const probes = (isRateKnown: boolean): readonly number[] =>
      refusedAt(
        drive(new Pace(retry, {}, isRateKnown), backAt(Number.POSITIVE_INFINITY), { untilMs: 5 * minute }),
      );
    const within = (from: number, to: number): readonly number[] =>
      [false, true].map((isKnown) => probes(isKnown).filter((at) => at > from && at < to).length);
    const [few = 0, more = 0] = within(15_000, minute);
    expect(more).toBeGreaterThan(2 * few);
    const [rare, known] = within(2 * minute, 5 * minute);
    expect(known).toBeLessThanOrEqual((rare ?? 0) + 1);
  });

  it.each([1, 4, 16, 64])('finds the service back in good time, of %d requests at once', (most) => {
    const holds = (goneMs: number): void => {
      const sent = drive(newPace(), backAt(goneMs), { untilMs: 1.4 * goneMs + 5000, most });
      const first = sent.find(({ isRefused }) => !isRefused)?.at ?? Number.POSITIVE_INFINITY;
      expect(first - goneMs).toBeLessThanOrEqual(Math.max(2000, goneMs / 3) + 300);
      // It costs few requests, and all that is sent from then on is served.
      expect(counts(sent).refused).toBeLessThanOrEqual(most + 10 + 6 * Math.log2(1 + goneMs / 1000));
      expect(counts(sent, goneMs).refused).toBe(0);
    };
    fc.assert(fc.property(fc.integer({ min: 500, max: 2 * capMs }), holds), { numRuns: 20 });
  });

  it('rests for as long as the service asks', () => {
    const pace = newPace();
    const sent = drive(pace, backAt(30_000, { waitMs: 20_000 }), { untilMs: minute, most: 16 });
    const probes = refusedAt(sent).slice(16);
    expect(probes).toHaveLength(1);
    expect(probes[0]).toBeGreaterThanOrEqual(20_000);
    expect(sent.find(({ isRefused }) => !isRefused)?.at).toBeGreaterThanOrEqual(40_000);
  });

  it('rests for longer than retry.cap where the service asks for that, also of a probe', () => {
    const pace = newPace();
    const waitMs = 5 * capMs;
    let now = refuseAll(pace, 0, 8, { waitMs });
    for (let probes = 0; probes < 3; probes += 1) {
      const probedAt = nextOf(pace, now);
      expect(probedAt - now).toBeGreaterThanOrEqual(waitMs);
      pace.take('probe', probedAt);
      now = probedAt + 100;
      pace.refused('probe', now, { waitMs });
    }
  });

  it('rests on whatever becomes of requests that had left before', () => {
    const pace = newPace();
    for (const key of ['early', 'late']) pace.take(key, 0);
    const refused = refuseAll(pace, 1000);
    pace.served('early', refused + 50);
    const probedAt = nextOf(pace, refused + 50);
    expect(probedAt - refused).toBeGreaterThanOrEqual(baseMs);
    pace.served('late', probedAt);
    expect(pace.isProbing).toBe(true);
    // Nor do they part two refusals in a row.
    const other = newPace();
    other.take('early', 0);
    refuseAll(other, 1000, 1);
    other.served('early', 1200);
    const last = refuseAll(other, nextOf(other, 1200), 1);
    expect([nextOf(other, last) - last >= baseMs, other.isProbing]).toEqual([true, true]);
  });

  it('knows how soon refusals come by those that were not broken off', () => {
    const pace = newPace();
    let now = refuseAll(pace, 0, 8, { isCut: true }, 30_000);
    now = serve(pace, 20, nextOf(pace, now));
    const probedAt = nextOf(pace, refuseAll(pace, now));
    pace.take('probe', probedAt);
    // Where a refusal would have come by then, there was none.
    expect(nextOf(pace, probedAt) - probedAt).toBeLessThanOrEqual(300);
  });

  it('rests where refusals come one at a time', () => {
    const sent = drive(newPace(), backAt(Number.POSITIVE_INFINITY), { untilMs: 2 * minute, most: 1 });
    expect(sent.length).toBeLessThan(30);
  });

  it('awaits each request where others were broken off, however long it takes', () => {
    const slow: Server = (at) =>
      at < 20_000 ? { isRefused: true, afterMs: 100, isCut: true } : { afterMs: 30_000 };
    const sent = drive(newPace(), slow, { untilMs: 40_000, most: 8 });
    const served = sent.filter(({ isRefused }) => !isRefused);
    expect(served).toHaveLength(1);
    const others = drive(newPace(), (...asked) => ({ ...slow(...asked), isCut: false }), {
      untilMs: 40_000,
      most: 8,
    });
    expect(others.filter(({ isRefused }) => !isRefused)).toHaveLength(8);
  });
});

describe('where so many at once are served', () => {
  const cases = [
    [1, {}],
    [2, {}],
    [5, {}],
    [1, { waitMs: minute }],
    [2, { waitMs: minute }],
    [5, { waitMs: minute }],
  ] as const;

  it.each(cases)('finds the window of %d, and keeps to it (%j)', (most, refused) => {
    for (const seed of seeds) {
      const pace = newPace();
      const sent = drive(pace, atOnce(most, 1000, refused), { untilMs: 6 * minute, most: 16, seed });
      expect({ seed, atOnce: pace.found.atOnce }).toEqual({ seed, atOnce: most });
      const late = counts(sent, minute);
      expect(late.served).toBeGreaterThanOrEqual(0.9 * most * 300);
      expect(late.refused).toBeLessThanOrEqual(0.05 * late.sent);
      expect(counts(sent).sent).toBeLessThanOrEqual(1.3 * counts(sent).served);
    }
  });

  it.each([1, 2, 5])('finds the window of %d where one more cuts another', (most) => {
    for (const seed of seeds) {
      const sent = drive(newPace(), cutting(most, 3000), { untilMs: 10 * minute, most: 16, seed });
      const late = counts(sent, 2 * minute);
      expect(late.served / ((most * 8 * minute) / 3000)).toBeGreaterThanOrEqual(0.8);
    }
  });

  it('tries one more, and takes it back at the first refusal', () => {
    const pace = newPace({ atOnce: 3 });
    let widest = 0;
    const server = atOnce(3, 1000);
    const sent = drive(
      pace,
      (...asked) => {
        widest = Math.max(widest, pace.window);
        return server(...asked);
      },
      { untilMs: 20 * minute },
    );
    expect(widest).toBe(4);
    expect([counts(sent).refused > 0, pace.found.atOnce]).toEqual([true, 3]);
    expect(counts(sent).refused).toBeLessThanOrEqual(0.02 * counts(sent).sent);
  });

  it('does not rest for a wait that the service asks for once the window is known', () => {
    const pace = newPace({ atOnce: 2 });
    const now = serve(pace, 10, 0);
    for (const key of ['a', 'b']) pace.take(key, now);
    pace.refused('a', now + 100, { waitMs: minute });
    expect([nextOf(pace, now + 100) - now < 2 * baseMs, pace.isProbing]).toEqual([true, false]);
  });

  it('follows a service that takes more', () => {
    const pace = newPace({ atOnce: 2 });
    drive(pace, atOnce(8, 1000), { untilMs: 30 * minute });
    expect(pace.found.atOnce ?? 99).toBeGreaterThanOrEqual(8);
  });
});

describe('where so many within a span of time are served', () => {
  it.each([
    [10, minute, 30],
    [20, 10_000, 10],
    [60, minute, 20],
    [20, 1000, 5],
  ])('finds the rate of %d in %d ms, and keeps to it', (count, perMs, minutes) => {
    for (const seed of seeds) {
      const pace = newPace();
      const untilMs = minutes * minute;
      const sent = drive(
        pace,
        within(() => count, perMs),
        { untilMs, most: 16, seed },
      );
      const late = counts(sent, untilMs / 3);
      expect(late.served / ((count * 2 * untilMs) / (3 * perMs))).toBeGreaterThanOrEqual(0.9);
      expect(late.refused).toBeLessThanOrEqual(0.05 * late.sent);
      expect(pace.found.atOnce).toBeUndefined();
      expect((pace.found.perMinute ?? 0) / ((count * minute) / perMs)).toBeGreaterThan(0.85);
      expect((pace.found.perMinute ?? 99e9) / ((count * minute) / perMs)).toBeLessThan(1.2);
    }
  });

  it('follows a rate that falls to a quarter, and one that rises fourfold', () => {
    for (const [before, after] of [
      [20, 5],
      [5, 20],
    ] as const) {
      for (const seed of seeds) {
        let count: number = before;
        const server = within(() => count, 10_000);
        const pace = newPace();
        drive(pace, server, { untilMs: 10 * minute, most: 16, seed });
        count = after;
        const from = 10 * minute;
        const sent = drive(pace, server, { from, untilMs: from + 20 * minute, most: 16, seed });
        const late = counts(sent, from + 8 * minute);
        expect(late.served / (after * 72)).toBeGreaterThanOrEqual(0.85);
        expect(late.refused).toBeLessThanOrEqual(0.06 * late.sent);
      }
    }
  });
});

describe('where a limiter counts in another way', () => {
  /** Refuses what a limiter refuses. */
  const limitedBy =
    (limiter: Limiter): Server =>
    (at, _working, random) => ({
      afterMs: 80 + 40 * random(),
      ...(limiter(at) !== undefined && { isRefused: true }),
    });

  it.each([
    [10, minute, 60],
    [20, 1000, 5],
  ])('uses it where refused requests count too: %d in %d ms', (count, perMs, minutes) => {
    for (const seed of seeds) {
      const untilMs = minutes * minute;
      const server = limitedBy(countingRefused({ count, perMs }));
      const late = counts(drive(newPace(), server, { untilMs, most: 16, seed }), untilMs / 3);
      expect(late.served / ((count * 2 * untilMs) / (3 * perMs))).toBeGreaterThanOrEqual(0.95);
      expect(late.refused).toBeLessThanOrEqual(0.05 * late.sent);
    }
  });

  it('takes a bucket that fills four times as slowly for no chance', () => {
    const late = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
      const [before, after] = [
        { count: 600, perMs: minute },
        { count: 150, perMs: minute },
      ] as const;
      const at = 10 * minute;
      const server = limitedBy(changing('bucket, burst of a window', before, at, after));
      const pace = newPace();
      drive(pace, server, { untilMs: at, most: 32, seed });
      const sent = drive(pace, server, { from: at, untilMs: at + minute, most: 32, seed });
      const refused = refusedAt(sent);
      return counts(sent, (refused[0] ?? 0) + 10_000).refused;
    });
    expect(late.filter((refused) => refused <= 15).length).toBeGreaterThanOrEqual(7);
  });
});

describe('where requests are refused by chance', () => {
  const most = 16;
  const untilMs = minute;
  const eight = [1, 2, 3, 4, 5, 6, 7, 8];
  const served = (part: number, refused: Refused, seed: number): number =>
    counts(drive(newPace(), byChance(part, refused), { untilMs, most, seed })).served;
  /** What a careless loop is served, in which each refused job waits. */
  const byLoop = (part: number, waitMs: number, seed: number): number => {
    const random = seededRandom(seed);
    const jobs = Array.from({ length: most }, () => ({ at: 0, tries: 0 }));
    const server = byChance(part);
    for (let count = 0; ; ) {
      const next = jobs.reduce((first, other) => (other.at < first.at ? other : first));
      if (next.at >= untilMs) return count;
      const { isRefused, afterMs } = server(next.at, [], random);
      next.tries = isRefused ? next.tries + 1 : 0;
      next.at += afterMs;
      if (isRefused) next.at += Math.max(waitMs, Math.min(capMs, baseMs * 2 ** (next.tries - 1)) * random());
      else count += 1;
    }
  };

  it.each([
    [0.1, {}],
    [0.3, {}],
    [0.5, {}],
    [0.8, {}],
    [0.3, { waitMs: 1000 }],
  ])('serves at least as much as a careless loop: %d, %j', (part, refused: Refused) => {
    const worse = eight.filter(
      (seed) => served(part, refused, seed) < 0.85 * byLoop(part, refused.waitMs ?? 0, seed),
    );
    // Where four in five are refused, a few probes in a row may all be.
    expect(worse.length).toBeLessThanOrEqual(part > 0.5 ? 1 : 0);
  });

  it.each([0.1, 0.3, 0.5, 0.8])('goes back to full speed: %d', (part) => {
    const full = untilMs * most * ((1 - part) / ((1 - part) * 300 + part * 75));
    const shares = eight.map((seed) => served(part, {}, seed) / full).toSorted((a, b) => a - b);
    expect(shares[4]).toBeGreaterThanOrEqual(0.7);
  });

  it('rests for a Retry-After only until chance is known', () => {
    const long = eight.map((seed) => served(0.3, { waitMs: 5000 }, seed)).toSorted((a, b) => a - b);
    const none = eight.map((seed) => served(0.3, {}, seed)).toSorted((a, b) => a - b);
    expect(long[4]).toBeGreaterThanOrEqual(0.6 * (none[4] ?? 0));
  });

  it('uses the whole of a rate beside it: refusals by chance take nothing from it', () => {
    for (const seed of eight) {
      const rate = within(() => 20, 10_000);
      const server: Server = (at, working, random) =>
        random() < 0.3 ? { isRefused: true, afterMs: 75 } : rate(at, working, random);
      const sent = drive(newPace(), server, { untilMs: 20 * minute, most: 16, seed });
      expect(counts(sent, 10 * minute).served).toBeGreaterThanOrEqual(0.9 * 1200);
    }
  });

  it('says what part is refused', () => {
    const found = seeds.map((seed) => {
      const pace = newPace();
      drive(pace, byChance(0.3), { untilMs: minute, most: 16, seed });
      return pace.found.byChance ?? 0;
    });
    expect(Math.max(...found)).toBeLessThan(0.45);
    expect(found.toSorted((a, b) => a - b)[1]).toBeGreaterThan(0.15);
  });
});

describe('what an earlier run found', () => {
  it('holds from the first request on', () => {
    const pace = newPace({ atOnce: 2, perMinute: 60 });
    pace.take('a', 0);
    expect(pace.nextAt(0)).toBeGreaterThan(0);
    expect(nextOf(pace, 0)).toBeLessThanOrEqual(1000);
    pace.take('b', 1000);
    expect(pace.window).toBe(2);
  });

  it('is not raised by requests that do not use it up', () => {
    const pace = newPace({ perMinute: 10 });
    for (let now = 0; now < 300 * 30_000; now += 30_000) {
      pace.take('job', now);
      pace.served('job', now + 100);
    }
    expect(pace.found).toEqual({ perMinute: 10 });
  });

  it('stays as it was where nothing is served', () => {
    const found = { atOnce: 2, perMinute: 60 };
    const pace = newPace(found);
    drive(pace, backAt(Number.POSITIVE_INFINITY), { untilMs: 10 * minute });
    expect(pace.found).toEqual(found);
    const fresh = newPace();
    drive(fresh, backAt(Number.POSITIVE_INFINITY), { untilMs: 10 * minute });
    expect(fresh.found).toEqual({});
  });

  it('is used in full by the next run: no request is refused that the first one knew of', () => {
    for (const seed of seeds) {
      const first = newPace();
      drive(first, atOnce(3, 1000), { untilMs: 5 * minute, most: 16, seed });
      const sent = drive(newPace(first.found), atOnce(3, 1000), { untilMs: 20_000, most: 16, seed });
      expect(counts(sent).refused).toBe(0);
      expect(counts(sent).served).toBeGreaterThanOrEqual(0.85 * 60);
    }
  });
});

describe('whatever a service does', () => {
  const byRule: fc.Arbitrary<() => Server> = fc.oneof(
    fc.record({ most: fc.integer({ min: 1, max: 9 }), ms: fc.integer({ min: 50, max: 5000 }) }).map(
      ({ most, ms }) =>
        () =>
          atOnce(most, ms),
    ),
    fc.record({ count: fc.integer({ min: 3, max: 50 }), perMs: fc.constantFrom(1000, 10_000, minute) }).map(
      ({ count, perMs }) =>
        () =>
          within(() => count, perMs),
    ),
    fc.integer({ min: 100, max: 1.5 * minute }).map((goneMs) => () => backAt(goneMs)),
  );
  const luck = fc.double({ min: 0, max: 0.9, noNaN: true }).map((part) => () => byChance(part));
  const any = fc.oneof(
    byRule.map((server) => ({ server, servesSome: true })),
    luck.map((server) => ({ server, servesSome: false })),
  );

  it('lets requests go on leaving, within twice retry.cap or the span that is counted', () => {
    fc.assert(
      fc.property(any, fc.nat(9999), fc.integer({ min: 1, max: 8 }), ({ server, servesSome }, seed, most) => {
        const untilMs = 5 * minute;
        const sent = drive(newPace(), server(), { untilMs, most, seed });
        let last = 0;
        for (const { at } of [...sent, { at: untilMs }]) {
          expect(at - last).toBeLessThanOrEqual(2 * capMs + 5000);
          last = at;
        }
        expect(servesSome && sent.every(({ isRefused }) => isRefused)).toBe(false);
      }),
      { numRuns: 12 },
    );
  });

  it('remembers a bounded number of requests, however many leave', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const paces = [newPace(), newPace({ perMinute: 6000 })];
    const leave = (from: number, count: number): void => {
      for (let n = from; n < from + count; n += 1)
        for (const pace of paces) {
          pace.take(`${n}`, 10 * n);
          if (n % 7 === 0) pace.refused(`${n}`, 10 * n + 5);
          else pace.served(`${n}`, 10 * n + 5);
        }
    };
    leave(0, 10_000);
    const before = heap();
    leave(10_000, 100_000);
    expect(heap() - before).toBeLessThan(5e6);
    expect(paces.map(({ found }) => found)).toHaveLength(2);
  });
});
