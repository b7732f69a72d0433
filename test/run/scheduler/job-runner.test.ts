import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Job } from '../../../src/run/machine/job.ts';
import type { RunSettings } from '../../../src/run/ports.ts';
import { admitCells } from '../../../src/run/scheduler/cell-admission.ts';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { jobContext } from '../../../src/run/scheduler/job-context.ts';
import { advance } from '../../../src/run/scheduler/job-runner.ts';
import { adoptJob, placeJob } from '../../../src/run/scheduler/place-job.ts';
import { failure } from '../../rig/failure.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { eventsOf, jobOf, paidKeys, schedulerRig, settleJob } from './scheduler-rig.ts';

/** A run whose only submission is under way. */
async function submitting(settings: Parameters<typeof schedulerRig>[1] = {}) {
  const { state, keyOf } = await schedulerRig(grid(1), settings);
  admitCells(state);
  dispatch(state);
  state.outbox.take();
  state.outbox.onDurable();
  state.routes.onResult('submit', state.now, keyOf(1));
  return { state, key: keyOf(1) };
}

const accepted = { ok: true, value: { kind: 'accepted', code: 1, taskId: 'T1' } } as const;

describe('advance', () => {
  it('records how an event changed a job, with its history', async () => {
    const { state, key } = await submitting();
    advance(state, jobOf(state, key), { type: 'submitted', result: accepted });
    const { records, attempts, events } = state.outbox.take();
    expect(records).toMatchObject([{ key, status: 'running', taskId: 'T1' }]);
    expect(attempts).toMatchObject([{ key, taskId: 'T1' }]);
    expect(events).toMatchObject([{ type: 'job:status', from: 'submitting', to: 'running', taskId: 'T1' }]);
  });

  it('puts a waiting job into the delayed queue, and reports when it continues', async () => {
    const { state, key } = await submitting();
    const error = failure('service.unavailable', 'retry', { status: 503 });
    advance(state, jobOf(state, key), { type: 'submitted', result: { ok: false, error } });
    const [retry] = eventsOf(state.outbox.take(), 'job:retry');
    expect(retry).toMatchObject({ key, error: { code: 'service.unavailable' } });
    expect(state.jobs.delayed.nextAt()).toBe(epoch + (retry?.inMs ?? 0));
    // Others are tried first.
    expect(state.jobs.tasksInFlight).toBe(0);
  });

  it('removes a settled job from the active jobs, and closes its cell', async () => {
    const { state, key } = await submitting();
    const error = failure('service.too-large', 'permanent', { status: 413 });
    advance(state, jobOf(state, key), { type: 'submitted', result: { ok: false, error } });
    expect([state.jobs.size, state.jobs.tasksInFlight, state.cells.open.size]).toEqual([0, 0, 0]);
    expect(eventsOf(state.outbox.take(), 'cell:close')).toHaveLength(1);
  });

  it('ends the run at the first failure with --fail-fast', async () => {
    const { state, key } = await submitting({ failFast: true });
    const error = failure('service.rejected', 'permanent', { status: 400 });
    advance(state, jobOf(state, key), { type: 'submitted', result: { ok: false, error } });
    expect(state.lifecycle.isEnding).toBe(true);
    expect(eventsOf(state.outbox.take(), 'run:stopping')).toMatchObject([{ end: { kind: 'fail-fast' } }]);
  });

  it('counts the cost of a submission against the budget once it is accepted', async () => {
    const { state, keyOf } = await schedulerRig(
      grid(2),
      { budget: { cost: 1 }, limits: { tasks: 1, requests: 1 } },
      () => undefined,
      { price: () => 1 },
    );
    admitCells(state);
    dispatch(state);
    state.outbox.take();
    state.outbox.onDurable();
    state.routes.onResult('submit', state.now, keyOf(1));
    advance(state, jobOf(state, keyOf(1)), { type: 'submitted', result: accepted });
    expect(state.budget.refusal(imagineRecord({ key: 'next' }))?.code).toBe('budget.cost');
    expect(state.budget.submits).toBe(1);
  });

  it('searches for no task any more once the gateway has no list, and reports it once', async () => {
    const { state } = await submitting();
    for (const key of ['a', 'b']) {
      const job = {
        record: imagineRecord({ key, doubtful: { count: 1, since: epoch } }),
        nextRequest: { kind: 'answer' },
        depth: 0,
        misses: 0,
      } as const;
      state.jobs.put(job);
      const error = failure('service.no-listing', 'permanent', { status: 404 });
      advance(state, job, { type: 'searched', result: { ok: false, error } });
    }
    expect(state.searches).toBe(false);
    expect(eventsOf(state.outbox.take(), 'run:notice').map(({ code }) => code)).toEqual([
      'service.no-listing',
    ]);
  });
});

