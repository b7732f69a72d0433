import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Job } from '../../../src/run/machine/job.ts';
import { onBatchPolled } from '../../../src/run/scheduler/batch-poll.ts';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { adoptJob } from '../../../src/run/scheduler/place-job.ts';
import type { SchedulerState } from '../../../src/run/scheduler/state/state.ts';
import { failure } from '../../rig/failure.ts';
import { epoch, imagineRecord } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { eventsOf, jobOf, schedulerRig } from './scheduler-rig.ts';

const poll = { minMs: 1000, maxMs: 15_000, list: true };

/** A run that adopted so many tasks which are due to be polled. */
async function polling(tasks: number, list = true): Promise<SchedulerState> {
  const { state } = await schedulerRig(grid(1), {
    poll: { ...poll, list },
    limits: { tasks: 99, requests: 8 },
  });
  for (let n = 1; n <= tasks; n++) {
    const running: Partial<JobRecord> = { status: 'running', taskId: `T${n}`, submittedAt: epoch - 9000 };
    adoptJob(state, imagineRecord({ key: `k${n}`, ...running }));
  }
  return state;
}

/** The requests that a state sends, and the tasks that each asks for. */
function sent(state: SchedulerState): readonly (readonly string[])[] {
  dispatch(state);
  const { effects } = state.outbox.take();
  state.outbox.onDurable();
  return effects.map(({ send }) =>
    send.kind === 'list'
      ? send.targets.map(({ taskId }) => taskId)
      : send.kind === 'fetch'
        ? [send.taskId]
        : [],
  );
}

const unfinished = (id: string) => ({ id, state: 'unfinished', status: 'IN_PROGRESS', buttons: [] }) as const;
const success = (id: string) =>
  ({ id, state: 'success', status: 'SUCCESS', buttons: [], imageUrl: `https://images/${id}` }) as const;
const targets = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ key: `k${n + 1}`, taskId: `T${n + 1}` }));
const nextKinds = (state: SchedulerState, ...keys: readonly string[]): Job['nextRequest']['kind'][] =>
  keys.map((key) => jobOf(state, key).nextRequest.kind);

describe('pollBatch', () => {
  it('polls all due tasks in one request', async () => {
    const state = await polling(3);
    expect(sent(state)).toEqual([['T1', 'T2', 'T3']]);
    expect([state.routes.inFlight, nextKinds(state, 'k1', 'k2', 'k3')]).toEqual([
      1,
      ['answer', 'answer', 'answer'],
    ]);
  });

  it('fetches a single task by itself', async () => {
    const state = await polling(1);
    dispatch(state);
    expect(state.outbox.take().effects.map(({ send }) => send.kind)).toEqual(['fetch']);
  });

  it('polls one task per request where poll.list is off', async () => {
    expect(await polling(3, false).then(sent)).toEqual([['T1'], ['T2'], ['T3']]);
  });
});

