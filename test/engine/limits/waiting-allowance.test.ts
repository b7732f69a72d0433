import { expect, it } from 'vitest';
import { RunAllowance } from '../../../src/engine/limits/run-allowance.ts';
import { VirtualTime } from '../../rig/engine/virtual-time.ts';
import { imagineRecord } from '../../rig/jobs.ts';

/** A worker that wants to submit one job of a budget of 100: it asks whether it may when it begins, and when it is told that there is more. */
class Waiting {
  readonly time = new VirtualTime();
  /** For so long a heartbeat has no answer, ms. */
  tookMs = 10;
  /** What other workers have and have not used. */
  elsewhere = 0;
  isRefused = true;
  asked = 0;
  readonly allowance = new RunAllowance({ submits: 100 }, this.time.clock(), () => undefined);
  #given = 0;

  constructor() {
    this.ask();
    this.#beat();
  }

  ask(): void {
    const record = imagineRecord({ status: 'pending', attempts: 0 });
    this.isRefused = this.allowance.refusal(record, { tokens: 0 }) === 'wait';
  }

  #beat(): void {
    const at = this.time.now;
    const needs = this.allowance.ask()?.['submits'];
    if (needs !== undefined) this.asked += 1;
    this.time.at(at + this.tookMs, () => {
      const { elsewhere } = this;
      const kept = Math.min(this.#given, needs?.holds ?? 100);
      this.#given = kept + Math.min(needs?.need ?? 0, 100 - elsewhere - kept);
      const grant = { given: this.#given, unclaimed: 100 - elsewhere - this.#given, elsewhere };
      if (this.allowance.onAnswer(at, needs === undefined ? null : { submits: grant })) this.ask();
      this.time.at(at + 1000, () => this.#beat());
    });
  }
}

it('grants a waiting worker what others give back, however late', async () => {
  const worker = new Waiting();
  worker.elsewhere = 100;
  await worker.time.pass(60_000);
  expect(worker.isRefused).toBe(true);
  worker.elsewhere = 90;
  await worker.time.pass(1100);
  expect(worker.isRefused).toBe(false);
});

it('notifies a worker, refused for lack of an answer, as soon as there is one', async () => {
  const worker = new Waiting();
  await worker.time.pass(100);
  expect(worker.isRefused).toBe(false);
  // What was given counts for five seconds.
  worker.tookMs = 7000;
  await worker.time.pass(6500);
  worker.ask();
  expect(worker.isRefused).toBe(true);
  worker.tookMs = 10;
  await worker.time.pass(12_000);
  expect(worker.isRefused).toBe(false);
});

it('asks only when it needs something, or has something to give back', async () => {
  const worker = new Waiting();
  await worker.time.pass(10_000);
  const { asked } = worker;
  await worker.time.pass(60_000);
  expect([asked, worker.asked - asked]).toEqual([2, 0]);
});

it('does not use a five seconds old grant, whatever is answered since', async () => {
  const time = new VirtualTime();
  const allowance = new RunAllowance({ submits: 100 }, time.clock(), () => undefined);
  const refused = () => allowance.refusal(imagineRecord({ status: 'pending', attempts: 0 }), { tokens: 0 });
  expect(refused()).toBe('wait');
  allowance.ask();
  allowance.onAnswer(time.now, { submits: { given: 10, unclaimed: 90, elsewhere: 0 } });
  expect(refused()).toBeUndefined();
  await time.pass(4900);
  const left = time.now;
  await time.pass(200);
  expect(allowance.onAnswer(left, null)).toBe(false);
  expect(refused()).toBe('wait');
});

it('reserves the same amount for its own request when it takes the slice again', () => {
  const allowance = new RunAllowance({ cost: 10 }, new VirtualTime().clock(), () => undefined);
  const sent = imagineRecord({ status: 'submitting', attempts: 1 });
  allowance.note(imagineRecord({ status: 'pending', attempts: 0 }), sent, { cost: 2, tokens: 0 });
  allowance.takeOver(sent, { cost: 2, tokens: 0 });
  expect(allowance.chargeOf(sent)).toEqual({ cost: 2, tokens: 0 });
  // Of a request that another worker has begun, what the database has counted.
  const taken = { ...sent, key: 'another' };
  allowance.takeOver(taken, { cost: 3, tokens: 7 });
  expect(allowance.chargeOf(taken)).toEqual({ cost: 3, tokens: 7 });
  // Nor is the cost of an earlier submission reserved once more.
  const again = { ...sent, key: 'again', cost: 2 };
  allowance.takeOver(again, { cost: 5, tokens: 0 });
  expect(allowance.chargeOf(again)).toEqual({ cost: 5, tokens: 0 });
});
