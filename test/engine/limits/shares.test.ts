import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenShare } from '../../../src/engine/limits/rate-shares.ts';
import { EngineLimits } from '../../../src/engine/limits/shared-limits.ts';
import type { Limits, Rate } from '../../../src/pipeline/pipeline.ts';
import type { SendTimes } from '../../../src/run/ports.ts';
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

interface Worker {
  readonly limits: EngineLimits;
  /** How far its clock is off, ms. */
  readonly off: number;
  readonly random: () => number;
  isAway: boolean;
}

async function workers(count: number, limits: Partial<Limits>): Promise<readonly Worker[]> {
  services += 1;
  const all: Worker[] = [];
  for (let i = 0; i < count; i += 1) {
    const off = (i - 2) * 600_000;
    const random = seeded(i);
    const worker: { isAway: boolean } & Record<string, unknown> = { isAway: false };
    const ports = { clock: time.clock(off), random };
    const session = await db.session(
      `s${services}`,
      virtual.reach(4, () => worker.isAway),
      ports.clock,
    );
    const settings = {
      limits: { tasks: 10, requests: 10, ...limits },
      bounds: {},
      makesTasks: limits.tasks !== undefined,
      leaseMs: 30_000,
    };
    const names = { service: `s${services}`, session };
    all.push(Object.assign(worker, { limits: new EngineLimits(names, settings, ports), off, random }));
  }
  return all;
}

const stop = async (all: readonly Worker[]): Promise<void> => {
  await Promise.all([...all.map(({ limits }) => limits.stop()), time.pass(1000)]);
};

/** Decides whenever it may, commits for some ms, then lets the request leave when it may, and `wayMs` later. */
function send(
  { limits, off, random }: Worker,
  until: number,
  sent: number[],
  wayMs: () => number = () => 0,
): void {
  const route: SendTimes = limits.sendTimes.submit;
  const turn = (): void => {
    if (time.now >= until) return;
    const at = route.nextAt() - off;
    if (at > time.now) return void time.at(Math.max(at, time.now + 1), turn);
    route.take(time.now + off);
    const leave = async (): Promise<void> => {
      const onLeft = await route.pass?.(new AbortController().signal);
      time.at(time.now + wayMs(), () => {
        sent.push(time.now);
        onLeft?.(true);
      });
    };
    time.at(time.now + 1 + 9 * random(), () => void leave());
    time.at(time.now, turn);
  };
  turn();
}

/** The most within any window. */
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

const rates: readonly (readonly [Rate, number])[] = [
  [{ count: 10, perMs: 60_000 }, 0.9],
  [{ count: 60, perMs: 60_000 }, 0.97],
  [{ count: 600, perMs: 60_000 }, 0.97],
  [{ count: 5, perMs: 1000 }, 0.9],
  [{ count: 20, perMs: 1000 }, 0.9],
];

/** Every number of workers, and forty, with every rate: takes minutes. */
const isLong = process.env['PROMPTPRESS_TEST_LONG'] !== undefined;

/** What a worker wants of a limit. */
const member = (want: number, more: Readonly<Record<string, number>> = {}) => ({
  want,
  unit: 1,
  granted: 1,
  forMs: 60_000,
  ...more,
});

/** The fair part of each of these workers. */
async function parts(
  limit: number,
  members: readonly ReturnType<typeof member>[],
): Promise<readonly number[]> {
  const told = members.map(({ forMs, ...each }, id) => ({ ...each, id, since: 100_000 - forMs }));
  const rows = await db.query<{ part: number }>(
    `SELECT promptpress.fair_share($1, array_agg(m) OVER (), m.id, 100000) AS part
     FROM jsonb_populate_recordset(NULL::promptpress.share_member, $2) m ORDER BY m.id`,
    [limit, JSON.stringify(told)],
  );
  return rows.map(({ part }) => part);
}

it('divides a limit by demand, one unit for each first, and never exceeds it', async () => {
  expect(await parts(10, [member(10), member(10), member(10)])).toEqual([3, 3, 4]);
  expect(await parts(10, [member(2), member(10), member(10)])).toEqual([2, 4, 4]);
  // Of what nobody wants, whoever wants nothing has one to begin with.
  expect(await parts(10, [member(0), member(5)])).toEqual([1, 5]);
  expect(await parts(5, [member(0), member(5)])).toEqual([0, 5]);
});