describe('adoptJob', () => {
  it('polls a task that was running, even if no cell needs the job', async () => {
    const { state } = await schedulerRig(grid(1));
    adoptJob(state, imagineRecord({ key: 'k', status: 'running', taskId: 'T1', submittedAt: epoch - 1 }));
    dispatch(state);
    expect(state.outbox.take().effects).toMatchObject([
      { send: { kind: 'fetch', taskId: 'T1', why: 'poll' } },
    ]);
  });

  it('puts a submission that was in flight in doubt, and sends nothing', async () => {
    const { state } = await schedulerRig(grid(1));
    adoptJob(state, imagineRecord({ key: 'k', status: 'submitting', attempts: 1 }));
    dispatch(state);
    const commit = state.outbox.take();
    expect([commit.effects, commit.records.map(({ status }) => status)]).toEqual([[], ['in-doubt']]);
    expect(state.jobs.size).toBe(0);
  });

  it('leaves a text call that was in flight to the cell that needs it', async () => {
    const { state } = await schedulerRig(grid(1));
    adoptJob(state, textRecord({ key: 'k', status: 'submitting', attempts: 1 }));
    dispatch(state);
    const commit = state.outbox.take();
    expect([commit.effects, commit.records.map(({ status }) => status)]).toEqual([[], ['pending']]);
  });

  it('leaves a modal that waits for its confirm to the cell that needs it', async () => {
    const { state } = await schedulerRig(grid(1));
    adoptJob(state, imagineRecord({ key: 'k', status: 'modal', taskId: 'T1' }));
    expect([state.jobs.size, state.outbox.take().records]).toEqual([0, []]);
  });
});

describe('a job that is redone', () => {
  it('makes the click below it wait, and press the new task', async () => {
    const { state, keyOf } = await schedulerRig(grid(1, 'U1'));
    admitCells(state);
    dispatch(state);
    settleJob(state, keyOf(1), 'done', { taskId: '9' });
    expect(jobOf(state, keyOf(1, 'U1')).parentTaskId).toBe('9');
    expect(paidKeys(state.outbox.take())).toEqual([keyOf(1)]);
  });
});

describe('the context of a job', () => {
  it('has the settings of the run, each in its place', async () => {
    const poll = { minMs: 2000, maxMs: 9000 };
    const timeouts = { taskMs: 77_000 };
    const { state } = await schedulerRig(grid(1), {
      poll,
      timeouts,
      speed: 'turbo',
      inDoubt: 'retry',
      tag: false,
    });
    expect(jobContext(state)).toMatchObject({
      now: epoch,
      invocation: 2,
      watchedSince: epoch,
      pollMaxMs: 9000,
      taskMs: 77_000,
      speed: 'turbo',
      retryInDoubt: true,
      searches: false,
    });
    expect(jobContext((await schedulerRig(grid(1))).state)).toMatchObject({
      retryInDoubt: false,
      searches: true,
    });
  });
});

