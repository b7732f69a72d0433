import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bounds, openAllowance, RunAllowance } from '../../../src/engine/limits/run-allowance.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import { type LimitsDatabase, limitsDatabase, seeded } from '../../rig/engine/limits-database.ts';
import { imagineRecord } from '../../rig/jobs.ts';

let db: LimitsDatabase;
beforeAll(async () => {
  db = await limitsDatabase();
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const open = (run: number, bounds: Bounds): Promise<void> =>
  openAllowance({ query: async (text, values) => ({ rows: await db.query(text, values) }) }, run, bounds);

let workers = 0;

/** A worker that submits whenever it may: the intent is committed with what it uses, and the submission answered a while later. */
class Spender {
  readonly allowance: RunAllowance;
  readonly name: string;
  spent = 0;
  end: string | undefined;
  isDead = false;
  readonly #run: number;
  readonly #random: () => number;
  readonly #price: number;

  constructor(run: number, bounds: Bounds, price = 0) {
    workers += 1;
    this.name = String(workers);
    this.#run = run;
    this.#random = seeded(workers);
    this.#price = price;
    this.allowance = new RunAllowance(
      { run, worker: this.name, bounds },
      { price: () => price, tokens: () => 0 },
      { database: db.virtual.reach(6, () => this.isDead), clock: db.time.clock(workers * 60_000) },
      () => undefined,
    );
    this.#turn();
  }

  #turn(): void {
    if (this.isDead || this.end !== undefined) return;
    const record: JobRecord = imagineRecord({ status: 'pending', attempts: 0 });
    const refusal = this.allowance.refusal(record);
    if (typeof refusal === 'object') this.end = refusal.code;
    if (refusal !== undefined) return void db.time.at(db.time.now + 20, () => this.#turn());
    const intent: JobRecord = { ...record, status: 'submitting', attempts: 1 };
    this.allowance.note(record, intent);
    const used = this.allowance.charge(record, intent);
    void this.#submit(intent, [this.#run, this.name, used.submits, used.cost, used.tokens]);
  }

  async #submit(intent: JobRecord, used: unknown[]): Promise<void> {
    await db.time.hold(() => db.virtual.send('SELECT promptpress.purse_spend($1, $2, $3, $4, $5)', used));
    this.spent += 1;
    // A task that is accepted costs what was reserved.
    this.allowance.note(intent, { ...intent, status: 'running', cost: this.#price });
    db.time.at(db.time.now + 1 + 8 * this.#random(), () => this.#turn());
  }
}

const sum = (all: readonly Spender[]): number => all.reduce((total, { spent }) => total + spent, 0);

it.each([1, 2, 4, 8])('%i workers spend a budget exactly, and end only then', async (count) => {
  const bounds = { submits: 1000 };
  const run = 100 + count;
  await open(run, bounds);
  const all = Array.from({ length: count }, () => new Spender(run, bounds));
  for (let i = 0; i < 400 && all.some(({ end }) => end === undefined); i += 1) {
    await db.time.pass(100);
    expect(sum(all)).toBeLessThanOrEqual(1000);
  }
  expect(sum(all)).toBe(1000);
  expect(all.map(({ end }) => end)).toEqual(all.map(() => 'budget.submits'));
  await Promise.all([db.time.pass(1000), ...all.map(({ allowance }) => allowance.stop())]);
});

it('spends what dead workers had not used, once their slices are taken over', async () => {
  const bounds = { submits: 2000 };
  await open(7, bounds);
  const all = Array.from({ length: 4 }, () => new Spender(7, bounds));
  const [first, second] = all;
  if (first === undefined || second === undefined) throw new Error('unreachable');
  await db.time.pass(300);
  await db.hold(7, 1, first.name);
  await db.hold(7, 2, second.name);
  first.isDead = true;
  second.isDead = true;
  await db.time.pass(40_000);
  expect(sum(all)).toBeLessThan(2000);
  expect(all.slice(2).map(({ end }) => end)).toEqual([undefined, undefined]);
  await db.query('UPDATE promptpress.slices SET holder = $1 WHERE run = 7', [all[3]?.name]);
  await db.time.pass(20_000);
  expect(sum(all)).toBe(2000);
  expect(all.slice(2).map(({ end }) => end)).toEqual(['budget.submits', 'budget.submits']);
  await Promise.all([db.time.pass(1000), ...all.map(({ allowance }) => allowance.stop())]);
});

it('holds to a cost, of which no worker strands a part that is too little for it alone', async () => {
  const bounds = { cost: 10 };
  await open(8, bounds);
  const all = Array.from({ length: 3 }, () => new Spender(8, bounds, 0.07));
  await db.time.pass(20_000);
  expect(sum(all)).toBe(Math.floor(10 / 0.07));
  expect(all.map(({ end }) => end)).toEqual(all.map(() => 'budget.cost'));
  await Promise.all([db.time.pass(1000), ...all.map(({ allowance }) => allowance.stop())]);
});

it('counts --max-submits from the beginning of an invocation, and the budget over all of them', async () => {
  const bounds = { submits: 15, invocation: 10 };
  const ends: (string | undefined)[] = [];
  let spent = 0;
  for (let invocation = 0; invocation < 2; invocation += 1) {
    await open(9, bounds);
    const worker = new Spender(9, bounds);
    await db.time.pass(5000);
    ends.push(worker.end);
    spent += worker.spent;
    await Promise.all([db.time.pass(1000), worker.allowance.stop()]);
  }
  expect(ends).toEqual(['budget.max-submits', 'budget.submits']);
  expect(spent).toBe(15);
});

it('lets nobody submit while the database is away', async () => {
  const bounds = { submits: 1_000_000 };
  await open(10, bounds);
  const worker = new Spender(10, bounds);
  await db.time.pass(500);
  worker.isDead = true;
  await db.time.pass(9000);
  expect(worker.allowance.refusal(imagineRecord({ status: 'pending' }))).toBe('wait');
  await db.time.pass(1000);
  expect(worker.allowance.away?.error).toMatchObject({ message: 'the database is away' });
  worker.isDead = false;
  await db.time.pass(1000);
  // What it had it gave back, as it was idle.
  expect(worker.allowance.refusal(imagineRecord({ status: 'pending' }))).toBe('wait');
  await db.time.pass(200);
  expect(worker.allowance.refusal(imagineRecord({ status: 'pending' }))).toBeUndefined();
  await Promise.all([db.time.pass(1000), worker.allowance.stop()]);
});