describe('onBatchPolled', () => {
  it('gives each job its own task', async () => {
    const state = await polling(2);
    sent(state);
    const result = { ok: true, value: [success('T2'), unfinished('T1')] } as const;
    onBatchPolled(state, { type: 'listed', key: 'k1', targets: targets(2), result });
    expect(nextKinds(state, 'k1', 'k2')).toEqual(['wait', 'save']);
    expect([jobOf(state, 'k2').record.status, state.routes.inFlight]).toEqual(['saving', 0]);
  });

  it('makes the next polls due at one time', async () => {
    const state = await polling(2);
    sent(state);
    state.now += 250;
    const result = { ok: true, value: [unfinished('T1'), unfinished('T2')] } as const;
    onBatchPolled(state, { type: 'listed', key: 'k1', targets: targets(2), result });
    // A quarter of the age of 9250 ms, then the next whole second.
    for (const key of ['k1', 'k2'])
      expect(jobOf(state, key).nextRequest).toMatchObject({ kind: 'wait', until: epoch + 3000 });
  });

  it('polls one by one from then on where the gateway has no list, and counts no failure', async () => {
    const state = await polling(2);
    sent(state);
    const error = failure('service.no-listing', 'permanent', { status: 404 });
    onBatchPolled(state, { type: 'listed', key: 'k1', targets: targets(2), result: { ok: false, error } });
    expect([jobOf(state, 'k1').misses, state.pollsBatches]).toEqual([0, false]);
    dispatch(state);
    const commit = state.outbox.take();
    expect(commit.effects.map(({ send }) => send.kind)).toEqual(['fetch', 'fetch']);
    expect(eventsOf(commit, 'run:notice').map(({ code }) => code)).toEqual(['service.no-listing']);
  });

  it('delays every job whose request failed, and pauses its route', async () => {
    const state = await polling(2);
    sent(state);
    const error = failure('service.throttled', 'throttle', { status: 429, retryAfterMs: 30_000 });
    onBatchPolled(state, { type: 'listed', key: 'k1', targets: targets(2), result: { ok: false, error } });
    expect(nextKinds(state, 'k1', 'k2')).toEqual(['wait', 'wait']);
    expect(state.routes.queues.poll.lane().restsUntil).toBe(epoch + 30_000);
    expect(state.pollsBatches).toBe(true);
    expect(eventsOf(state.outbox.take(), 'run:notice')).toEqual([]);
  });

  it('ends its request, is not counted for a single job, and skips a job that is no longer active', async () => {
    const state = await polling(2);
    sent(state);
    expect(state.routes.inFlight).toBe(1);
    const all = [...targets(2), { key: 'gone', taskId: 'T9' }];
    const value = [unfinished('T1'), unfinished('T2'), unfinished('T9')];
    onBatchPolled(state, { type: 'listed', key: 'k1', targets: all, result: { ok: true, value } });
    expect([state.routes.inFlight, state.jobs.get('gone')]).toEqual([0, undefined]);
    expect(state.kinds.polls.tally).toEqual({ served: 1, firsts: 0, firstsServed: 0 });
  });
});

describe('a result for several tasks of a slice', () => {
  it('changes no job that was lost since, even if it was taken up again', async () => {
    const { state } = await schedulerRig(grid(1), { poll, limits: { tasks: 99, requests: 8 } });
    for (const n of [1, 2, 3])
      adoptJob(
        state,
        imagineRecord({ key: `k${n}`, status: 'running', taskId: `T${n}`, submittedAt: epoch - 9000 }),
        { slice: n, epoch: 1 },
      );
    dispatch(state);
    const [effect] = state.outbox.take().effects;
    const asked = effect?.send.kind === 'list' ? effect.send.targets : [];
    expect(asked.map(({ lease }) => lease)).toEqual([1, 2, 3].map((slice) => ({ slice, epoch: 1 })));
    state.jobs.drop('k1');
    const taken = jobOf(state, 'k2');
    state.jobs.put({ ...taken, lease: { slice: 2, epoch: 1 } });
    const value = [success('T1'), success('T2'), success('T3')];
    onBatchPolled(state, { type: 'listed', key: 'k1', targets: asked, result: { ok: true, value } });
    expect([...state.jobs.all()].map(({ record }) => [record.key, record.status])).toEqual([
      ['k2', 'running'],
      ['k3', 'saving'],
    ]);
  });
});

describe('the polls of one request', () => {
  it('are a hundred at most', async () => {
    expect((await polling(150).then(sent)).map((ids) => ids.length)).toEqual([100, 50]);
  });

  it('end at the first request of another kind', async () => {
    const state = await polling(1);
    const saving = imagineRecord({ key: 'link', status: 'saving', taskId: 'L1' });
    adoptJob(state, saving);
    for (const n of [2, 3])
      adoptJob(
        state,
        imagineRecord({ key: `k${n}`, status: 'running', taskId: `T${n}`, submittedAt: epoch - 9000 }),
      );
    expect(sent(state)).toEqual([['T1'], ['L1'], ['T2', 'T3']]);
  });
});