describe('what a job is told of other jobs', () => {
  it('is by their format which keys are jobs of other workers, and alone by what is known', async () => {
    const key = (await schedulerRig(grid(1))).keyOf(1);
    const others = { invocation: 2, leaseOf: () => undefined, read: () => Promise.resolve([]) };
    const isJob = async (more: object) => {
      const { state } = await schedulerRig(grid(1), {}, undefined, more);
      return [key, 'no key'].map((one) => jobContext(state).isJob(one));
    };
    expect([await isJob({}), await isJob({ others })]).toEqual([
      [false, false],
      [true, false],
    ]);
  });

  it('is the tally of the kind that its request belongs to', async () => {
    const { state } = await schedulerRig(grid(1));
    const tally = (served: number) => ({ served, firsts: served, firstsServed: served });
    state.kinds.polls.tally = tally(1);
    state.kinds.downloads.tally = tally(2);
    state.kinds.find('submit', 'imagine').tally = tally(3);
    const { tally: of } = jobContext(state, job(imagineRecord()));
    expect((['poll', 'download', 'submit'] as const).map((route) => of(route).served)).toEqual([1, 2, 3]);
    expect(jobContext(state).tally('submit').served).toBe(0);
  });

  it('lets a task be polled for the first time when its kind may have ended, and later as polls allow', async () => {
    const limits = { tasks: 4, requests: 4, poll: { count: 2, perMs: 60_000 } };
    const { state } = await schedulerRig(grid(1), { poll: { minMs: 1000, maxMs: 9000 }, limits });
    for (const key of ['a', 'b', 'c'])
      state.jobs.put(job(imagineRecord({ key, status: 'running' }), { nextRequest: { kind: 'answer' } }));
    const { pollInMs } = jobContext(state);
    expect(pollInMs(imagineRecord(), 0)).toBeLessThan(9001);
    expect(pollInMs(imagineRecord(), 0, true)).toBe(90_000);
  });

  it('lets tasks that share requests be polled no faster than these may be sent, however few they are', async () => {
    const poll = { minMs: 0, maxMs: 20_000, list: true };
    const limits = { tasks: 4, requests: 4, poll: { count: 6, perMs: 60_000 } };
    const { state } = await schedulerRig(grid(1), { poll, limits });
    state.jobs.put(job(imagineRecord()));
    state.now = epoch + 1;
    expect((state.now + jobContext(state).pollInMs(imagineRecord(), 0)) % 10_000).toBe(0);
  });
});

describe('a refusal that may hold for every job of its kind', () => {
  const refused = failure('service.rejected', 'permanent', { status: 400 });

  /** The status of a job whose submission is refused so, in the record that becomes durable. */
  async function after(
    record: Partial<JobRecord>,
    changes: Partial<Job> = {},
    {
      isServed = false,
      error = refused,
      settings = {},
    }: {
      readonly isServed?: boolean;
      readonly error?: typeof refused;
      readonly settings?: Partial<RunSettings>;
    } = {},
  ) {
    const { state } = await schedulerRig(grid(1), settings);
    const sent = job(imagineRecord({ key: 'k', status: 'submitting', attempts: 1, ...record }), {
      nextRequest: { kind: 'answer' },
      ...changes,
    });
    placeJob(state, undefined, sent);
    if (isServed) state.kinds.find('submit', 'imagine').tally = { served: 1, firsts: 1, firstsServed: 1 };
    advance(state, sent, { type: 'submitted', result: { ok: false, error } });
    const [durable] = state.outbox.take().records;
    return [durable?.status, durable?.putBack];
  }

  it('leaves the job pending until there is a verdict on the kind', async () => {
    expect(await after({})).toEqual(['pending', true]);
    expect(await after({}, {}, { isServed: true })).toEqual(['pending', true]);
    expect(await after({ putBack: true })).toEqual(['pending', true]);
  });

  it.each<[string, ...Parameters<typeof after>]>([
    ['that the user retries', {}, { earlierFailure: 'no' }],
    ['that an earlier run had put back, where the kind is served', { putBack: true }, {}, { isServed: true }],
    ['in a run that ends at its first failure', {}, {}, { settings: { failFast: true } }],
    ['in a run that counts failures', {}, {}, { settings: { maxFailures: 9 } }],
    ['that is too large', {}, {}, { error: failure('service.rejected', 'permanent', { status: 413 }) }],
    [
      'that is refused for one of its fields',
      {},
      {},
      {
        error: failure('service.rejected', 'permanent', { status: 400, serviceMessage: 'no such "prompt"' }),
      },
    ],
    ['of a service that does not offer it', {}, {}, { error: failure('service.not-offered', 'permanent') }],
  ])('fails a job at once %s', async (_, ...given) => {
    expect((await after(...given))[0]).toBe('failed');
  });
});

it('fails a job alone whose refused submission has made tasks all the same: they may be charged', async () => {
  const { state, key } = await submitting();
  const value = { kind: 'refused', code: 4, message: 'no', made: true } as const;
  advance(state, jobOf(state, key), { type: 'submitted', result: { ok: true, value } });
  const [record] = state.outbox.take().records;
  expect([record?.status, record?.putBack]).not.toEqual(['pending', true]);
});

