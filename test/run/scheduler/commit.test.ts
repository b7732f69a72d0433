import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt, JobStatus } from '../../../src/plan/job.ts';
import type { RunEvent } from '../../../src/run/events.ts';
import type { Send } from '../../../src/run/machine/job.ts';
import { unmatchedCode } from '../../../src/run/machine/retry/fail-reason.ts';
import type { Lease } from '../../../src/run/ports.ts';
import {
  type Effect,
  isPaid,
  isSameLease,
  Outbox,
  type RunCommit,
  routeOf,
  withoutOthers,
} from '../../../src/run/scheduler/commit.ts';
import { epoch, imagineRecord, job } from '../../rig/jobs.ts';

const record = (key: string, status: JobStatus = 'pending') => imagineRecord({ key, status });
const attempt = (outcome: string): Attempt => ({ key: 'a', at: epoch, outcome });
const effect = (key: string): Effect => ({ job: job(record(key)), send: { kind: 'submit' } });
const opened = (cell: number): RunEvent => ({ type: 'cell:open', cell });

describe('the decisions of a commit', () => {
  it('are all those since the last one, in order, with only the last record of each job', () => {
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
      (outbox: Outbox) => outbox.addLateFact({ key: 'a', submittedAt: epoch, submittedBy: '1/1' }),
    ],
  ])('are there as soon as there is %s, and the run does not end before they are durable', (_, decide) => {
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

describe('the lease of a decided job, and the progress of its redo order', () => {
  it('are the later ones, where an earlier commit is requeued before them', () => {
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
          const { leases = new Map(), redos = new Map(), records } = outbox.take();
          expect(new Map([...leases].map(([key, lease]) => [key, lease.epoch]))).toEqual(last);
          expect(redos).toEqual(new Map([...last].map(([key, epoch]) => [key, redoOf(epoch)])));
          expect(records.map(({ key }) => key).sort()).toEqual([...last.keys()].sort());
        },
      ),
    );
  });
});

/** Decides something about a job for a slice: all that a commit can hold of it. */
function decide(outbox: Outbox, key: string, lease: Lease): void {
  outbox.write(record(key), lease);
  outbox.attempt({ key, at: epoch, outcome: 'one' });
  outbox.send({ job: { ...job(record(key)), lease }, send: { kind: 'submit' } });
  outbox.emitStatus(undefined, record(key));
  outbox.noteRedo(key, 'begun');
}

/** The keys of all that a commit holds of jobs, by what it is. */
const keysIn = ({ records, attempts, effects, events, leases, redos }: RunCommit) => ({
  records: records.map(({ key }) => key),
  attempts: attempts.map(({ key }) => key),
  effects: effects.map(({ job: { record } }) => record.key),
  events: events.flatMap((event) => ('key' in event ? [event.key] : [])),
  leases: [...(leases ?? new Map()).keys()],
  redos: [...(redos ?? new Map()).keys()],
});

const all = (keys: readonly string[]) => ({
  records: keys,
  attempts: keys,
  effects: keys,
  events: keys,
  leases: keys,
  redos: keys,
});

const anyHold = fc.record({ slice: fc.integer({ min: 1, max: 2 }), epoch: fc.integer({ min: 1, max: 2 }) });
/** Jobs, each decided for some slice. */
const anyDecided = fc
  .array(anyHold, { minLength: 1, maxLength: 4 })
  .map((leases) => leases.map((lease, at) => ({ key: `k${at}`, lease })));

