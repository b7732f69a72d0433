import { describe, expect, it } from 'vitest';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { drain } from '../../../src/run/scheduler/drain.ts';
import { jobContext } from '../../../src/run/scheduler/job-context.ts';
import { placeJob } from '../../../src/run/scheduler/place-job.ts';
import type { SchedulerState } from '../../../src/run/scheduler/state/state.ts';
import { onUnconfirmedSearched } from '../../../src/run/scheduler/unconfirmed-search.ts';
import { epoch, imagineRecord, job } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { jobOf, schedulerRig } from './scheduler-rig.ts';

const found = (id: string) => ({ id, state: 'unfinished', status: 'IN_PROGRESS', buttons: [] }) as const;

/** A run in which jobs in doubt are searched for. */
async function searching() {
  const { state } = await schedulerRig(grid(1), { findInDoubt: true });
  return state;
}

/** A job in doubt whose search is due. */
function addDoubtful(state: SchedulerState, key: string): void {
  const doubtful = { count: 1, since: epoch - 9000 };
  const record = imagineRecord({ key, status: 'in-doubt', attempts: 1, doubtful });
  placeJob(state, undefined, job(record, { nextRequest: { kind: 'search' } }));
}

/** For which jobs the requests that leave now search, those beside the first one as well. */
function sent(state: SchedulerState): readonly (readonly string[])[] {
  dispatch(state);
  const { effects } = state.outbox.take();
  state.outbox.onDurable();
  return effects.map(({ job: { record }, send }) =>
    send.kind === 'search' ? [record.key, ...(send.beside ?? []).map(({ key }) => key)] : [send.kind],
  );
}

const restsUntil = (state: SchedulerState, key: string): number | undefined => {
  const { nextRequest } = jobOf(state, key);
  return nextRequest.kind === 'wait' ? nextRequest.until - epoch : undefined;
};

describe('jobs in doubt', () => {
  it('are searched for with one request, and those of another kind of job are not', async () => {
    const state = await searching();
    for (const key of ['a', 'b', 'c']) addDoubtful(state, key);
    const again = imagineRecord({ key: 'again', attempts: 1, doubtful: { count: 1, since: epoch - 9000 } });
    placeJob(state, undefined, job(again, { nextRequest: { kind: 'search' } }));
    expect(sent(state)).toEqual([['a', 'b', 'c'], ['again']]);
    const kinds = ['a', 'b', 'c'].map((key) => jobOf(state, key).nextRequest.kind);
    expect(kinds).toEqual(['answer', 'answer', 'answer']);
  });

  it('are not searched for twice at once, nor twice within half a minute', async () => {
    const state = await searching();
    addDoubtful(state, 'a');
    expect(sent(state)).toEqual([['a']]);
    state.now = epoch + 60_000;
    addDoubtful(state, 'b');
    expect([sent(state), restsUntil(state, 'b')]).toEqual([[], 90_000]);
    state.routes.onResult('poll', state.now, 'a');
    onUnconfirmedSearched(state, { type: 'searched', key: 'a', result: { ok: true, value: [] }, beside: [] });
    addDoubtful(state, 'c');
    expect(sent(state)).toEqual([['c']]);
    state.routes.onResult('poll', state.now, 'c');
    onUnconfirmedSearched(state, { type: 'searched', key: 'c', result: { ok: true, value: [] }, beside: [] });
    state.now += 29_999;
    addDoubtful(state, 'd');
    expect([sent(state), restsUntil(state, 'd')]).toEqual([[], 90_000]);
    state.now += 1;
    addDoubtful(state, 'e');
    expect(sent(state)).toEqual([['e']]);
  });

  it('each get their own part of the list', async () => {
    const state = await searching();
    for (const key of ['a', 'b', 'c']) addDoubtful(state, key);
    sent(state);
    state.jobs.drop('c');
    const none = { ok: true, value: [] } as const;
    onUnconfirmedSearched(state, {
      type: 'searched',
      key: 'a',
      result: none,
      beside: [
        ['b', { ok: true, value: [found('T7')] }],
        ['c', none],
      ],
    });
    const { records } = state.outbox.take();
    expect(records).toMatchObject([{ key: 'b', status: 'running', taskId: 'T7' }]);
    expect(jobOf(state, 'a').nextRequest.kind).toBe('answer');
  });

  it('are not touched by the search of a job that is to be submitted again', async () => {
    const state = await searching();
    addDoubtful(state, 'a');
    sent(state);
    onUnconfirmedSearched(state, { type: 'searched', key: 'z', result: { ok: true, value: [] } });
    state.now = epoch + 30_000;
    addDoubtful(state, 'b');
    expect(sent(state)).toEqual([]);
  });
});

describe('the next search for jobs in doubt', () => {
  const inMs = (state: SchedulerState): number | undefined => jobContext(state).unconfirmedSearchInMs;

  it.each([
    [Number.NEGATIVE_INFINITY, false, 5000],
    [epoch - 10_000, false, 20_000],
    [epoch - 28_000, false, 5000],
    [epoch - 60_000, true, 30_000],
  ])(
    'is due five seconds later, and half a minute after the last one: %d, under way: %s',
    async (searchedAt, isUnderWay, due) => {
      const state = await searching();
      state.unconfirmedSearches = { searchedAt, isUnderWay };
      expect(inMs(state)).toBe(due);
    },
  );

  it('is never due where the user wants none, the gateway lists no tasks, or the run ends', async () => {
    const { state } = await schedulerRig(grid(1));
    const unlisted = await searching();
    unlisted.searches = false;
    const ending = await searching();
    drain(ending, { kind: 'interrupted', forced: false });
    expect([inMs(state), inMs(unlisted), inMs(ending)]).toEqual([undefined, undefined, undefined]);
  });
});
