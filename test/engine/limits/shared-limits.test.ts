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
async function limitsOf(service: string, run: number, offMs: number, roundTripMs = 4): Promise<EngineLimits> {
  workers += 1;
  const [database, clock] = [db.virtual.reach(roundTripMs), db.time.clock(offMs)];
  return new EngineLimits(
    { service, session: await db.session(service, database, clock, run) },
    {
      limits: { tasks: 20, requests: 32, submit: { count: 100, perMs: 1000 } },
      bounds: boundsOf({ submits: 5 }, 3),
      makesTasks: true,
      leaseMs: 30_000,
    },
    { clock, random: seeded(workers) },
  );
}

it.each(['submit', 'text'] as const)(
  'lets what one worker finds on route %s slow down no other: each has its own share',
  async (route) => {
    const [first, second] = [
      await limitsOf(`gateway ${route}`, 1, 600_000),
      await limitsOf(`gateway ${route}`, 2, -600_000),
    ];
    const sent = [0, 0];
    const until = db.time.now + 10_000;
    const send = (limits: EngineLimits, i: number, offMs: number): void => {
      if (db.time.now >= until) return;
      const at = limits.sendTimes[route].nextAt() - offMs;
      if (at > db.time.now) return void db.time.at(at, () => send(limits, i, offMs));
      limits.sendTimes[route].take(db.time.now + offMs);
      void (async () => {
        const onLeft = await limits.sendTimes[route].pass(new AbortController().signal);
        onLeft?.(true);
      })();
      sent[i] = (sent[i] ?? 0) + 1;
      db.time.at(db.time.now + 100, () => send(limits, i, offMs));
    };
    send(first, 0, 600_000);
    send(second, 1, -600_000);
    await db.time.pass(1000);
    first.listener({ type: 'route:pace', route, perMinute: 1 });
    first.listener({ type: 'route:pause', route, untilMs: db.time.now + 660_000, reason: '429' });
    await db.time.pass(9000);
    expect(Math.min(...sent)).toBeGreaterThan(60);
    // Whoever looks at the run is told of the pause, and of what both send.
    const rows = await db.query<{ paused: number; sent: number }>(
      `SELECT (shares -> $2 ->> 'pausedMs')::float8 AS paused, (shares -> $2 ->> 'perMinute')::float8 AS sent
       FROM promptpress.sessions WHERE service = $1 ORDER BY session`,
      [`gateway ${route}`, route],
    );
    expect(rows.map(({ paused }) => paused > 0)).toEqual([true, false]);
    expect(rows.reduce((sum, { sent: minute }) => sum + minute, 0)).toBeGreaterThan(400);
    await Promise.all([db.time.pass(1000), first.stop(), second.stop()]);
  },
);

it('notifies when more is granted than before', async () => {
  const limits = await limitsOf('more', 1, 0);
  let calls = 0;
  const remove = limits.onMore(() => {
    calls += 1;
  });
  limits.taskSlots?.noteSlices(1);
  await db.time.pass(300);
  expect(limits.taskSlots?.granted).toBe(20);
  expect(calls).toBe(1);
  expect(limits.away).toBeUndefined();
  remove();
  await Promise.all([db.time.pass(1000), limits.stop()]);
});

it('narrows the tasks of all workers once one has found how many are accepted at once, not by one full queue', async () => {
  const [first, second] = [await limitsOf('full', 1, 0), await limitsOf('full', 1, 0)];
  for (const { taskSlots } of [first, second]) taskSlots?.noteSlices(1);
  await db.time.pass(2000);
  for (const { taskSlots } of [first, second]) taskSlots?.note(3);
  await db.time.pass(1000);
  const told = async (): Promise<number | undefined> => {
    await db.time.pass(3000);
    const [row] = await db.query<{ accepted: number }>(
      "SELECT accepted FROM promptpress.accepted_tasks WHERE service = 'full'",
    );
    return row?.accepted;
  };
  const full = { type: 'request:end', route: 'submit', key: 'a', outcome: 'queue-full', ms: 1 } as const;
  first.listener(full);
  first.listener({ type: 'route:pace', route: 'submit', byChance: 0.5 });
  expect(await told()).toBeUndefined();
  first.listener({ type: 'route:pace', route: 'submit', atOnce: 3 });
  expect(await told()).toBe(6);
  second.taskSlots?.note(2);
  await db.time.pass(1000);
  // The other one has found nothing yet.
  second.listener(full);
  expect(await told()).toBe(6);
  first.listener(full);
  expect(await told()).toBe(5);
  first.listener({ type: 'route:pace', route: 'submit' });
  expect(await told()).toBeUndefined();
  await Promise.all([db.time.pass(1000), first.stop(), second.stop()]);
});

it('has one heartbeat in flight, however slow the engine is and however often more is needed', async () => {
  const limits = await limitsOf('slow', 1, 0, 2000);
  const before = db.virtual.asked();
  for (let at = 0; at < 100; at += 1) {
    limits.taskSlots?.noteFull();
    await db.time.pass(200);
  }
  expect(db.virtual.asked() - before).toBeLessThan(25);
  await Promise.all([db.time.pass(5000), limits.stop()]);
});
