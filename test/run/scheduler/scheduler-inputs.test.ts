import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { CallResult } from '../../../src/run/machine/job.ts';
import { isPaid, type RunCommit } from '../../../src/run/scheduler/commit.ts';
import { Scheduler } from '../../../src/run/scheduler/scheduler.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { failure } from '../../rig/failure.ts';
import { epoch, imagineRecord } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { captions, eventsOf, optionsOf, paidKeys } from './scheduler-rig.ts';

const minute = 60_000;
const interrupted = { kind: 'interrupted', forced: false } as const;
const unavailable = failure('service.unavailable', 'retry', { status: 503 });
const throttled = (retryAfterMs?: number): ServiceFailure =>
  failure('service.throttled', 'throttle', { status: 429, ...(retryAfterMs && { retryAfterMs }) });

/** A scheduler that was given its cells at the beginning of the run, and what it decided then. */
async function started(...given: Parameters<typeof optionsOf>) {
  const { options, cells } = await optionsOf(...given);
  const scheduler = new Scheduler(options);
  scheduler.handle({ type: 'cells', cells, last: true }, epoch);
  return { scheduler, cells, commit: durable(scheduler) };
}

function durable(scheduler: Scheduler): RunCommit {
  const commit = scheduler.takeCommit();
  scheduler.onDurable();
  return commit;
}

const keysOf = ({ effects }: RunCommit, kind: string): readonly string[] =>
  effects.filter(({ send }) => send.kind === kind).map(({ job }) => job.record.key);

/** The service answers the submission, or the poll, of a job at a moment. */
function respond(scheduler: Scheduler, key: string, at: number, error?: ServiceFailure): RunCommit {
  const value = { kind: 'accepted', code: 1, taskId: `T-${key}` } as const;
  scheduler.handle(
    {
      type: 'submitted',
      key,
      result: error === undefined ? { ok: true, value } : { ok: false, error },
    },
    at,
  );
  return durable(scheduler);
}

describe('a run whose result store is unavailable', () => {
  const away = (why?: string) => ({ type: 'away', why }) as const;

  it('begins no task meanwhile, reports it once, and continues afterwards', async () => {
    const { scheduler, commit } = await started(grid(8), { limits: { tasks: 2, requests: 4 } });
    const [key = ''] = paidKeys(commit);
    scheduler.handle(away('It is away.'), epoch + 1);
    const notices = eventsOf(durable(scheduler), 'run:notice');
    expect(notices).toMatchObject([{ code: 'results.away', message: 'It is away.' }]);
    const unavailableNow = respond(scheduler, key, epoch + 2, failure('task.failed', 'permanent'));
    expect(paidKeys(unavailableNow)).toEqual([]);
    scheduler.handle({ type: 'tick' }, epoch + minute);
    expect([paidKeys(durable(scheduler)), scheduler.ended]).toEqual([[], undefined]);
    scheduler.handle(away(), epoch + 2 * minute);
    expect(paidKeys(durable(scheduler))).toHaveLength(1);
  });

  it('makes no text call either', async () => {
    const { scheduler, commit } = await started(captions(8), { limits: { tasks: 1, requests: 4 } });
    const asked = { verdict: { kind: 'done' }, text: { candidates: [] }, artifacts: [] } as const;
    scheduler.handle(away('It is away.'), epoch + 1);
    for (const key of paidKeys(commit))
      scheduler.handle({ type: 'asked', key, result: { kind: 'answered', asked } }, epoch + 2);
    expect(paidKeys(durable(scheduler))).toEqual([]);
    scheduler.handle(away(), epoch + 3);
    expect(paidKeys(durable(scheduler)).length).toBeGreaterThan(0);
  });
});

it('saves what it saw of the service alone, and on several machines nothing: they save together', async () => {
  const others = { invocation: 2, leaseOf: () => undefined, read: () => Promise.resolve([]) };
  const saved = async (more: object) => {
    const { scheduler } = await started(captions(1), {}, undefined, more);
    return scheduler.learned.service !== undefined;
  };
  expect([await saved({}), await saved({ others })]).toEqual([true, false]);
});

