import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt, JobStatus } from '../../../src/plan/job.ts';
import type { RunEvent } from '../../../src/run/events.ts';
import type { Send } from '../../../src/run/machine/job.ts';
import { type Effect, isPaid, Outbox, routeOf } from '../../../src/run/scheduler/commit.ts';
import { epoch, imagineRecord, job } from '../../rig/jobs.ts';

const record = (key: string, status: JobStatus = 'pending') => imagineRecord({ key, status });
const attempt = (outcome: string): Attempt => ({ key: 'a', at: epoch, outcome });
const effect = (key: string): Effect => ({ job: job(record(key)), send: { kind: 'submit' } });
const opened = (cell: number): RunEvent => ({ type: 'cell:open', cell });

describe('the decisions of a commit', () => {
  it('are all those since the last one, in their order, of each job the last record', () => {
    const outbox = new Outbox();
    outbox.write(record('a'));
    outbox.write(record('b'));
    outbox.write(record('a', 'submitting'));
    for (const outcome of ['one', 'two']) outbox.attempt(attempt(outcome));
    for (const key of ['a', 'b']) outbox.send(effect(key));
    for (const cell of [1, 2]) outbox.emit(opened(cell));
    expect(outbox.take()).toEqual({
      records: [record('a', 'submitting'), record('b')],
      attempts: [attempt('one'), attempt('two')],
      effects: [effect('a'), effect('b')],
      events: [opened(1), opened(2)],
    });
    outbox.onDurable();
    expect(outbox.take()).toEqual({ records: [], attempts: [], effects: [], events: [] });
  });

  it.each([
    ['a record', (outbox: Outbox) => outbox.write(record('a'))],
    ['a history entry', (outbox: Outbox) => outbox.attempt(attempt('one'))],
    ['a request', (outbox: Outbox) => outbox.send(effect('a'))],
    ['an event', (outbox: Outbox) => outbox.emit(opened(1))],
    [
      'a fact of a slice that was lost',
      (outbox: Outbox) => outbox.hear({ key: 'a', submittedAt: epoch, submittedBy: '1/1' }),
    ],
  ])('are there as soon as there is %s, and the run is not over before they are durable', (_, decide) => {
    const outbox = new Outbox();
    expect([outbox.hasDecided, outbox.isEmpty]).toEqual([false, true]);
    decide(outbox);
    expect([outbox.hasDecided, outbox.isEmpty]).toEqual([true, false]);
    outbox.take();
    expect([outbox.hasDecided, outbox.isEmpty]).toEqual([false, false]);
    outbox.onDurable();
    expect([outbox.hasDecided, outbox.isEmpty]).toEqual([false, true]);
  });

  it('are taken one commit at a time', () => {
    const outbox = new Outbox();
    outbox.take();
    expect(() => outbox.take()).toThrow('Internal error');
    outbox.onDurable();
    expect(outbox.take().records).toEqual([]);
  });
});

const redoOf = (epoch: number) => (epoch % 2 === 0 ? 'begun' : 'made');

describe('the lease for which a job was decided, and how far its order is', () => {
  it('are the later ones, where an earlier commit is put back before it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(1)), { maxLength: 12 }),
        (writes) => {
          const outbox = new Outbox();
          const last = new Map<string, number>();
          let epochs = 0;
          for (const [key, isRequeued] of writes) {
            epochs += 1;
            const taken = isRequeued === 1 ? outbox.take() : undefined;
            outbox.write(record(key), { slice: 1, epoch: epochs });
            outbox.noteRedo(key, redoOf(epochs));
            last.set(key, epochs);
            if (taken !== undefined) outbox.requeue(taken);
          }
          const { holds = new Map(), redos = new Map(), records } = outbox.take();
          expect(new Map([...holds].map(([key, hold]) => [key, hold.epoch]))).toEqual(last);
          expect(redos).toEqual(new Map([...last].map(([key, epoch]) => [key, redoOf(epoch)])));
          expect(records.map(({ key }) => key).sort()).toEqual([...last.keys()].sort());
        },
      ),
    );
  });
});

