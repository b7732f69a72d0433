import { expect, it } from 'vitest';
import type { Database } from '../../../src/engine/limits/inquiry.ts';
import { RunAllowance } from '../../../src/engine/limits/run-allowance.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';
import { imagineRecord } from '../../rig/jobs.ts';

/** A budget of 100 submissions, which answers after `tookMs`. */
class Budget implements Database {
  readonly time = new VirtualTime();
  tookMs = 10;
  /** What other workers have and have not used. */
  elsewhere = 0;
  #given = 0;

  query(_text: string, values: unknown[]): Promise<{ readonly rows: unknown[] }> {
    const [ask] = JSON.parse(String(values[2])) as [{ readonly holds: number; readonly need: number }];
    this.#given = Math.min(this.#given, ask.holds);
    if (ask.need > 0) this.#given += Math.min(ask.need, 100 - this.elsewhere - this.#given);
    const row = {
      kind: 'submits',
      given: this.#given,
      unclaimed: 100 - this.elsewhere - this.#given,
      elsewhere: this.elsewhere,
      is_new: false,
    };
    return new Promise((resolve) => {
      this.time.at(this.time.now + this.tookMs, () => resolve({ rows: [row] }));
    });
  }
}

/** A worker that wants to submit one job, and asks whether it may as a run does: when it begins, and when it is told that there is more. */
class Waiting {
  readonly #allowance: RunAllowance;
  isRefused = true;

  constructor(database: Budget) {
    this.#allowance = new RunAllowance(
      { run: 1, worker: '1', bounds: { submits: 100 } },
      { database, clock: database.time.clock() },
      () => this.ask(),
    );
    this.ask();
  }

  ask(): void {
    const record = imagineRecord({ status: 'pending', attempts: 0 });
    this.isRefused = this.#allowance.refusal(record, { tokens: 0 }) === 'wait';
  }
}

it('gives a worker that waits what others give back, however late', async () => {
  const database = new Budget();
  database.elsewhere = 100;
  const worker = new Waiting(database);
  await database.time.pass(60_000);
  expect(worker.isRefused).toBe(true);
  database.elsewhere = 90;
  await database.time.pass(1000);
  expect(worker.isRefused).toBe(false);
});

it('tells a worker that was refused for want of an answer in time once there is one', async () => {
  const database = new Budget();
  const worker = new Waiting(database);
  await database.time.pass(100);
  expect(worker.isRefused).toBe(false);
  // What was given counts for five seconds.
  database.tookMs = 7000;
  await database.time.pass(6500);
  worker.ask();
  expect(worker.isRefused).toBe(true);
  database.tookMs = 10;
  await database.time.pass(12_000);
  expect(worker.isRefused).toBe(false);
});