describe('the next wake-up of a run', () => {
  it('is undefined without a job', async () => {
    const { scheduler } = await started(grid(1), {}, () => imagineRecord({ status: 'done' }));
    expect([scheduler.nextWakeAt(), scheduler.ended]).toEqual([undefined, { kind: 'complete' }]);
  });

  it('reports what a quiet run waits for, ten minutes after the last change', async () => {
    const { scheduler, commit } = await started(grid(1));
    expect(scheduler.nextWakeAt()).toBe(epoch + 10 * minute);
    scheduler.handle({ type: 'tick' }, epoch + 10 * minute);
    expect(eventsOf(durable(scheduler), 'run:waiting')).toHaveLength(1);
    expect(scheduler.nextWakeAt()).toBe(epoch + 20 * minute);
    expect(paidKeys(commit)).toHaveLength(1);
  });

  it('is the time of a waiting job', async () => {
    const { scheduler, commit } = await started(grid(1));
    const [key = ''] = paidKeys(commit);
    const [retry] = eventsOf(respond(scheduler, key, epoch + 1000, unavailable), 'job:retry');
    const dueAt = epoch + 1000 + (retry?.inMs ?? 0);
    expect(scheduler.nextWakeAt()).toBe(dueAt);
    scheduler.handle({ type: 'tick' }, dueAt - 1);
    expect(paidKeys(durable(scheduler))).toEqual([]);
    scheduler.handle({ type: 'tick' }, dueAt);
    // Its flight is judged for a second at most.
    const leavesAt = scheduler.nextWakeAt() ?? dueAt;
    expect(leavesAt).toBeLessThanOrEqual(Math.max(dueAt, epoch + 2000));
    scheduler.handle({ type: 'tick' }, leavesAt);
    expect(paidKeys(durable(scheduler))).toEqual([key]);
  });

  it('is the time when the next request of a paced route may be sent', async () => {
    const submit = { count: 1, perMs: 5000 };
    const { scheduler } = await started(grid(2), { limits: { tasks: 4, requests: 4, submit } });
    // The spacing has room for moments that are used 25 ms late.
    expect(scheduler.nextWakeAt()).toBeCloseTo(epoch + 5025, 0);
  });

  it('is the maximum duration of the run', async () => {
    const { scheduler } = await started(grid(2), {
      maxDurationMs: 7000,
      limits: { tasks: 1, requests: 1 },
    });
    expect(scheduler.nextWakeAt()).toBe(epoch + 7000);
    scheduler.handle({ type: 'tick' }, epoch + 6999);
    expect(eventsOf(durable(scheduler), 'run:stopping')).toEqual([]);
    scheduler.handle({ type: 'tick' }, epoch + 7000);
    expect(eventsOf(durable(scheduler), 'run:stopping')).toMatchObject([
      { end: { kind: 'budget', code: 'run.max-duration' }, tasks: 0, requests: 1 },
    ]);
    // Once it ends, only the task in flight is waited for.
    expect(scheduler.nextWakeAt()).toBe(epoch + 10 * minute);
  });

  it('is undefined once the run halts', async () => {
    const { scheduler } = await started(grid(1), { maxDurationMs: 7000 });
    scheduler.handle({ type: 'halt', end: interrupted, unsent: [] }, epoch);
    expect(scheduler.nextWakeAt()).toBeUndefined();
    durable(scheduler);
    scheduler.handle({ type: 'tick' }, epoch + 60 * minute);
    expect(scheduler.hasDecided).toBe(false);
  });
});

