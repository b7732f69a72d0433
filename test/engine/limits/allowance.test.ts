import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import {
  type Bounds,
  type Charge,
  openAllowance,
  type RunAllowance,
} from '../../../src/engine/limits/run-allowance.ts';
import { EngineLimits } from '../../../src/engine/limits/shared-limits.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { openPool } from '../../../src/engine/postgres/pool.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Reserve } from '../../../src/run/ports.ts';
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
  readonly limits: EngineLimits;
  readonly name: string;
  spent = 0;
  end: string | undefined;
  #jobs = 0;
  readonly #run: number;
  readonly #random = seeded(workers);
  readonly #reserve: Reserve;
  readonly #tokens: () => number;
  readonly #isDead: { is: boolean };
  /** Of answered calls. */
  tokens = 0;

  private constructor(
    run: number,
    limits: EngineLimits,
    name: string,
    isDead: { is: boolean },
    price: number,
    { reserved = 0, taken = (): number => 0 },
  ) {
    this.#run = run;
    this.limits = limits;
    this.name = name;
    this.#isDead = isDead;
    this.#reserve = { cost: price, tokens: reserved };
    this.#tokens = taken;
    this.#turn();
  }

  static async of(run: number, bounds: Bounds, price = 0, calls = {}): Promise<Spender> {
    workers += 1;
    const isDead = { is: false };
    const clock = db.time.clock(workers * 60_000);
    const session = await db.session(
      'spender',
      db.virtual.reach(6, () => isDead.is),
      clock,
      run,
    );
    const limits = new EngineLimits(
      { service: `of ${run}`, session },
      { limits: { tasks: 1, requests: 1 }, bounds, makesTasks: false, leaseMs: 30_000 },
      { clock, random: seeded(workers) },
    );
    return new Spender(run, limits, String(session.session), isDead, price, calls);
  }

  get allowance(): RunAllowance {
    return this.limits.allowance;
  }

  get isDead(): boolean {
    return this.#isDead.is;
  }

  set isDead(is: boolean) {
    this.#isDead.is = is;
  }

  #turn(): void {
    if (this.isDead || this.end !== undefined) return;
    this.#jobs += 1;
    const record: JobRecord = imagineRecord({
      key: `${this.name}-${this.#jobs}`,
      status: 'pending',
      attempts: 0,
    });
    const refusal = this.allowance.refusal(record, this.#reserve);
    if (typeof refusal === 'object') this.end = refusal.code;
    if (refusal !== undefined) return void db.time.at(db.time.now + 20, () => this.#turn());
    const intent: JobRecord = { ...record, status: 'submitting', attempts: 1 };
    this.allowance.note(record, intent, this.#reserve);
    void this.#submit(intent);
  }

  /** Counts, as the commit of a record does, what it has used more than the one before. */
  async #commit(before: Charge, after: JobRecord, submits: number): Promise<Charge> {
    const now = this.allowance.chargeOf(after);
    const used = [this.#run, this.name, submits, now.cost - before.cost, now.tokens - before.tokens];
    await db.time.hold(() => db.virtual.send('SELECT promptpress.purse_spend($1, $2, $3, $4, $5)', used));
    return now;
  }

  async #submit(intent: JobRecord): Promise<void> {
    const charged = await this.#commit({ cost: 0, tokens: 0 }, intent, 1);
    this.spent += 1;
    const { cost = 0 } = this.#reserve;
    const total = this.#tokens();
    if (total === 0) {
      // A task that is accepted costs what was reserved.
      this.allowance.note(intent, { ...intent, status: 'running', cost });
      db.time.at(db.time.now + 1 + 8 * this.#random(), () => this.#turn());
      return;
    }
    // The next call is made while this one is under way.
    db.time.at(db.time.now + 1 + 8 * this.#random(), () => this.#turn());
    db.time.at(db.time.now + 50, () => {
      this.tokens += total;
      const done: JobRecord = { ...intent, status: 'done', cost, usage: { total } };
      this.allowance.note(intent, done);
      void this.#commit(charged, done, 0);
    });
  }
}

const sum = (all: readonly Spender[]): number => all.reduce((total, { spent }) => total + spent, 0);

it.each([1, 4])('%i workers spend a budget exactly, and end only then', async (count) => {
  const bounds = { submits: 240 };
  const run = 100 + count;
  await open(run, bounds);
  const all = await Promise.all(Array.from({ length: count }, () => Spender.of(run, bounds)));
  for (let i = 0; i < 400 && all.some(({ end }) => end === undefined); i += 1) {
    await db.time.pass(100);
    expect(sum(all)).toBeLessThanOrEqual(240);
  }
  expect(sum(all)).toBe(240);
  expect(all.map(({ end }) => end)).toEqual(all.map(() => 'budget.submits'));
  await Promise.all([db.time.pass(1000), ...all.map(({ limits }) => limits.stop())]);
});

it('grants the unused part of dead workers to others once their slices are taken over', async () => {
  const bounds = { submits: 400 };
  await open(7, bounds);
  const all = await Promise.all(Array.from({ length: 4 }, () => Spender.of(7, bounds)));
  const [first, second] = all;
  if (first === undefined || second === undefined) throw new Error('unreachable');
  await db.time.pass(300);
  await db.hold(7, 1, first.name);
  await db.hold(7, 2, second.name);
  first.isDead = true;
  second.isDead = true;
  await db.time.pass(40_000);
  expect(sum(all)).toBeLessThan(400);
  expect(all.slice(2).map(({ end }) => end)).toEqual([undefined, undefined]);
  await db.query('UPDATE promptpress.slices SET holder = $1 WHERE run = 7', [all[3]?.name]);
  await db.time.pass(20_000);
  expect(sum(all)).toBe(400);
  expect(all.slice(2).map(({ end }) => end)).toEqual(['budget.submits', 'budget.submits']);
  await Promise.all([db.time.pass(1000), ...all.map(({ limits }) => limits.stop())]);
});

it('keeps a cost limit, and no worker keeps a part that is too small for its next request', async () => {
  const bounds = { cost: 10 };
  await open(8, bounds);
  const all = await Promise.all(Array.from({ length: 3 }, () => Spender.of(8, bounds, 0.07)));
  await db.time.pass(20_000);
  expect(sum(all)).toBe(Math.floor(10 / 0.07));
  expect(all.map(({ end }) => end)).toEqual(all.map(() => 'budget.cost'));
  await Promise.all([db.time.pass(1000), ...all.map(({ limits }) => limits.stop())]);
});

it('keeps a token limit with many calls in flight: each reserves its largest use', async () => {
  const bounds = { tokens: 8000 };
  await open(11, bounds);
  const taken = (): number => 60 + (all.length % 2) * 20;
  const all: Spender[] = [];
  for (let i = 0; i < 3; i += 1) all.push(await Spender.of(11, bounds, 0, { reserved: 100, taken }));
  const tokens = (): number => all.reduce((total, worker) => total + worker.tokens, 0);
  await db.time.pass(20_000);
  expect(all.map(({ end }) => end)).toEqual(all.map(() => 'budget.tokens'));
  expect(tokens()).toBeLessThanOrEqual(8000);
  expect(tokens()).toBeGreaterThan(8000 - 3 * 100);
  await Promise.all([db.time.pass(1000), ...all.map(({ limits }) => limits.stop())]);
});

it('refuses a job without a price under a budget of money', async () => {
  await open(12, { cost: 10 });
  const worker = await Spender.of(12, { cost: 10 });
  const refusal = worker.allowance.refusal(imagineRecord({ status: 'pending' }), { tokens: 0 });
  expect(refusal).toMatchObject({ code: 'budget.unpriced' });
  await Promise.all([db.time.pass(1000), worker.limits.stop()]);
});

it('grants no amount twice that another worker spends at the same time', async () => {
  await open(12, { submits: 5000 });
  const [, spender] = await db.query<{ session: string }>(
    `INSERT INTO promptpress.sessions (name, run, given) VALUES ('asker', 12, '{}'), ('spender', 12, '{"submits":5000}') RETURNING session`,
  );
  const pool = await openPool(parseEngineAddress(db.url), { clock: wallClock, connections: 2 });
  const spend = pool.query(`DO $$ BEGIN
    FOR n IN 1..300 LOOP PERFORM promptpress.purse_spend(12, '${spender?.session}', 1, 0, 0); COMMIT; END LOOP;
  END $$`);
  const [given] = await Promise.all([
    db.query(`SELECT max((promptpress.purse_ask(12, s.session, '{}', '{"submits":{"holds":0,"need":1}}') -> 'submits' ->> 'given')::integer)
      FROM promptpress.sessions s, generate_series(1, 300) WHERE s.name = 'asker'`),
    spend,
  ]);
  await pool.close();
  expect(given).toEqual([{ max: 0 }]);
});

it('leaves a worker that was silent no more of its part than others were not granted meanwhile', async () => {
  await open(21, { submits: 10 });
  await db.query(`INSERT INTO promptpress.sessions (name, run, seen, given) VALUES
    ('silent', 21, clock_timestamp() - interval '11 s', '{"submits":6}'), ('other', 21, clock_timestamp(), '{"submits":8}')`);
  const given = await db.query(
    `SELECT (promptpress.purse_ask(21, session, given, '{"submits":{"holds":6,"need":1}}') -> 'submits' ->> 'given')::integer AS given
     FROM promptpress.sessions WHERE run = 21 AND name = 'silent'`,
  );
  expect(given).toEqual([{ given: 2 }]);
});

it('waits for the locks of other heartbeats only to be given more, or after a silence', async () => {
  await open(13, { submits: 10 });
  const sessions = await db.query<{ session: string; token: string }>(
    `INSERT INTO promptpress.sessions (name, run, seen, given)
     SELECT 'worker', 13, clock_timestamp() - silent * interval '6 s', '{"submits":4}' FROM generate_series(0, 1) AS silent
     RETURNING session, token`,
  );
  const [rising, client] = [0, 1].map(() => new Client({ connectionString: db.url })) as [Client, Client];
  await Promise.all([rising.connect(), client.connect()]);
  await client.query("SET lock_timeout = '100ms'");
  let asked = 0;
  const ask = (worker: number, need: number): Promise<unknown> => {
    asked += 1;
    const { session, token } = sessions[worker] ?? {};
    const needs = { submits: { holds: 1, need } };
    return client
      .query('SELECT spending FROM promptpress.share($1, $2, $3, $4, $5, $6)', [
        session,
        token,
        'of 13',
        asked,
        { text: { limit: 5, holds: 0, used: 0, want: 5, unit: 1, window: 1000 } },
        needs,
      ])
      .then(
        ({ rows }) => rows[0].spending.submits.given,
        ({ code }) => code,
      );
  };
  try {
    await rising.query("SELECT pg_advisory_lock(hashtextextended('of 13', 7))");
    expect(await ask(0, 1)).toBe(2);
    await rising.query('SELECT pg_advisory_lock(7, 13)');
    expect([await ask(0, 0), await ask(0, 1), await ask(1, 0)]).toEqual([1, '55P03', '55P03']);
  } finally {
    await Promise.all([rising.end(), client.end()]);
  }
});

it('counts --max-submits from the start of an invocation, and the budget over all of them', async () => {
  const bounds = { submits: 15, invocation: 10 };
  const ends: (string | undefined)[] = [];
  let spent = 0;
  for (let invocation = 0; invocation < 2; invocation += 1) {
    await open(9, bounds);
    const worker = await Spender.of(9, bounds);
    await db.time.pass(5000);
    ends.push(worker.end);
    spent += worker.spent;
    await Promise.all([db.time.pass(1000), worker.limits.stop()]);
  }
  expect(ends).toEqual(['budget.max-submits', 'budget.submits']);
  expect(spent).toBe(15);
});

const pending = imagineRecord({ status: 'pending' });
const free: Reserve = { cost: 0, tokens: 0 };

it('lets no worker submit while the database is unavailable', async () => {
  const bounds = { submits: 1_000_000 };
  await open(10, bounds);
  const worker = await Spender.of(10, bounds);
  await db.time.pass(500);
  worker.isDead = true;
  await db.time.pass(6000);
  expect(worker.allowance.refusal(pending, free)).toBe('wait');
  await db.time.pass(1000);
  expect(worker.limits.away).toMatchObject({ message: 'the database is away' });
  worker.isDead = false;
  await db.time.pass(1000);
  expect(worker.allowance.refusal(pending, free)).toBeUndefined();
  await Promise.all([db.time.pass(1000), worker.limits.stop()]);
});