describe('the part that others hold', () => {
  it('leaves no decision for a lost slice about a job in the next commit, and everything of other jobs', () => {
    fc.assert(
      fc.property(anyDecided, anyHold, fc.boolean(), (decided, lost, isRequeued) => {
        const outbox = new Outbox();
        for (const { key, lease } of decided) decide(outbox, key, lease);
        if (isRequeued) outbox.requeue(outbox.take());
        expect(new Set(outbox.keysOf(lost))).toEqual(
          new Set(decided.flatMap(({ key, lease }) => (isSameLease(lease, lost) ? [key] : []))),
        );
        const forgotten = decided.flatMap(({ key }) => outbox.forget(key, lost));
        const left = decided.flatMap(({ key, lease }) => (isSameLease(lease, lost) ? [] : [key]));
        expect(forgotten.map(({ job: { record } }) => record.key)).toEqual(
          decided.flatMap(({ key, lease }) => (isSameLease(lease, lost) ? [key] : [])),
        );
        expect(keysIn(outbox.take())).toEqual(all(left));
      }),
    );
  });

  it('is not in a durable commit, which has all the rest', () => {
    fc.assert(
      fc.property(anyDecided, fc.array(anyHold, { maxLength: 2 }), fc.nat(), (decided, lost, chosen) => {
        const outbox = new Outbox();
        for (const { key, lease } of decided) decide(outbox, key, lease);
        const refused = new Set(decided.flatMap(({ key }, at) => ((chosen >> at) & 1 ? [key] : [])));
        const mine = withoutOthers(outbox.take(), { refused, lost });
        const left = decided.flatMap(({ key, lease }) =>
          refused.has(key) || lost.some((one) => isSameLease(lease, one)) ? [] : [key],
        );
        expect({ ...keysIn(mine), leases: left }).toEqual(all(left));
      }),
    );
  });

  it('is known for a request that is to be sent, even if its job is decided for a later lease', () => {
    const outbox = new Outbox();
    const [earlier, later] = [
      { slice: 1, epoch: 1 },
      { slice: 1, epoch: 2 },
    ];
    decide(outbox, 'a', earlier);
    const taken = outbox.take();
    outbox.write(record('a'), later);
    outbox.requeue(taken);
    expect([outbox.keysOf(earlier), outbox.keysOf(later)]).toEqual([['a'], ['a']]);
    expect(outbox.forget('a', earlier)).toHaveLength(1);
    expect(keysIn(outbox.take())).toMatchObject({ records: ['a'], effects: [], leases: ['a'] });
  });
});