describe('a run that wakes long after it was due', () => {
  it.each([
    [59_999, []],
    [60_000, ['1 min']],
    [150_000, ['3 min']],
  ])('%i ms: has slept, from a minute on', async (late, said) => {
    const { scheduler } = await started(grid(1));
    scheduler.handle({ type: 'tick' }, epoch + 10 * minute + late);
    const notices = eventsOf(durable(scheduler), 'run:notice');
    expect(notices.map(({ code, message }) => [code, /\d+ min/.exec(message)?.[0]])).toEqual(
      said.map((words) => ['run.slept', words]),
    );
  });

  it('has not slept where nothing was due', async () => {
    const { scheduler } = await started(grid(1), {}, () => imagineRecord({ status: 'done' }));
    scheduler.handle({ type: 'tick' }, epoch + 60 * minute);
    expect(scheduler.hasDecided).toBe(false);
  });

  it('has not slept where the clock advanced by less than a minute between two inputs', async () => {
    const { scheduler } = await started(grid(1), { maxDurationMs: 1000 });
    scheduler.handle({ type: 'refilled' }, epoch + 50_000);
    scheduler.handle({ type: 'refilled' }, epoch + 100_000);
    expect(eventsOf(durable(scheduler), 'run:notice')).toEqual([]);
  });

  it('watches its tasks as if they were submitted when it woke', async () => {
    const { scheduler, commit } = await started(grid(1), { timeouts: { taskMs: 20 * minute } });
    const [key = ''] = paidKeys(commit);
    respond(scheduler, key, epoch);
    const value = { id: `T-${key}`, state: 'unfinished', status: 'IN_PROGRESS', buttons: [] } as const;
    const poll = (at: number): readonly JobRecord[] => {
      scheduler.handle({ type: 'tick' }, at);
      expect(keysOf(durable(scheduler), 'fetch')).toEqual([key]);
      scheduler.handle({ type: 'fetched', key, why: 'poll', result: { ok: true, value } }, at);
      return durable(scheduler).records;
    };
    const wokeAt = epoch + 480 * minute;
    let [at, records] = [wokeAt, poll(wokeAt)];
    while (records.length === 0) {
      at = scheduler.nextWakeAt() ?? Number.NaN;
      records = poll(at);
    }
    expect(records).toMatchObject([{ status: 'failed', error: { code: 'task.timeout' } }]);
    expect(at - wokeAt).toBeGreaterThanOrEqual(20 * minute);
    expect(at - wokeAt).toBeLessThan(21 * minute);
  });
});

describe('the end of a run', () => {
  it('comes once all is done and durable', async () => {
    const { options, cells } = await optionsOf(grid(1), {}, () => imagineRecord({ status: 'done' }));
    const scheduler = new Scheduler(options);
    scheduler.handle({ type: 'cells', cells, last: false }, epoch);
    durable(scheduler);
    // There may be more cells.
    expect([scheduler.ended, scheduler.wantsCells]).toEqual([undefined, true]);
    scheduler.handle({ type: 'cells', cells, last: true }, epoch);
    expect([scheduler.ended, scheduler.hasDecided, scheduler.wantsCells]).toEqual([undefined, true, false]);
    scheduler.takeCommit();
    expect([scheduler.ended, scheduler.hasDecided]).toEqual([undefined, false]);
    scheduler.onDurable();
    expect(scheduler.ended).toEqual({ kind: 'complete' });
  });

  it('waits for a commit that could not be made durable', async () => {
    const { options, cells } = await optionsOf(grid(1), {}, () => imagineRecord({ status: 'done' }));
    const scheduler = new Scheduler(options);
    scheduler.handle({ type: 'cells', cells, last: true }, epoch);
    const commit = scheduler.takeCommit();
    scheduler.requeue(commit);
    expect([scheduler.ended, scheduler.hasDecided]).toEqual([undefined, true]);
    expect(durable(scheduler)).toEqual(commit);
    expect(scheduler.ended).toEqual({ kind: 'complete' });
  });
});

describe('cells that arrive in groups', () => {
  it('are all opened in order, those of a group before those of the next one', async () => {
    const taskSlots = { granted: 1 };
    const { options, cells } = await optionsOf(grid(5), { limits: { tasks: 9, requests: 9 } }, undefined, {
      shared: { taskSlots },
    });
    const scheduler = new Scheduler(options);
    scheduler.handle({ type: 'cells', cells: cells.slice(0, 3), last: false }, epoch);
    scheduler.handle({ type: 'cells', cells: cells.slice(3), last: true }, epoch);
    taskSlots.granted = 9;
    scheduler.handle({ type: 'refilled' }, epoch);
    const commit = durable(scheduler);
    expect(eventsOf(commit, 'cell:open').map(({ cell }) => cell)).toEqual([1, 2, 3, 4, 5]);
    expect(paidKeys(commit)).toHaveLength(5);
  });
});

