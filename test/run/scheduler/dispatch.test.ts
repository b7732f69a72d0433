import { describe, expect, it } from 'vitest';
import { admitCells } from '../../../src/run/scheduler/cell-admission.ts';
import { dispatch, nextDispatch } from '../../../src/run/scheduler/dispatch.ts';
import { drain, halt } from '../../../src/run/scheduler/drain.ts';
import { advance } from '../../../src/run/scheduler/job-runner.ts';
import { park, placeJob } from '../../../src/run/scheduler/place-job.ts';
import { clickRecord, epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { captions, eventsOf, jobOf, paidKeys, schedulerRig, settleJob } from './scheduler-rig.ts';

const interrupted = { kind: 'interrupted', forced: false } as const;
const stopped = { kind: 'stopped', code: 'service.unauthorized', message: '401' } as const;

describe('dispatch', () => {
  it('submits jobs in the order of their cells, as many as there are task slots', async () => {
    const { state, keyOf } = await schedulerRig(grid(5), { limits: { tasks: 3, requests: 8 } });
    admitCells(state);
    dispatch(state);
    expect(paidKeys(state.outbox.take())).toEqual([keyOf(1), keyOf(2), keyOf(3)]);
  });

  it('sends no more requests at once than the limit', async () => {
    const { state } = await schedulerRig(grid(9), { limits: { tasks: 9, requests: 2 } });
    admitCells(state);
    dispatch(state);
    expect([paidKeys(state.outbox.take()).length, state.routes.inFlight]).toEqual([2, 2]);
  });

  it('lets a deeper job go before a shallower one', async () => {
    const { state, keyOf } = await schedulerRig(grid(3, 'U1'), { limits: { tasks: 1, requests: 8 } });
    admitCells(state);
    dispatch(state);
    settleJob(state, keyOf(1));
    admitCells(state);
    const choice = nextDispatch(state);
    expect(choice).toMatchObject({ job: { depth: 1, record: { key: keyOf(1, 'U1') } } });
  });

  it('writes the intent of every submission into the same commit', async () => {
    const { state } = await schedulerRig(grid(3));
    admitCells(state);
    dispatch(state);
    const { records, effects } = state.outbox.take();
    expect(records.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['submitting', 1],
      ['submitting', 1],
      ['submitting', 1],
    ]);
    // What is sent is what was written, with all that the submission needs.
    expect(effects.map(({ job: sent }) => sent.record)).toEqual(records);
  });

  it('lets the next submission wait for the rate of its route', async () => {
    const submit = { count: 1, perMs: 60_000 };
    const { state } = await schedulerRig(grid(3), { limits: { tasks: 3, requests: 8, submit } });
    admitCells(state);
    dispatch(state);
    expect(paidKeys(state.outbox.take())).toHaveLength(1);
    state.outbox.onDurable();
    // The spacing has room for moments that are used 300 ms late.
    state.now += 60_299;
    dispatch(state);
    expect(paidKeys(state.outbox.take())).toEqual([]);
    state.outbox.onDurable();
    state.now += 2;
    dispatch(state);
    expect(paidKeys(state.outbox.take())).toHaveLength(1);
  });

  it('submits no more than the budget allows, and waits for requests in flight before it ends the run', async () => {
    const { state, keyOf } = await schedulerRig(grid(3), { budget: { submits: 1 } });
    admitCells(state);
    dispatch(state);
    expect([paidKeys(state.outbox.take()), state.lifecycle.isEnding]).toEqual([[keyOf(1)], false]);
    state.outbox.onDurable();
    // The submission never reached the service: the next job may have its turn.
    state.routes.onResult('submit', state.now, keyOf(1));
    advance(state, jobOf(state, keyOf(1)), { type: 'unsent' });
    dispatch(state);
    expect([paidKeys(state.outbox.take()).length, state.lifecycle.isEnding]).toEqual([1, false]);
  });

  it('ends the run where the budget is used up and no paid request is in flight', async () => {
    const { state } = await schedulerRig(grid(3), { maxSubmits: 0 });
    admitCells(state);
    dispatch(state);
    const commit = state.outbox.take();
    expect(commit.effects).toEqual([]);
    expect(eventsOf(commit, 'run:stopping')).toMatchObject([{ end: { code: 'budget.max-submits' } }]);
  });

  it('ends a run with a budget of money before a submission that has no price', async () => {
    const { state } = await schedulerRig(grid(1), { budget: { cost: 5 } });
    admitCells(state);
    dispatch(state);
    expect(eventsOf(state.outbox.take(), 'run:stopping')).toMatchObject([
      { end: { code: 'budget.unpriced' } },
    ]);
  });

  it('begins no task once the run drains, and still polls those in flight', async () => {
    const { state, keyOf } = await schedulerRig(grid(2), { limits: { tasks: 1, requests: 8 } });
    admitCells(state);
    dispatch(state);
    state.routes.onResult('submit', state.now, keyOf(1));
    const result = { ok: true, value: { kind: 'accepted', code: 1, taskId: 'T1' } } as const;
    advance(state, jobOf(state, keyOf(1)), { type: 'submitted', result });
    drain(state, interrupted);
    state.outbox.take();
    state.outbox.onDurable();
    const waiting = jobOf(state, keyOf(1));
    expect(waiting.nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'fetch' } });
    advance(state, waiting, { type: 'elapsed' });
    admitCells(state);
    dispatch(state);
    expect(state.outbox.take().effects.map(({ send }) => send.kind)).toEqual(['fetch']);
  });

  it('sends nothing more once the run halts', async () => {
    const { state } = await schedulerRig(grid(2));
    admitCells(state);
    halt(state, stopped);
    dispatch(state);
    expect([state.outbox.take().effects, nextDispatch(state)]).toEqual([[], undefined]);
  });

  it('sends as many text calls as there may be requests while no image task is made', async () => {
    const { state } = await schedulerRig(captions(9), { limits: { tasks: 1, requests: 4 } });
    admitCells(state);
    dispatch(state);
    expect(state.outbox.take().effects.map(({ send }) => send.kind)).toEqual(Array(4).fill('ask'));
  });

  it('leaves a click whose parent was redone while the click waited to its cell, unpaid', async () => {
    const { state, keyOf } = await schedulerRig(grid(1, 'U1'));
    admitCells(state);
    dispatch(state);
    settleJob(state, keyOf(1));
    const click = jobOf(state, keyOf(1, 'U1'));
    const stale = job(clickRecord(click.record), { nextRequest: { kind: 'submit' }, parentTaskId: 'old' });
    state.jobs.put(stale);
    advance(state, stale, { type: 'granted' });
    // The cell takes the click up again, to press the task that is there now.
    expect(jobOf(state, keyOf(1, 'U1')).parentTaskId).not.toBe('old');
    expect(paidKeys(state.outbox.take())).toEqual([keyOf(1)]);
  });
});

