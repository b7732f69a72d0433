import { describe, expect, it } from 'vitest';
import { CommitWriter, diskEnd } from '../../src/run/commit-writer.ts';
import type { RunCommit } from '../../src/run/scheduler/commit.ts';
import type { Turn } from '../../src/state/store.ts';
import { StateError, UnkeptReplies } from '../../src/state/store.ts';
import { epoch, imagineRecord, job } from '../rig/jobs.ts';

const record = imagineRecord();
const attempt = { key: 'aa11', at: epoch, outcome: 'accepted' };
const effects: RunCommit['effects'] = [
  { job: job(record), send: { kind: 'submit' } },
  { job: job(record), send: { kind: 'fetch', taskId: 'T', why: 'poll' } },
  { job: job(record), send: { kind: 'ask' } },
];
const commit = (changes: Partial<RunCommit> = {}): RunCommit => ({
  records: [],
  attempts: [],
  effects: [],
  events: [{ type: 'cell:open', cell: 1 }],
  ...changes,
});
const full = new StateError('state.full', 'no space');

/** A store that notes what it does, and fails at one of its steps; late: by promises. */
function writerOf({
  fails,
  isLate = false,
  sent,
}: {
  fails?: 'commit' | 'count';
  isLate?: boolean;
  sent?: string;
} = {}) {
  const steps: unknown[] = [];
  const done = (name: 'commit' | 'count', step: unknown): void | Promise<void> => {
    steps.push(step);
    if (fails === name) {
      if (isLate) return Promise.reject(full);
      throw full;
    }
    return isLate ? Promise.resolve() : undefined;
  };
  const store = {
    commit: (turn: Turn) => done('commit', turn),
    countSubmissions: () => done('count', 'counted'),
  };
  return {
    steps,
    writer: new CommitWriter(
      store,
      { invocation: 7, ...(sent !== undefined && { sent }) },
      (records) => steps.push(records),
      () => undefined,
    ),
  };
}

describe.each([false, true])('a commit to a store (late: %s)', (isLate) => {
  it('makes its records and attempts durable first, then its submissions are counted', async () => {
    const { steps, writer } = writerOf({ isLate });
    const whole = commit({ records: [record], attempts: [attempt], effects });
    expect(await writer.write(whole)).toBeUndefined();
    expect(steps).toEqual([
      { records: [record], attempts: [attempt], submits: 2, invocation: 7 },
      [record],
      'counted',
    ]);
  });

  it('saves the latest sends with each submission, and with no other commit', async () => {
    const { steps, writer } = writerOf({ isLate, sent: 'when' });
    for (const some of [effects, effects.slice(1, 2)])
      await writer.write(commit({ attempts: [attempt], effects: some }));
    const turns = steps.filter((step) => typeof step === 'object' && step !== null && 'submits' in step);
    expect(turns.map((turn) => (turn as Turn).sent)).toEqual(['when', undefined]);
  });

  it('counts nothing where nothing is paid', async () => {
    const { steps, writer } = writerOf({ isLate });
    const free = commit({ attempts: [attempt], effects: effects.slice(1, 2) });
    expect(await writer.write(free)).toBeUndefined();
    expect(steps).toEqual([{ records: [], attempts: [attempt], submits: 0, invocation: 7 }, []]);
  });

  it('is left whole where the store fails, and nothing of it is counted', async () => {
    const { steps, writer } = writerOf({ isLate, fails: 'commit' });
    const whole = commit({ records: [record], attempts: [attempt], effects });
    expect(await writer.write(whole)).toEqual({ error: full, left: whole });
    expect(steps).toHaveLength(1);
  });

  it('is left without its durable part where the count fails: nothing of it was sent', async () => {
    const { writer } = writerOf({ isLate, fails: 'count' });
    const whole = commit({ records: [record], attempts: [attempt], effects });
    expect(await writer.write(whole)).toEqual({
      error: full,
      left: { ...whole, records: [], attempts: [] },
    });
  });

  it.each([
    ['records', { records: [record] }],
    ['attempts', { attempts: [attempt] }],
    ['submissions', { effects: effects.slice(0, 1) }],
  ])('is written where it has only %s', async (_, changes) => {
    const { steps, writer } = writerOf({ isLate });
    await writer.write(commit(changes));
    expect(steps.length).toBeGreaterThan(0);
  });
});

it('a commit whose replies alone were not written is durable, and fails', () => {
  const unkept = new UnkeptReplies(full);
  const durable: unknown[] = [];
  const store = {
    commit: () => {
      throw unkept;
    },
    countSubmissions: () => undefined,
  };
  const writer = new CommitWriter(
    store,
    { invocation: 7 },
    (records) => durable.push(records),
    () => undefined,
  );
  const whole = commit({ records: [record], attempts: [attempt] });
  expect(writer.write(whole)).toEqual({ error: unkept, left: { ...whole, records: [], attempts: [] } });
  expect(durable).toEqual([[record]]);
});

describe('a commit', () => {
  it('is not written where it contains nothing durable', () => {
    const { steps, writer } = writerOf();
    expect(writer.write(commit({ effects: effects.slice(1, 2) }))).toBeUndefined();
    expect(steps).toEqual([]);
  });

  it('is written synchronously where the store is synchronous', () => {
    const { steps, writer } = writerOf();
    expect(writer.write(commit({ records: [record], effects }))).toBeUndefined();
    expect(steps).toHaveLength(3);
  });
});

it('a failure of the state ends a run like a disk failure, and any other one is a bug', () => {
  expect(diskEnd(full)).toEqual({ kind: 'disk', code: 'state.full', message: 'no space' });
  const bug = new Error('Internal error: x');
  expect(() => diskEnd(bug)).toThrow(bug);
});
