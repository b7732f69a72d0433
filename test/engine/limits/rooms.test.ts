import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EngineLimits } from '../../../src/engine/limits/shared-limits.ts';
import type { TaskShare } from '../../../src/engine/limits/task-share.ts';
import { storedForm } from '../../../src/state/sqlite/texts.ts';
import { type LimitsDatabase, limitsDatabase, seeded } from '../../rig/engine/limits-database.ts';
import { imagineRecord, textRecord } from '../../rig/jobs.ts';

let db: LimitsDatabase;
beforeAll(async () => {
  db = await limitsDatabase(-3_600_000);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

let workers = 0;

/** A worker that has a task for every room, of about a second each. */
class Busy {
  readonly taskSlots: TaskShare;
  readonly name: string;
  readonly #limits: EngineLimits;
  tasks = 0;
  isAway = false;
  #wants = 0;
  readonly #random: () => number;

  private constructor(limits: EngineLimits, name: string) {
    this.name = name;
    this.#random = seeded(workers);
    this.#limits = limits;
    this.taskSlots = limits.taskSlots as TaskShare;
  }

  static async of(service: string, limit: number, offMs = 0): Promise<Busy> {
    workers += 1;
    let busy: Busy | undefined;
    const database = db.virtual.reach(6, () => busy?.isAway ?? false);
    const clock = db.time.clock(offMs);
    const session = await db.session(service, database, clock);
    const limits = new EngineLimits(
      { service, session },
      { limits: { tasks: limit, requests: 10 }, bounds: {}, makesTasks: true, leaseMs: 30_000 },
      { clock, random: seeded(workers) },
    );
    const worker = new Busy(limits, String(session.session));
    busy = worker;
    limits.onMore(() => worker.begin());
    worker.wants = Number.POSITIVE_INFINITY;
    return worker;
  }

  get away() {
    return this.#limits.away;
  }

  stop(): Promise<void> {
    return this.#limits.stop();
  }

  /** Tasks that it would have. Without any it holds no slice. */
  set wants(tasks: number) {
    this.#wants = tasks;
    this.taskSlots.noteSlices(tasks > 0 ? 1 : 0);
  }

  begin(): void {
    while (this.tasks < Math.min(this.#wants, this.taskSlots.granted)) {
      this.tasks += 1;
      this.taskSlots.note(this.tasks);
      db.time.at(db.time.now + 500 + 1000 * this.#random(), () => {
        this.tasks -= 1;
        this.taskSlots.note(this.tasks);
        this.begin();
      });
    }
  }
}

async function stop(all: readonly Busy[]): Promise<void> {
  for (const worker of all) worker.wants = 0;
  await Promise.all([db.time.pass(3000), ...all.map((worker) => worker.stop())]);
}

/** Watches them for so long. @returns the most tasks at once, and the part of the limit in use */
async function watch(all: readonly Busy[], limit: number, ms: number) {
  let most = 0;
  let sum = 0;
  for (let passed = 0; passed < ms; passed += 10) {
    await db.time.pass(10);
    const tasks = all.reduce((total, worker) => total + worker.tasks, 0);
    most = Math.max(most, tasks);
    sum += tasks;
  }
  return { most, used: sum / (ms / 10) / limit };
}

it.each([1, 2, 3, 4, 8])('%i workers use all task slots and never more', async (count) => {
  const limit = 40;
  const all = await Promise.all(
    Array.from({ length: count }, (_, i) => Busy.of(`all-${count}`, limit, i * 600_000)),
  );
  const start = await watch(all, limit, 4000);
  const { most, used } = await watch(all, limit, 6000);
  expect(Math.max(start.most, most)).toBeLessThanOrEqual(limit);
  expect(used).toBeGreaterThanOrEqual(0.97);
  const tasks = all.map((worker) => worker.tasks);
  expect(Math.max(...tasks) - Math.min(...tasks)).toBeLessThanOrEqual(2);
  await stop(all);
});

it('grants the slots that one worker does not need to the others', async () => {
  const [little, ...others] = await Promise.all([0, 1, 2].map(() => Busy.of('uneven', 40)));
  if (little === undefined) throw new Error('unreachable');
  little.wants = 2;
  await watch([little, ...others], 40, 8000);
  const { most, used } = await watch([little, ...others], 40, 4000);
  expect(most).toBeLessThanOrEqual(40);
  expect(used).toBeGreaterThanOrEqual(0.97);
  expect(little.tasks).toBe(2);
  await stop([little, ...others]);
});

it('leaves the slots to busy workers where others have nothing to do', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => Busy.of('idle', 20)));
  const [busy, other] = all;
  if (busy === undefined || other === undefined) throw new Error('unreachable');
  for (const worker of all) if (worker !== busy) worker.wants = 0;
  await watch(all, 20, 4000);
  const { most, used } = await watch(all, 20, 8000);
  expect(most).toBeLessThanOrEqual(20);
  expect(used).toBeGreaterThanOrEqual(0.99);
  // One that has work again is soon at work.
  other.wants = Number.POSITIVE_INFINITY;
  await watch(all, 20, 8000);
  expect(Math.abs(other.tasks - busy.tasks)).toBeLessThanOrEqual(2);
  await stop(all);
});

