import { afterAll, beforeAll, expect, it } from 'vitest';
import { boundsOf } from '../../../src/engine/limits/run-allowance.ts';
import { EngineLimits } from '../../../src/engine/limits/shared-limits.ts';
import { type LimitsDatabase, limitsDatabase, seeded } from '../../rig/engine/limits-database.ts';

let db: LimitsDatabase;
beforeAll(async () => {
  db = await limitsDatabase();
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

let workers = 0;
function limitsOf(service: string, run: number, offMs: number): EngineLimits {
  workers += 1;
  return new EngineLimits(
    { service, run, worker: String(workers) },
    {
      limits: { tasks: 20, requests: 32, submit: { count: 100, perMs: 1000 } },
      bounds: boundsOf({ submits: 5 }, 3),
      makesTasks: true,
    },
    { database: db.virtual.reach(4), clock: db.time.clock(offMs), random: seeded(workers) },
  );
}

it('a pause that one run hears of holds the other runs of the service within a second, whatever their clocks say', async () => {
  const [first, second, elsewhere] = [
    limitsOf('gateway', 1, 600_000),
    limitsOf('gateway', 2, -600_000),
    limitsOf('another', 3, 0),
  ];
  const all = [first, second, elsewhere];
  const ask = (): readonly (number | undefined)[] =>
    all.map((limits, i) => {
      const now = db.time.now + ([600_000, -600_000, 0][i] ?? 0);
      return Math.round(((limits.moments.submit?.nextAt() ?? 0) - now) / 1000);
    });
  ask();
  await db.time.pass(1000);
  expect(ask()).toEqual([0, 0, 0]);
  first.listener({
    type: 'route:pause',
    route: 'submit',
    untilMs: db.time.now + 600_000 + 30_000,
    reason: '429',
  });
  await db.time.pass(800);
  ask();
  await db.time.pass(200);
  expect(ask()).toEqual([29, 29, 0]);
  await Promise.all([db.time.pass(1000), ...all.map((limits) => limits.stop())]);
});

it('a pace that one worker has found bounds those that have found none', async () => {
  const [first, second] = [limitsOf('slow', 1, 0), limitsOf('slow', 1, 0)];
  const sent = [0, 0];
  const until = db.time.now + 20_000;
  const send = (limits: EngineLimits, i: number): void => {
    if (db.time.now >= until) return;
    const at = limits.moments.text?.nextAt() ?? 0;
    if (at > db.time.now) return void db.time.at(at, () => send(limits, i));
    limits.moments.text?.take(db.time.now);
    sent[i] = (sent[i] ?? 0) + 1;
    db.time.at(db.time.now + 100, () => send(limits, i));
  };
  for (const [i, limits] of [first, second].entries()) send(limits, i);
  await db.time.pass(10_000);
  const before = sent[1] ?? 0;
  expect(before).toBeGreaterThan(95);
  // Half of what the service takes: 4 a second of all workers.
  const kind = 'one of several';
  first.listener({ type: 'route:rate', route: 'text', kind, perMinute: 1 });
  first.listener({ type: 'route:pause', route: 'text', kind, untilMs: until, reason: '429' });
  await db.time.pass(2000);
  expect((sent[1] ?? 0) - before).toBeGreaterThan(15);
  first.listener({ type: 'route:rate', route: 'text', perMinute: 120 });
  await db.time.pass(1000);
  const since = [...sent];
  await db.time.pass(7000);
  const [mine = 0, others = 0] = sent.map((count, i) => count - (since[i] ?? 0));
  expect(mine + others).toBeLessThan(1.3 * 4 * 7);
  expect(mine + others).toBeGreaterThan(0.9 * 4 * 7);
  await Promise.all([db.time.pass(1000), first.stop(), second.stop()]);
});

it('calls when there is more than before', async () => {
  const limits = limitsOf('more', 1, 0);
  let calls = 0;
  const remove = limits.onMore(() => {
    calls += 1;
  });
  limits.rooms?.noteSlices(1);
  await db.time.pass(100);
  expect(limits.rooms?.granted).toBe(20);
  expect(calls).toBe(1);
  expect(limits.away).toBeUndefined();
  remove();
  await Promise.all([db.time.pass(1000), limits.stop()]);
});