describe('the latest record of a job', () => {
  it('is the one that was decided last, even while an earlier one is made durable', () => {
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
  it('comes before the decisions made since, except for records of jobs that changed since', () => {
    const outbox = new Outbox();
    for (const key of ['a', 'b']) outbox.write(record(key));
    outbox.attempt(attempt('one'));
    outbox.send(effect('a'));
    outbox.emit(opened(1));
    outbox.addLateFact({ key: 'x', submittedAt: epoch, submittedBy: '1/1' });
    const failed = outbox.take();
    outbox.write(record('b', 'failed'));
    outbox.write(record('c'));
    outbox.attempt(attempt('two'));
    outbox.send(effect('c'));
    outbox.emit(opened(2));
    outbox.addLateFact({ key: 'y', submittedAt: epoch, submittedBy: '1/1' });
    outbox.requeue(failed);
    expect(outbox.take()).toEqual({
      records: [record('a'), record('b', 'failed'), record('c')],
      attempts: [attempt('one'), attempt('two')],
      effects: [effect('a'), effect('c')],
      events: [opened(1), opened(2)],
      lateFacts: ['x', 'y'].map((key) => ({ key, submittedAt: epoch, submittedBy: '1/1' })),
    });
  });

  it('is part of the next commit, and the run does not end before', () => {
    const outbox = new Outbox();
    outbox.write(record('a'));
    outbox.requeue(outbox.take());
    expect([outbox.hasDecided, outbox.isEmpty, outbox.record('a')]).toEqual([true, false, record('a')]);
    expect(outbox.take().records).toEqual([record('a')]);
  });
});

describe('a commit on its way to the state', () => {
  const one: Lease = { slice: 1, epoch: 1 };

  it('shows nothing of a job that was forgotten meanwhile, and its redo order as before', () => {
    const outbox = new Outbox();
    for (const key of ['a', 'b']) {
      outbox.write(record(key), one);
      outbox.noteRedo(key, 'begun');
    }
    outbox.take();
    const shown = (key: string) => [outbox.record(key)?.key, outbox.leaseOf(key), outbox.redo(key)];
    expect(shown('a')).toEqual(['a', one, 'begun']);
    outbox.forget('a', { slice: 1, epoch: 2 });
    expect(shown('a')).toEqual(['a', one, 'begun']);
    outbox.forget('a', one);
    expect([shown('a'), shown('b')]).toEqual([
      [undefined, undefined, undefined],
      ['b', one, 'begun'],
    ]);
    outbox.onDurable();
    expect(shown('b')).toEqual([undefined, undefined, undefined]);
  });

  it('keeps the reads of tasks past their deadlines, whoever holds their jobs: nothing durable depends on them', () => {
    const overdue: Effect = { job: job(record('a')), send: { kind: 'fetch', taskId: 'T', why: 'overdue' } };
    const poll: Effect = { job: job(record('a')), send: { kind: 'fetch', taskId: 'T', why: 'poll' } };
    const outbox = new Outbox();
    for (const sent of [overdue, poll]) outbox.send(sent);
    expect(withoutOthers(outbox.take(), { refused: new Set(['a']), lost: [] }).effects).toEqual([overdue]);
  });

  it('gives a closed slice back only where another slice was lost, or a refused record had ended its job', () => {
    const howAfter = (status: JobStatus, lost: readonly Lease[] = []) => {
      const outbox = new Outbox();
      outbox.write(record('a', status), { slice: 2, epoch: 1 });
      outbox.emit({ type: 'slice:end', ...one, how: 'closed' });
      const [event] = withoutOthers(outbox.take(), { refused: new Set(['a']), lost }).events;
      return event?.type === 'slice:end' && event.how;
    };
    expect([
      howAfter('submitting'),
      howAfter('done'),
      howAfter('submitting', [{ slice: 3, epoch: 1 }]),
    ]).toEqual(['closed', 'waits', 'waits']);
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

  it('has the place of the job in the plan, and nothing unknown', () => {
    expect(eventOf({ origin })).toStrictEqual(plain);
  });

  it('has the task, the error, the cost and the tokens of the job', () => {
    const known = {
      taskId: 'T1',
      error: { code: 'service.rejected' as const, message: 'm' },
      cost: 0,
      usage: { total: 5 },
    };
    expect(eventOf({ origin, ...known })).toStrictEqual({ ...plain, ...known });
  });

  it('has no cost that is only a part', () => {
    expect(eventOf({ origin, cost: 2, partlyPriced: true })).toStrictEqual(plain);
  });

  it('says that a job timed out whose task was never matched, once it is submitted again and not before', () => {
    const before = imagineRecord({
      key: 'a',
      status: 'pending',
      error: { code: unmatchedCode, message: 'm' },
    });
    const isTimedOut = (status: JobStatus) => {
      const outbox = new Outbox();
      outbox.emitStatus(before, record('a', status));
      return outbox.take().events.some((event) => 'timedOut' in event);
    };
    expect((['pending', 'submitting', 'in-doubt', 'failed'] as const).map(isTimedOut)).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('has no former status for a job that is new', () => {
    const outbox = new Outbox();
    outbox.emitStatus(undefined, record('a'));
    expect(outbox.take().events).toMatchObject([{ from: undefined, to: 'pending' }]);
  });
});

describe('a kind of request', () => {
  it('has the route whose rate and pauses apply to it', () => {
    expect(routeOf).toEqual({
      submit: 'submit',
      modal: 'submit',
      fetch: 'poll',
      list: 'poll',
      search: 'poll',
      seed: 'poll',
      save: 'download',
      mask: 'download',
      ask: 'text',
    });
  });

  it('is paid where it may make a task or an answer: its intent is durable before it is sent', () => {
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