describe('the latest record of a job', () => {
  it('is the one that was decided last, also while an earlier one is made durable', () => {
    const outbox = new Outbox();
    expect(outbox.record('a')).toBeUndefined();
    outbox.write(record('a'));
    expect(outbox.record('a')?.status).toBe('pending');
    outbox.take();
    expect(outbox.record('a')?.status).toBe('pending');
    outbox.write(record('a', 'submitting'));
    expect(outbox.record('a')?.status).toBe('submitting');
    outbox.onDurable();
    expect(outbox.record('a')?.status).toBe('submitting');
    outbox.take();
    outbox.onDurable();
    // From now on the store shows it.
    expect(outbox.record('a')).toBeUndefined();
  });
});

describe('a commit that could not be made durable', () => {
  it('comes before the decisions made since, but for records of jobs that changed since', () => {
    const outbox = new Outbox();
    for (const key of ['a', 'b']) outbox.write(record(key));
    outbox.attempt(attempt('one'));
    outbox.send(effect('a'));
    outbox.emit(opened(1));
    const failed = outbox.take();
    outbox.write(record('b', 'failed'));
    outbox.write(record('c'));
    outbox.attempt(attempt('two'));
    outbox.send(effect('c'));
    outbox.emit(opened(2));
    outbox.requeue(failed);
    expect(outbox.take()).toEqual({
      records: [record('a'), record('b', 'failed'), record('c')],
      attempts: [attempt('one'), attempt('two')],
      effects: [effect('a'), effect('c')],
      events: [opened(1), opened(2)],
    });
  });

  it('is part of the next commit, and the run is not over before', () => {
    const outbox = new Outbox();
    outbox.write(record('a'));
    outbox.requeue(outbox.take());
    expect([outbox.hasDecided, outbox.isEmpty, outbox.record('a')]).toEqual([true, false, record('a')]);
    expect(outbox.take().records).toEqual([record('a')]);
  });
});

describe('the event of a new status', () => {
  const eventOf = (changes: Parameters<typeof imagineRecord>[0]) => {
    const outbox = new Outbox();
    outbox.emitStatus(record('a', 'running'), imagineRecord({ key: 'a', status: 'done', ...changes }));
    return outbox.take().events[0];
  };
  const origin = { cell: 3, step: 'grid', branch: 'U1', slot: 's' };
  const plain = {
    type: 'job:status',
    key: 'a',
    step: 'grid',
    branch: 'U1',
    cell: 3,
    from: 'running',
    to: 'done',
  };

  it('says where the job stands in the plan, and nothing that is not known', () => {
    expect(eventOf({ origin })).toStrictEqual(plain);
  });

  it('says the task, the error, the cost and the tokens of the job', () => {
    const known = { taskId: 'T1', error: { code: 'x', message: 'm' }, cost: 0, usage: { total: 5 } };
    expect(eventOf({ origin, ...known })).toStrictEqual({ ...plain, ...known });
  });

  it('says no cost that is only a part', () => {
    expect(eventOf({ origin, cost: 2, partlyPriced: true })).toStrictEqual(plain);
  });

  it('has no former status for a job that is new', () => {
    const outbox = new Outbox();
    outbox.emitStatus(undefined, record('a'));
    expect(outbox.take().events).toMatchObject([{ from: undefined, to: 'pending' }]);
  });
});

describe('a kind of request', () => {
  it('has the route whose rate and breaker it counts against', () => {
    expect(routeOf).toEqual({
      submit: 'submit',
      modal: 'submit',
      fetch: 'poll',
      list: 'poll',
      search: 'poll',
      save: 'download',
      mask: 'download',
      ask: 'text',
    });
  });

  it('is paid where it may make a task or an answer: its intent is durable before it leaves', () => {
    const sends: readonly Send[] = [
      { kind: 'submit' },
      { kind: 'modal' },
      { kind: 'ask' },
      { kind: 'mask' },
      { kind: 'search' },
      { kind: 'fetch', taskId: 'T', why: 'poll' },
      { kind: 'list', targets: [] },
      { kind: 'save', source: { isText: true }, output: 1 },
    ];
    expect(sends.filter((send) => isPaid({ send })).map(({ kind }) => kind)).toEqual([
      'submit',
      'modal',
      'ask',
    ]);
  });
});
