import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RouteMoments } from '../../../src/engine/limits/moments/route-moments.ts';
import { ServiceMoments } from '../../../src/engine/limits/moments/service-moments.ts';
import type { Rate } from '../../../src/pipeline/pipeline.ts';
import { type LimitsDatabase, limitsDatabase, seeded } from '../../rig/engine/limits-database.ts';
import type { VirtualDatabase, VirtualTime } from '../../rig/engine/virtual-time.ts';

let db: LimitsDatabase;
let time: VirtualTime;
let virtual: VirtualDatabase;

beforeAll(async () => {
  db = await limitsDatabase(7_200_000);
  ({ time, virtual } = db);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

let services = 0;
const worker = (service: string, rate: Rate, i: number, roundTrip = 4) => {
  const random = seeded(i);
  const limits = { tasks: 10, requests: 10, submit: rate };
  const clock = time.clock((i - 2) * 600_000);
  const moments = new ServiceMoments(
    service,
    limits,
    { database: virtual.reach(roundTrip), clock, random },
    () => undefined,
  );
  return { moments, route: moments.routes.submit, clock, random };
};

/** What a worker needs of a route to send by it. */
type Sending = Pick<RouteMoments, 'nextAt' | 'take' | 'pass'>;

/** The way of the first request takes so long; that of the others is short. */
function firstLate(ms: number, othersMs: number): () => number {
  let next = ms;
  return () => {
    const way = next;
    next = othersMs;
    return way;
  };
}

/** Decides whenever it may, commits for some ms, then lets the request leave at its moment, and `wayMs` later where it takes so long. */
function send(
  route: Sending,
  clock: { now(): number },
  until: number,
  random: () => number,
  sent: number[],
  wayMs?: () => number,
): void {
  const off = clock.now() - time.now;
  const turn = (): void => {
    if (time.now >= until) return;
    const at = route.nextAt();
    if (at > clock.now()) return void time.at(at - off, turn);
    route.take(clock.now());
    const leave = async (): Promise<void> => {
      const onLeft = await route.pass(new AbortController().signal);
      if (wayMs === undefined) return void sent.push(time.now);
      time.at(time.now + wayMs(), () => {
        sent.push(time.now);
        onLeft?.();
      });
    };
    time.at(time.now + 1 + 9 * random(), () => void leave());
    time.at(time.now, turn);
  };
  turn();
}

const most = (sent: readonly number[], window: number): number => {
  const sorted = sent.toSorted((a, b) => a - b);
  let from = 0;
  let best = 0;
  for (const [i, at] of sorted.entries()) {
    while ((sorted[from] ?? 0) <= at - window) from += 1;
    best = Math.max(best, i - from + 1);
  }
  return best;
};

describe('moments of a rate that workers share', () => {
  it.each([
    [1, { count: 100, perMs: 1000 }, 10_000],
    [2, { count: 100, perMs: 1000 }, 10_000],
    [4, { count: 100, perMs: 1000 }, 10_000],
    [8, { count: 100, perMs: 1000 }, 10_000],
    [4, { count: 60, perMs: 60_000 }, 120_000],
    [8, { count: 1200, perMs: 60_000 }, 20_000],
  ])('%i workers use %o, and never more', async (workers, rate, ms) => {
    services += 1;
    const sent: number[] = [];
    const before = virtual.asked();
    const all = Array.from({ length: workers }, (_, i) => worker(`s${services}`, rate, i));
    const from = time.now;
    for (const { route, clock, random } of all) send(route, clock, from + ms, random, sent);
    await time.pass(ms);
    const steady = sent.filter((at) => at >= from + 1000).length;
    const used = steady / (((ms - 1000) / rate.perMs) * rate.count);
    expect(used).toBeGreaterThan(rate.perMs === 1000 ? 0.96 : 0.98);
    expect(most(sent, rate.perMs)).toBeLessThanOrEqual(rate.count);
    // Two or three questions a second of each worker, whatever the rate.
    expect((virtual.asked() - before) / (ms / 1000)).toBeLessThan(2 + 4 * workers);
    await Promise.all([...all.map(({ moments }) => moments.stop()), time.pass(1000)]);
  });

  it.each([
    [1, { count: 20, perMs: 1000 }, 30_000, 20_000],
    [8, { count: 20, perMs: 1000 }, 30_000, 20_000],
    [8, { count: 600, perMs: 60_000 }, 0, 60_000],
  ])('%i workers use %o where each request needs a connection', async (workers, rate, learnedMs, ms) => {
    services += 1;
    const sent: number[] = [];
    const all = Array.from({ length: workers }, (_, i) => worker(`s${services}`, rate, i));
    const from = time.now;
    for (const { route, clock, random } of all)
      send(route, clock, from + learnedMs + ms, random, sent, () => 100 + 10 * random());
    await time.pass(learnedMs + ms);
    const used =
      sent.filter((at) => at >= from + learnedMs + 2000).length / (((ms - 2000) / rate.perMs) * rate.count);
    expect(used).toBeGreaterThan(0.93);
    expect(
      most(
        sent.filter((at) => at >= from + 2000),
        rate.perMs,
      ),
    ).toBeLessThanOrEqual(rate.count);
    await Promise.all([...all.map(({ moments }) => moments.stop()), time.pass(1000)]);
  });

  it.each([
    ['one in four needs a connection', 0.25, 60, { count: 20, perMs: 1000 }, 0.9],
    ['one in a hundred needs a connection', 0.01, 60, { count: 20, perMs: 1000 }, 0.96],
    ['one in four needs a connection', 0.25, 60, { count: 600, perMs: 60_000 }, 0.98],
    ['half of them need a connection', 0.5, 150, { count: 20, perMs: 1000 }, 0.82],
  ])('no window holds too many where %s (%d × %i ms, %o)', async (_words, part, lateBy, rate, least) => {
    services += 1;
    const ms = 2 * Math.max(30_000, rate.perMs);
    const sent: number[] = [];
    const all = Array.from({ length: 8 }, (_, i) => worker(`s${services}`, rate, i));
    const from = time.now;
    for (const { route, clock, random } of all)
      send(
        route,
        clock,
        from + ms,
        random,
        sent,
        () => (random() < part ? lateBy : 3) * (0.8 + 0.4 * random()),
      );
    await time.pass(ms);
    const steady = sent.filter((at) => at >= from + 2000);
    expect(steady.length / (((ms - 2000) / rate.perMs) * rate.count)).toBeGreaterThan(least);
    expect(most(steady, rate.perMs)).toBeLessThanOrEqual(rate.count);
    await Promise.all([...all.map(({ moments }) => moments.stop()), time.pass(1000)]);
  });

  it.each([60, 120, 250])(
    'no window holds too many where a few late requests (one in %i ms) are followed by many early ones',
    async (apart) => {
      services += 1;
      const rate = { count: 20, perMs: 1000 };
      const sent: number[] = [];
      const { moments, route, clock, random } = worker(`s${services}`, rate, 1);
      const from = time.now;
      const burstsAt = from + 8000;
      let next = from;
      // Each of the first needs a connection of its own; the others find one that is open.
      const paced: Sending = {
        nextAt: () => {
          const at = route.nextAt();
          return time.now < burstsAt ? Math.max(at, next + clock.now() - time.now) : at;
        },
        take: (now) => {
          next = time.now + apart;
          route.take(now);
        },
        pass: (signal) => route.pass(signal),
      };
      send(paced, clock, from + 12_000, random, sent, () => (time.now < burstsAt ? 100 : 3) + 2 * random());
      await time.pass(12_000);
      const early = sent.filter((at) => at < burstsAt).length;
      expect(early).toBeGreaterThan(0.8 * Math.min(8000 / apart, 150));
      expect(early).toBeLessThanOrEqual(8000 / apart);
      expect(sent.length - early).toBeGreaterThan(70);
      expect(most(sent, rate.perMs)).toBeLessThanOrEqual(rate.count);
      await Promise.all([moments.stop(), time.pass(1000)]);
    },
  );

  it('no window holds too many from the first one on where the first request of a worker is late', async () => {
    for (const lateBy of [25, 35, 60]) {
      services += 1;
      const rate = { count: 20, perMs: 1000 };
      const sent: number[] = [];
      const from = time.now;
      const all = Array.from({ length: 2 }, (_, i) => worker(`s${services}`, rate, i));
      for (const { route, clock, random } of all) {
        send(route, clock, from + 4000, random, sent, firstLate(lateBy, 2));
        await time.pass(300);
      }
      await time.pass(4000);
      expect(most(sent, rate.perMs)).toBeLessThanOrEqual(rate.count);
      expect(sent.length).toBeGreaterThan(70);
      await Promise.all([...all.map(({ moments }) => moments.stop()), time.pass(1000)]);
    }
  });

  it('spaces moments for no lateness above half of a window', async () => {
    services += 1;
    const rate = { count: 20, perMs: 1000 };
    const service = `s${services}`;
    const { moments, route, clock, random } = worker(service, rate, 1);
    const from = time.now;
    send(route, clock, from + 200_000, random, [], () => (random() < 0.5 ? 3 : 900));
    await time.pass(200_000);
    const [row] = await db.query<{ early_ms: number; late_ms: number }>(
      'SELECT early_ms, late_ms FROM promptpress.pace WHERE service = $1 AND route = $2',
      [service, 'submit'],
    );
    expect(row?.early_ms).toBeLessThan(10);
    expect(row?.late_ms).toBeGreaterThan(100);
    expect(row?.late_ms).toBeLessThanOrEqual((row?.early_ms ?? 0) + 500);
    await Promise.all([moments.stop(), time.pass(1000)]);
  });

  it('does not space moments for a lateness that its first request alone had', async () => {
    services += 1;
    const rate = { count: 20, perMs: 1000 };
    const sent: number[] = [];
    const from = time.now;
    const all = Array.from({ length: 4 }, (_, i) => worker(`s${services}`, rate, i));
    const wayMs = firstLate(450, 3);
    const [first, ...others] = all;
    if (first !== undefined) send(first.route, first.clock, from + 20_000, first.random, sent, wayMs);
    await time.pass(1000);
    for (const { route, clock, random } of others) send(route, clock, from + 20_000, random, sent, wayMs);
    await time.pass(19_000);
    expect(sent.filter((at) => at >= from + 2000).length / (18 * rate.count)).toBeGreaterThan(0.97);
    await Promise.all([...all.map(({ moments }) => moments.stop()), time.pass(1000)]);
  });

  it('forgets that requests were late', async () => {
    services += 1;
    const rate = { count: 20, perMs: 1000 };
    const sent: number[] = [];
    const from = time.now;
    const all = Array.from({ length: 8 }, (_, i) => worker(`s${services}`, rate, i));
    for (const { route, clock, random } of all)
      send(route, clock, from + 90_000, random, sent, () => (time.now < from + 10_000 ? 150 : 3) * random());
    await time.pass(90_000);
    const used = (since: number, to: number): number =>
      sent.filter((at) => at >= from + since && at < from + to).length /
      (((to - since) * rate.count) / rate.perMs);
    expect(used(3000, 10_000)).toBeLessThan(0.92);
    expect(used(60_000, 90_000)).toBeGreaterThan(0.975);
    await Promise.all([...all.map(({ moments }) => moments.stop()), time.pass(1000)]);
  });

  it.each([1, 4])('%i workers use the tokens of a minute, and never more', async (workers) => {
    services += 1;
    const rate = { count: 60_000, perMs: 60_000 };
    const calls: { readonly at: number; readonly tokens: number }[] = [];
    const until = time.now + 150_000;
    const all = Array.from({ length: workers }, (_, i) => {
      const random = seeded(i);
      const limits = { tasks: 1, requests: 1, tokens: rate };
      const service = `tokens${services}`;
      const clock = time.clock(i * 60_000);
      const moments = new ServiceMoments(
        service,
        limits,
        { database: virtual.reach(4), clock, random },
        () => undefined,
      );
      let next = 500;
      const turn = (): void => {
        if (time.now >= until) return;
        const at = moments.tokens.nextAt(next) - i * 60_000;
        if (at > time.now) return void time.at(at, turn);
        const key = `${i}-${calls.length}`;
        const [estimate, tokens] = [next, Math.round(next * (0.9 + 0.2 * random()))];
        moments.tokens.take(key, estimate, clock.now());
        calls.push({ at: time.now, tokens });
        time.at(time.now + 2000, () => moments.tokens.settle(key, tokens));
        next = Math.round(200 + 1500 * random());
        time.at(time.now, turn);
      };
      turn();
      return moments;
    });
    const from = time.now;
    await time.pass(150_000);
    const steady = calls.filter(({ at }) => at >= from + 30_000);
    const sum = steady.reduce((total, { tokens }) => total + tokens, 0);
    expect(sum / 120_000).toBeGreaterThan(0.95);
    let highest = 0;
    for (const { at } of calls) {
      const window = calls.filter((call) => call.at > at - rate.perMs && call.at <= at);
      highest = Math.max(
        highest,
        window.reduce((total, { tokens }) => total + tokens, 0),
      );
    }
    expect(highest).toBeLessThanOrEqual(rate.count * 1.01);
    await Promise.all([...all.map((moments) => moments.stop()), time.pass(1000)]);
  });
});