it('learns nothing of its own task from an answer about another one', async () => {
  const { state } = await schedulerRig(grid(1));
  const click = job(clickRecord({ submittedAt: epoch }), { nextRequest: { kind: 'answer' } });
  placeJob(state, undefined, click);
  const value = { id: 'T1', state: 'success', status: 'SUCCESS', buttons: gridButtons(1) } as const;
  advance(state, click, { type: 'fetched', why: 'parent', result: { ok: true, value } });
  expect(jobContext(state).hasFoundLater(imagineRecord({ submittedAt: epoch - 1 }))).toBe(false);
  const running = job(imagineRecord({ key: 'r', status: 'running', taskId: 'T1', submittedAt: epoch }), {
    nextRequest: { kind: 'answer' },
  });
  placeJob(state, undefined, running);
  advance(state, running, { type: 'fetched', why: 'poll', result: { ok: true, value } });
  expect(jobContext(state).hasFoundLater(imagineRecord({ submittedAt: epoch - 1 }))).toBe(true);
});

describe('the end of a task that a poll shows', () => {
  const failed = {
    type: 'fetched',
    why: 'poll',
    result: {
      ok: true,
      value: { id: 'T1', state: 'failure', status: 'FAILURE', failReason: 'odd words', buttons: [] },
    },
  } as const;
  const running = (key: string, taskId: string, submittedAt = epoch): Job =>
    job(imagineRecord({ key, status: 'running', attempts: 1, taskId, submittedAt }), {
      nextRequest: { kind: 'answer' },
    });

  it('counts for its kind once it is certain whose task it is', async () => {
    const { state } = await schedulerRig(grid(1));
    placeJob(state, undefined, running('a', 'T1'));
    const rival = job(imagineRecord({ key: 'b', status: 'submitting', submittedAt: epoch + 5 }), {
      nextRequest: { kind: 'answer' },
    });
    placeJob(state, undefined, rival);
    state.routes.onSent('submit', epoch, 'b');
    const kind = state.kinds.find('submit', 'imagine');
    advance(state, jobOf(state, 'a'), failed);
    expect([jobOf(state, 'a').record.status, kind.failedInARow]).toEqual(['running', 0]);
    state.routes.onResult('submit', epoch, 'b');
    state.jobs.drop('b');
    advance(state, jobOf(state, 'a'), failed);
    expect([state.lookup('a')?.status, kind.failedInARow]).toEqual(['failed', 1]);
  });

  it('shows that earlier tasks of its kind were overtaken, and a read for another reason does not', async () => {
    const { state } = await schedulerRig(grid(1));
    const earlier = imagineRecord({ key: 'e', submittedAt: epoch - 1000 });
    placeJob(state, undefined, running('a', 'T1'));
    state.now = epoch + 9000;
    advance(state, jobOf(state, 'a'), { ...failed, why: 'link' });
    expect(jobContext(state).overtakenAt(earlier)).toBeUndefined();
    placeJob(state, undefined, running('a', 'T1'));
    advance(state, jobOf(state, 'a'), failed);
    expect(jobContext(state).overtakenAt(earlier)).toBe(epoch + 9000);
    expect(jobContext(state).overtakenAt(imagineRecord({ submittedAt: epoch }))).toBeUndefined();
  });
});

describe('a refused click whose parent is read again', () => {
  const value = { id: 'T1', state: 'success', status: 'SUCCESS', buttons: gridButtons(1) } as const;
  const customId = value.buttons.find(({ label }) => label === 'U1')?.customId ?? '';

  it.each([
    ['shows another button in its place: no click uses a button shown to others any more', 'another', false],
    ['shows the same button: others may use what it shows', customId, true],
  ])('%s', async (_, refused, isTrusted) => {
    const { state } = await schedulerRig(grid(1));
    const error = { code: 'service.rejected' as const, message: 'no' };
    const click = job(clickRecord(), {
      nextRequest: { kind: 'answer' },
      refused: { customId: refused, error },
    });
    placeJob(state, undefined, click);
    advance(state, click, { type: 'fetched', why: 'parent', result: { ok: true, value } });
    expect(state.buttons.read('T1', epoch) !== undefined).toBe(isTrusted);
  });
});