it('gives each worker its turn where there are more workers than slots', async () => {
  const first = await Promise.all(Array.from({ length: 3 }, () => Busy.of('scarce', 3)));
  await watch(first, 3, 2000);
  const all = [...first, ...(await Promise.all(Array.from({ length: 3 }, () => Busy.of('scarce', 3))))];
  const had = all.map(() => 0);
  let [most, sum] = [0, 0];
  for (let at = 0; at < 600; at += 1) {
    await db.time.pass(100);
    for (const [i, { tasks }] of all.entries()) had[i] = (had[i] ?? 0) + tasks;
    const tasks = all.reduce((total, worker) => total + worker.tasks, 0);
    most = Math.max(most, tasks);
    sum += tasks;
  }
  expect(most).toBeLessThanOrEqual(3);
  expect(Math.min(...had)).toBeGreaterThan(100);
  expect(sum / 600 / 3).toBeGreaterThan(0.8);
  await stop(all);
});

it('says how long a worker has had no slot', async () => {
  const busy = await Busy.of('lacking', 4);
  await db.time.pass(1000);
  const idle = await Busy.of('lacking', 4);
  idle.wants = 0;
  expect(idle.taskSlots.lackedMs).toBeUndefined();
  await db.time.pass(5000);
  expect(idle.taskSlots.lackedMs).toBeGreaterThan(4000);
  expect(idle.taskSlots.lackedMs).toBeLessThanOrEqual(5000);
  expect(busy.taskSlots.lackedMs).toBe(0);
  idle.wants = 1;
  await db.time.pass(3000);
  expect(idle.taskSlots.lackedMs).toBe(0);
  await stop([busy, idle]);
});

it('keeps a slot for an idle worker while no other worker needs it', async () => {
  const idle = await Busy.of('spare', 10);
  idle.wants = 0;
  await db.time.pass(1000);
  let had = 0;
  for (let at = 0; at < 60; at += 1) {
    await db.time.pass(100);
    had += Math.min(1, idle.taskSlots.granted);
  }
  expect(had).toBe(60);
  await stop([idle]);
});

/** Jobs of the first slice of a run, with this record. */
async function jobs(run: number, statuses: readonly string[], record = imagineRecord()): Promise<void> {
  const { doc } = storedForm(record);
  await db.query(
    `INSERT INTO promptpress.jobs (run, slice, rev, number, session, tokens, assumed, cost, possible, attempts, unanswered,
      open, trouble, root, status, key, code, slot, step, doc)
    SELECT $1, 1, 1, n, 1, 0, 0, 0, 0, 1, 0, true, false, true, status, $4 || n, '', '', '', $3
    FROM unnest($2::text[]) WITH ORDINALITY AS j(status, n)`,
    [run, statuses, doc, record.kind],
  );
}

it('frees all slots at once when a worker without tasks has left', async () => {
  const leaving = [await Busy.of('left', 10), await Busy.of('left', 10)] as const;
  const other = await Busy.of('left', 10);
  await watch([...leaving, other], 10, 3000);
  for (const [at, worker] of leaving.entries()) {
    worker.wants = 0;
    await db.hold(11 + at, 1, worker.name);
  }
  // One leaves a task that goes on without it, as after a second Ctrl-C.
  await jobs(11, ['pending', 'saving']);
  await jobs(12, ['pending', 'running']);
  await db.time.pass(2000);
  leaving[1].taskSlots.note(1);
  await Promise.all([...leaving.map((worker) => worker.stop()), db.time.pass(1000)]);
  await watch([other], 10, 15_000);
  expect(other.tasks).toBe(9);
  await stop([other]);
});

it('keeps the slots of a dead worker’s tasks until its slices are taken over, and no others', async () => {
  const dead = await Busy.of('dead', 10);
  const other = await Busy.of('dead', 10);
  await watch([dead, other], 10, 3000);
  await db.hold(1, 1, dead.name);
  // Two of its tasks are on the service; a third job waits for its files.
  await jobs(1, ['submitting', 'running', 'saving']);
  // Three texts are being written.
  await jobs(1, ['submitting', 'submitting', 'submitting'], textRecord());
  const left = dead.tasks;
  dead.isAway = true;
  await db.time.pass(8000);
  expect(dead.taskSlots.granted).toBe(0);
  expect(other.tasks).toBe(10 - left);
  await db.time.pass(22_000);
  expect(other.tasks).toBe(8);
  await db.query('UPDATE promptpress.slices SET holder = $1', [other.name]);
  await db.time.pass(3000);
  expect(other.tasks).toBe(10);
  await stop([dead, other]);
});