it('lets workers take turns where there is less than a unit for each', async () => {
  const [old, young] = [member(5), member(5, { forMs: 500 })];
  const waits = member(5, { granted: 0, forMs: 3000 });
  const waitsLonger = member(5, { granted: 0, forMs: 9000 });
  const all = [old, waits, waitsLonger, young];
  expect(await parts(1, all)).toEqual([0, 0, 0, 1]);
  expect(await parts(2, all)).toEqual([0, 0, 1, 1]);
  expect(await parts(3, all)).toEqual([0, 1, 1, 1]);
  // Calls of many tokens: one at a time, which has the rest too.
  const calls = [60, 0, 0].map((granted) => member(100, { unit: 60, granted, forMs: 100 }));
  expect(await parts(100, calls)).toEqual([100, 0, 0]);
});

describe('shares of a rate', () => {
  it.each(
    [1, 2, 4, 8, 40].flatMap((count, n) =>
      rates
        .filter((_, at) => isLong || at === n || (count === 8 && at % 2 === 0))
        .map(([rate, least]) => [count, rate, least] as const),
    ),
  )(
    '%i workers use %o, and never more',
    async (count, rate, least) => {
      const all = await workers(count, { submit: rate });
      const sent: number[] = [];
      const from = time.now;
      const warm = rate.perMs === 1000 ? 5000 : 75_000;
      const ms = warm + (rate.perMs === 1000 ? 40_000 : 120_000);
      const before = virtual.asked();
      for (const worker of all) send(worker, from + ms, sent);
      await time.pass(ms);
      const steady = sent.filter((at) => at >= from + warm).length;
      const used = steady / (((ms - warm) / rate.perMs) * rate.count);
      await stop(all);
      const writes = (virtual.asked() - before) / count / (ms / 1000);
      expect(most(sent, rate.perMs)).toBeLessThanOrEqual(rate.count);
      expect(used).toBeGreaterThanOrEqual(least);
      expect(writes).toBeLessThan(1.2);
    },
    300_000,
  );

  it.each([
    [1, { count: 20, perMs: 1000 }, 100, 0.88],
    [8, { count: 20, perMs: 1000 }, 100, 0.88],
    [8, { count: 600, perMs: 60_000 }, 100, 0.97],
    [8, { count: 20, perMs: 1000 }, 900, 0.4],
  ])(
    '%i workers use %o where requests are sent up to %i ms late, and never more',
    async (count, rate, lateMs, least) => {
      const all = await workers(count, { submit: rate });
      const sent: number[] = [];
      const from = time.now;
      const warm = rate.perMs === 1000 ? 5000 : 75_000;
      const ms = warm + Math.max(20_000, rate.perMs);
      for (const worker of all) send(worker, from + ms, sent, () => lateMs * worker.random());
      await time.pass(ms);
      await stop(all);
      const used = sent.filter((at) => at >= from + warm).length / (((ms - warm) / rate.perMs) * rate.count);
      expect(used).toBeGreaterThanOrEqual(least);
      expect(most(sent, rate.perMs)).toBeLessThanOrEqual(rate.count);
    },
  );

  it('spaces requests evenly where they could be sent at once', async () => {
    const all = await workers(2, { submit: { count: 600, perMs: 60_000 } });
    const sent: number[] = [];
    for (const worker of all) send(worker, time.now + 30_000, sent);
    await time.pass(30_000);
    await stop(all);
    // Ten a second are even.
    expect(most(sent, 1000)).toBeLessThanOrEqual(20);
  });

  it('grants a silent worker’s share to others only once everything it may have sent has left the window', async () => {
    const rate = { count: 20, perMs: 10_000 };
    const all = await workers(2, { submit: rate });
    const [silent, other] = all as [Worker, Worker];
    const sent: number[] = [];
    const from = time.now;
    for (const worker of all) send(worker, from + 80_000, sent);
    await time.pass(30_000);
    silent.isAway = true;
    const later: number[] = [];
    send(other, from + 80_000, later);
    await time.pass(5000);
    // It sends on for some seconds, and then nothing.
    const before = sent.length;
    await time.pass(45_000);
    const after = [...sent, ...later].filter((at) => at >= from + 60_000 && at < from + 80_000);
    expect(most([...sent, ...later], rate.perMs)).toBeLessThanOrEqual(rate.count);
    expect(sent.length).toBeGreaterThan(before);
    // The other has all of it.
    expect(after.length).toBeGreaterThanOrEqual(36);
    silent.isAway = false;
    await stop(all);
  });

  it('grants a returning worker only what the others do not have', async () => {
    const rate = { count: 20, perMs: 10_000 };
    const all = await workers(2, { submit: rate });
    const sent: number[] = [];
    for (const worker of all) send(worker, time.now + 70_000, sent);
    await time.pass(25_000);
    const [silent] = all as [Worker, Worker];
    silent.isAway = true;
    // Others have had its part for 4 s, and its row still stands.
    await time.pass(19_000);
    silent.isAway = false;
    await time.pass(26_000);
    await stop(all);
    expect(most(sent, rate.perMs)).toBeLessThanOrEqual(rate.count);
  });

  it('keeps the limit where a worker is granted nothing more because its session is over', async () => {
    const rate = { count: 20, perMs: 1000 };
    const all = await workers(2, { submit: rate });
    const sent: number[] = [];
    const from = time.now;
    for (const worker of all) send(worker, from + 40_000, sent);
    await time.pass(5000);
    await db.query('UPDATE promptpress.sessions SET over = true WHERE name = $1', [`s${services}`]);
    await time.pass(10_000);
    const count = sent.length;
    await time.pass(5000);
    expect(sent.length).toBe(count);
    expect(all.map(({ limits }) => limits.away)).toEqual([expect.any(Error), expect.any(Error)]);
    expect(most(sent, rate.perMs)).toBeLessThanOrEqual(rate.count);
    await stop(all);
  });

  it.each([1, 4])('%i workers use the tokens of a minute, and never more', async (count) => {
    const rate = { count: 60_000, perMs: 60_000 };
    const calls: { readonly at: number; readonly tokens: number }[] = [];
    const all = await workers(count, { tokens: rate });
    const from = time.now;
    const until = from + 220_000;
    for (const { limits, off, random } of all) {
      let next = 500;
      const turn = (): void => {
        if (time.now >= until) return;
        const at = limits.tokens.nextAt(next) - off;
        if (at > time.now) return void time.at(at, turn);
        const key = String(calls.length);
        const [estimate, tokens] = [next, Math.round(next * (0.9 + 0.2 * random()))];
        limits.tokens.take(key, estimate, time.now + off);
        calls.push({ at: time.now, tokens });
        time.at(time.now + 2000, () => limits.tokens.settle(key, tokens));
        next = Math.round(200 + 1500 * random());
        time.at(time.now + 1, turn);
      };
      turn();
    }
    await time.pass(220_000);
    const sum = calls
      .filter(({ at }) => at >= from + 100_000)
      .reduce((total, { tokens }) => total + tokens, 0);
    expect(sum / 120_000).toBeGreaterThan(0.93);
    let highest = 0;
    for (const { at } of calls) {
      const window = calls.filter((call) => call.at > at - rate.perMs && call.at <= at);
      highest = Math.max(
        highest,
        window.reduce((total, { tokens }) => total + tokens, 0),
      );
    }
    expect(highest).toBeLessThanOrEqual(rate.count * 1.01);
    await stop(all);
  });

  it('lets calls that need more tokens than a fair share take turns', async () => {
    const all = await workers(4, { tokens: { count: 10_000, perMs: 10_000 } });
    const from = time.now;
    const had = all.map(() => 0);
    for (const [i, { limits, off }] of all.entries()) {
      const turn = (): void => {
        const at = limits.tokens.nextAt(6000) - off;
        if (at > time.now) return void time.at(at, turn);
        limits.tokens.take(`${i} ${time.now}`, 6000, time.now + off);
        had[i] = (had[i] ?? 0) + 1;
        time.at(time.now + 1, turn);
      };
      turn();
    }
    await time.pass(240_000);
    expect(time.now - from).toBe(240_000);
    expect(had.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(16);
    expect(Math.min(...had)).toBeGreaterThan(1);
    await stop(all);
  });
});

it('counts the actual tokens of a call instead of the estimate, where they are known', async () => {
  const share = new TokenShare({ count: 100, perMs: 60_000 }, time.clock(), () => undefined);
  const used = (): number | undefined => share.ask(time.now).used;
  share.take('a', 40, time.now);
  share.take('b', 20, time.now);
  expect(used()).toBe(60);
  share.settle('a', 50);
  share.settle('b', undefined);
  share.settle('nobody', 30);
  expect(used()).toBe(70);
  await time.pass(70_000);
  expect(used()).toBe(0);
});