describe('the numbers that a run reports of itself', () => {
  it('include its number, submissions, tasks, requests, jobs and cells', async () => {
    const { scheduler, commit } = await started(grid(9), { limits: { tasks: 3, requests: 2 } });
    const [first = '', second = ''] = paidKeys(commit);
    expect(scheduler.invocation).toBe(2);
    expect([scheduler.submits, scheduler.tasks, scheduler.requests, scheduler.inMemory]).toEqual([
      2,
      3,
      2,
      { jobs: 3, cells: 3 },
    ]);
    respond(scheduler, first, epoch + 1);
    respond(scheduler, second, epoch + 2, failure('service.too-large', 'permanent', { status: 413 }));
    // The third job's turn has come, and a job of the next cell has a task slot.
    expect([scheduler.submits, scheduler.tasks, scheduler.requests]).toEqual([4, 3, 2]);
    expect(scheduler.inMemory).toEqual({ jobs: 3, cells: 3 });
    expect([scheduler.tokens, scheduler.redosFailed]).toEqual([0, 0]);
  });

  it('include the tokens of its replies', async () => {
    const { scheduler, commit } = await started(captions(1));
    const [key = ''] = paidKeys(commit);
    const usage = { prompt: 3, candidates: 4, total: 7 };
    const asked = { verdict: { kind: 'done' }, text: { candidates: [] }, artifacts: [], usage } as const;
    scheduler.handle({ type: 'asked', key, result: { kind: 'answered', asked } }, epoch + 1);
    expect([scheduler.tokens, scheduler.requests]).toEqual([7, 0]);
  });
});

describe('a result', () => {
  it('ends its request even if its job is no longer active', async () => {
    const { scheduler, commit } = await started(grid(1));
    const [key = ''] = paidKeys(commit);
    respond(scheduler, key, epoch);
    scheduler.handle({ type: 'tick' }, epoch + 20_000);
    expect([keysOf(durable(scheduler), 'fetch'), scheduler.requests]).toEqual([[key], 1]);
    const gone = failure('service.unavailable', 'retry');
    scheduler.handle(
      { type: 'fetched', key: 'gone', why: 'poll', result: { ok: false, error: gone } },
      epoch + 21_000,
    );
    expect([scheduler.requests, durable(scheduler).records]).toEqual([0, []]);
  });

  it('of a text call refused for overload is not an attempt where others are served, and slows the route down', async () => {
    const { scheduler, commit } = await started(captions(3), { limits: { tasks: 1, requests: 4 } });
    const [first = '', second = ''] = paidKeys(commit);
    const ask = (key: string, result: CallResult): RunCommit => {
      scheduler.handle({ type: 'asked', key, result }, epoch + 1000);
      return durable(scheduler);
    };
    const done = { verdict: { kind: 'done' }, text: { candidates: [] }, artifacts: [] } as const;
    ask(first, { kind: 'answered', asked: done });
    const shed = ask(second, { kind: 'refused', error: { ...unavailable, retryAfterMs: 9000 } });
    expect(shed.records).toMatchObject([{ key: second, status: 'pending', attempts: 0, tries: 0 }]);
    expect(eventsOf(shed, 'route:pause')).toMatchObject([{ route: 'text', untilMs: epoch + 10_000 }]);
  });

  it('that is refused for its pace slows the route down, and is not an attempt', async () => {
    const { scheduler, commit } = await started(grid(2), { limits: { tasks: 2, requests: 2 } });
    const [first = '', second = ''] = paidKeys(commit);
    respond(scheduler, first, epoch);
    const paused = respond(scheduler, second, epoch + 1, throttled(30_000));
    expect(eventsOf(paused, 'route:pause')).toMatchObject([{ route: 'submit', untilMs: epoch + 30_001 }]);
    expect(paused.records).toMatchObject([{ key: second, status: 'pending', attempts: 0 }]);
  });

  it('is limited to the patience of the run where the service asks for more time', async () => {
    const retry = {
      attempts: 6,
      baseMs: 1000,
      capMs: 60_000,
      resubmits: 2,
      ambiguous: 'retry',
      patienceMs: 2 * minute,
      invalid: 2,
      permanent: [],
      transient: [],
    } as const;
    const { scheduler, commit } = await started(grid(1), { retry });
    const [key = ''] = paidKeys(commit);
    const paused = respond(scheduler, key, epoch, throttled(30 * minute));
    expect(eventsOf(paused, 'route:pause')).toMatchObject([{ untilMs: epoch + 2 * minute }]);
    expect(scheduler.nextWakeAt()).toBe(epoch + 2 * minute);
  });
});

