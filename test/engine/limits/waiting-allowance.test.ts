import { describe, expect, it } from 'vitest';
import { RunAllowance } from '../../../src/engine/limits/run-allowance.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
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

describe('what a worker is told of a budget', () => {
  const record = (changes: Partial<JobRecord> = {}): JobRecord =>
    imagineRecord({ status: 'pending', attempts: 0, ...changes });

  /** An allowance of ten, its clock, and what becomes of a request of this cost. */
  function ofTen() {
    const time = new VirtualTime();
    const allowance = new RunAllowance({ cost: 10 }, time.clock(), () => undefined);
    const refusal = (cost: number, changes: Partial<JobRecord> = {}) => {
      const refused = allowance.refusal(record(changes), { cost, tokens: 0 });
      return typeof refused === 'object' ? refused.code : refused;
    };
    const needs = () => allowance.ask()?.['cost']?.need;
    const grant = (given: number, unclaimed = 0, elsewhere = 0, at = time.now) =>
      allowance.onAnswer(at, { cost: { given, unclaimed, elsewhere } });
    const spend = (cost: number) =>
      allowance.note(record(), record({ status: 'submitting', attempts: 1 }), { cost, tokens: 0 });
    return { time, allowance, refusal, needs, grant, spend };
  }

  it.each([
    [0, 0, 'budget.cost'],
    [0.9, 0, 'budget.cost'],
    [0, 0.9, 'budget.cost'],
    [0.5, 0.5, 'wait'],
    [0, 1, 'wait'],
    [3, 0, 'wait'],
  ])(
    'ends it only where what nobody has (%d) and what others may give back (%d) are too little',
    (unclaimed, elsewhere, end) => {
      const { refusal, needs, grant } = ofTen();
      expect([refusal(1), needs()]).toEqual(['wait', 1]);
      grant(0, unclaimed, elsewhere);
      expect(refusal(1)).toBe(end);
    },
  );

  it('ends it by no older answer: not for more than was asked, and not while a question is under way', () => {
    const { refusal, needs, grant, spend } = ofTen();
    refusal(1);
    needs();
    grant(1, 2);
    spend(1);
    expect([refusal(5), needs(), refusal(5)]).toEqual(['wait', 5, 'wait']);
    grant(1, 2);
    expect(refusal(5)).toBe('budget.cost');
  });

  it('counts from when the worker asked', async () => {
    const { time, refusal, needs, grant } = ofTen();
    refusal(1);
    needs();
    const asked = time.now;
    await time.pass(3000);
    grant(10, 0, 0, asked);
    await time.pass(2000);
    expect(refusal(1)).toBeUndefined();
    await time.pass(1);
    expect(refusal(1)).toBe('wait');
  });

  it('is asked for what the largest waiting request needs, also where that came while a question was under way', () => {
    const { refusal, needs, grant } = ofTen();
    refusal(5);
    refusal(1);
    expect(needs()).toBe(5);
    refusal(7);
    grant(5, 5);
    expect(needs()).toBe(7);
  });

  it('is asked again after a silence, and no more once the worker leaves', async () => {
    const { time, allowance, refusal, needs, grant, spend } = ofTen();
    refusal(1);
    needs();
    grant(4, 6);
    spend(1);
    expect(needs()).toBeUndefined();
    await time.pass(5001);
    expect(allowance.ask()).toEqual({ cost: { holds: 4, need: 0 } });
    grant(4, 6);
    refusal(9);
    allowance.leave();
    expect(allowance.ask()).toEqual({ cost: { holds: 1, need: 0 } });
  });

  it('allows the last request of a budget in spite of rounding', () => {
    const { refusal, needs, grant, spend } = ofTen();
    refusal(0.4);
    needs();
    grant(0.4);
    spend(0.1);
    spend(0.2);
    expect(refusal(0.1)).toBeUndefined();
  });

  it('concerns no request that takes nothing of it, and each confirm of a modal but the first', () => {
    const { refusal } = ofTen();
    const modal = (sent: number) => ({ modal: { taskId: 'T', sent } }) as const;
    expect([refusal(0), refusal(1, modal(0)), refusal(1, modal(1))]).toEqual([undefined, undefined, 'wait']);
  });

  it('counts all that a job has cost or may have cost, and its reserve only while its request is in flight', () => {
    const { allowance } = ofTen();
    const sent = record({
      status: 'submitting',
      attempts: 1,
      cost: 1,
      usage: { total: 10 },
      doubtful: { count: 1, cost: 2, tokens: 20 },
      assumed: { answers: 1, cost: 4, tokens: 40 },
    });
    allowance.note(record(), sent, { cost: 8, tokens: 80 });
    expect(allowance.chargeOf(sent)).toEqual({ cost: 15, tokens: 150 });
    allowance.note(sent, { ...sent, status: 'pending' });
    expect(allowance.chargeOf({ ...sent, status: 'pending' })).toEqual({ cost: 7, tokens: 70 });
    // Another worker has sent the job since.
    allowance.takeOver(sent, { cost: 10, tokens: 70 });
    expect(allowance.chargeOf(sent)).toEqual({ cost: 10, tokens: 70 });
  });
});
