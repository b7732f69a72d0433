import { describe, expect, it } from 'vitest';
import { admitCells } from '../../../src/run/scheduler/cell-admission.ts';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { jobContext } from '../../../src/run/scheduler/job-context.ts';
import { advance } from '../../../src/run/scheduler/job-runner.ts';
import { adoptJob } from '../../../src/run/scheduler/place-job.ts';
import { failure } from '../../rig/failure.ts';
import { epoch, imagineRecord, textRecord } from '../../rig/jobs.ts';
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