describe('a full queue of the service', () => {
  it('lets no submission be sent before one of the service’s tasks ends', async () => {
    const { scheduler, commit } = await started(grid(6), { limits: { tasks: 4, requests: 4 } });
    const [first = '', second = '', third = '', fourth = ''] = paidKeys(commit);
    respond(scheduler, first, epoch);
    respond(scheduler, second, epoch);
    const value = { kind: 'queue-full', code: 23, message: 'full' } as const;
    scheduler.handle({ type: 'submitted', key: third, result: { ok: true, value } }, epoch);
    scheduler.handle({ type: 'submitted', key: fourth, result: { ok: true, value } }, epoch);
    expect(paidKeys(durable(scheduler))).toEqual([]);
    let at = epoch;
    while (at < epoch + 120_000) {
      at = scheduler.nextWakeAt() ?? Number.NaN;
      scheduler.handle({ type: 'tick' }, at);
      const next = durable(scheduler);
      expect(paidKeys(next)).toEqual([]);
      for (const key of keysOf(next, 'fetch')) {
        const task = { id: `T-${key}`, state: 'unfinished', status: 'IN_PROGRESS', buttons: [] } as const;
        scheduler.handle({ type: 'fetched', key, why: 'poll', result: { ok: true, value: task } }, at);
      }
    }
    const failed = { id: `T-${first}`, state: 'failure', status: 'FAILURE', buttons: [] } as const;
    scheduler.handle({ type: 'fetched', key: first, why: 'poll', result: { ok: true, value: failed } }, at);
    scheduler.handle({ type: 'tick' }, at + 60_000);
    expect(paidKeys(durable(scheduler))).toHaveLength(1);
  });
});

describe('a halt', () => {
  const stopped = { kind: 'stopped', code: 'service.unauthorized', message: '401' } as const;

  it('reverts paid requests that were never sent, and waits for those that were', async () => {
    const { options, cells } = await optionsOf(grid(3), { limits: { tasks: 3, requests: 3 } });
    const scheduler = new Scheduler(options);
    scheduler.handle({ type: 'cells', cells, last: true }, epoch);
    const { effects } = scheduler.takeCommit();
    scheduler.onDurable();
    const [left, ...unsent] = effects.filter(isPaid);
    scheduler.handle({ type: 'halt', end: stopped, unsent }, epoch + 1);
    expect([scheduler.requests, scheduler.submits]).toEqual([1, 1]);
    expect(durable(scheduler).records.map(({ key, status, attempts }) => [key, status, attempts])).toEqual(
      unsent.map(({ job }) => [job.record.key, 'pending', 0]),
    );
    expect(scheduler.ended).toBeUndefined();
    respond(scheduler, left?.job.record.key ?? '', epoch + 2);
    expect(scheduler.ended).toEqual(stopped);
  });

  it('leaves unsent polls and downloads unchanged: they cost nothing', async () => {
    const running = (key: string): JobRecord =>
      imagineRecord({ key, status: 'running', attempts: 1, taskId: 'T1', submittedAt: epoch - 1 });
    const { options } = await optionsOf(grid(1), { poll: { minMs: 1000, maxMs: 15_000 } });
    const scheduler = new Scheduler(options);
    scheduler.handle({ type: 'adopt', records: [running('k')] }, epoch);
    const { effects } = durable(scheduler);
    expect(effects.map(({ send }) => send.kind)).toEqual(['fetch']);
    scheduler.handle({ type: 'halt', end: stopped, unsent: effects }, epoch);
    expect(durable(scheduler).records).toEqual([]);
  });
});