describe('a job that waits until its kind is served again', () => {
  it('keeps no task slot, and requests one first when it continues, whatever its progress', async () => {
    const { state, keyOf } = await schedulerRig(grid(1));
    admitCells(state);
    const key = keyOf(1);
    for (const kind of ['task-slot', 'submit'] as const) {
      const job = { ...jobOf(state, key), nextRequest: { kind } };
      state.jobs.put(job);
      expect(state.jobs.tasksInFlight).toBe(kind === 'submit' ? 1 : 0);
      park(state, state.kinds.find('submit', 'imagine'), job);
      expect(jobOf(state, key).nextRequest).toMatchObject({ kind: 'wait', next: { kind: 'task-slot' } });
      expect(state.jobs.tasksInFlight).toBe(0);
    }
  });

  it('reads its button again when it continues, and keeps no slot for an earlier reading', async () => {
    const parent = imagineRecord({ key: 'aa11', status: 'done', taskId: 'T1' });
    const { state } = await schedulerRig(grid(1), {}, (key) => (key === 'aa11' ? parent : undefined));
    const button = { customId: 'c', label: 'U1', emoji: '' };
    const click = job(clickRecord(), {
      nextRequest: { kind: 'submit' },
      fresh: { button, readAt: epoch, again: true },
    });
    placeJob(state, undefined, click);
    park(state, state.kinds.find('submit', 'U1–U4'), click);
    const parked = jobOf(state, 'bb22');
    placeJob(state, parked, { ...parked, nextRequest: { kind: 'task-slot' } });
    dispatch(state);
    expect(state.outbox.take().effects.map(({ send }) => send)).toEqual([
      { kind: 'fetch', taskId: 'T1', why: 'parent' },
    ]);
  });
});