it('grants no slots while the database is unavailable, and grants them again afterwards', async () => {
  const worker = await Busy.of('away', 10);
  await db.time.pass(1000);
  expect(worker.taskSlots.granted).toBe(10);
  worker.isAway = true;
  await db.time.pass(7000);
  expect(worker.taskSlots.granted).toBe(0);
  expect(worker.away).toMatchObject({ message: 'the database is away' });
  worker.isAway = false;
  await db.time.pass(3000);
  expect(worker.away).toBeUndefined();
  expect(worker.tasks).toBe(10);
  await stop([worker]);
});

it('repeats a report without an answer: a refusal, tasks that began', async () => {
  const worker = await Busy.of('unheard', 10);
  worker.wants = 5;
  await db.time.pass(2000);
  worker.isAway = true;
  worker.taskSlots.noteFull();
  await db.time.pass(3000);
  expect(await accepted('unheard')).toBeUndefined();
  worker.isAway = false;
  await db.time.pass(2000);
  expect(await accepted('unheard')).toBe(5);
  await stop([worker]);
});

/** Tasks that a service was found to accept at once. */
async function accepted(service: string): Promise<number | undefined> {
  const [row] = await db.query<{ accepted: number }>(
    'SELECT accepted FROM promptpress.accepted_tasks WHERE service = $1',
    [service],
  );
  return row?.accepted;
}

it('narrows to what the service accepts once one worker is refused, and tries one more later', async () => {
  const all = [await Busy.of('full', 40), await Busy.of('full', 40)];
  await watch(all, 40, 3000);
  const [first] = all;
  for (const worker of all) worker.wants = 5;
  await db.time.pass(2000);
  first?.taskSlots.noteFull();
  await db.time.pass(200);
  for (const worker of all) worker.wants = Number.POSITIVE_INFINITY;
  const { most } = await watch(all, 40, 2000);
  expect(most).toBeLessThanOrEqual(20);
  expect(await accepted('full')).toBe(10);
  await db.time.pass(20_000);
  expect(await accepted('full')).toBeGreaterThan(10);
  await stop(all);
});

it('knows the service’s limit although another run has fewer slots, until no run allows more', async () => {
  const large = await Busy.of('less', 40);
  large.wants = 5;
  await db.time.pass(2000);
  large.taskSlots.noteFull();
  await db.time.pass(1000);
  const small = await Busy.of('less', 3);
  await db.time.pass(3000);
  expect(await accepted('less')).toBe(5);
  await stop([large]);
  await db.time.pass(30_000);
  expect(await accepted('less')).toBeUndefined();
  await stop([small]);
});

it('keeps a share while another worker’s share rises at the same time, and raises it with a later heartbeat', async () => {
  const [worker, other] = [await Busy.of('refused', 10), await Busy.of('refused', 10)];
  await watch([worker, other], 10, 3000);
  expect(worker.tasks).toBe(5);
  const rising = new Client({ connectionString: db.url });
  await rising.connect();
  try {
    await rising.query("SELECT pg_advisory_lock(hashtextextended('refused', 7))");
    other.wants = 0;
    await db.time.pass(5000);
    expect([other.tasks, worker.tasks, worker.away]).toEqual([0, 5, undefined]);
    await rising.query('SELECT pg_advisory_unlock_all()');
  } finally {
    await rising.end();
  }
  await db.time.pass(2000);
  expect(worker.tasks).toBe(10);
  await stop([worker, other]);
});

it('ignores a heartbeat that arrives late', async () => {
  const { name } = await Busy.of('another', 1);
  const [row] = await db.query<{ token: string }>(
    'SELECT token FROM promptpress.sessions WHERE session = $1',
    [name],
  );
  const ask = (asked: number, holds: number): Promise<{ shares: { tasks: { granted: number } } }[]> =>
    db.query('SELECT shares FROM promptpress.share($1, $2, $3, $4, $5, NULL)', [
      name,
      row?.token,
      'late',
      asked,
      JSON.stringify({
        tasks: {
          limit: 10,
          holds,
          used: 0,
          want: 10,
          unit: 1,
          window: 0,
          refused: 0,
          counted: true,
          began: 0,
        },
      }),
    ]);
  await ask(1001, 0);
  expect((await ask(1003, 10))[0]?.shares.tasks.granted).toBe(10);
  expect(await ask(1002, 0)).toEqual([]);
  expect((await ask(1004, 10))[0]?.shares.tasks.granted).toBe(10);
});

it('leaves all slots to others when it ends, including those they did not ask for', async () => {
  const first = await Busy.of('ended', 1);
  await db.time.pass(3000);
  first.wants = 0;
  await db.time.pass(3000);
  await Promise.all([first.stop(), db.time.pass(100)]);
  const next = await Busy.of('ended', 1);
  await db.time.pass(1500);
  expect(next.tasks).toBe(1);
  await stop([next]);
});
