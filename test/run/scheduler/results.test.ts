import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/run/machine/job.ts';
import type { RunSettings } from '../../../src/run/ports.ts';
import { admitCells } from '../../../src/run/scheduler/cell-admission.ts';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { drain } from '../../../src/run/scheduler/drain.ts';
import { jobContext } from '../../../src/run/scheduler/job-context.ts';
import { advance } from '../../../src/run/scheduler/job-runner.ts';
import { adoptJob, placeJob } from '../../../src/run/scheduler/place-job.ts';
import { isFailure, taskOf } from '../../../src/run/scheduler/state/queries.ts';
import type { SchedulerState } from '../../../src/run/scheduler/state/state.ts';
import { failure } from '../../rig/failure.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { captions, eventsOf, jobOf, paidKeys, schedulerRig, settleJob } from './scheduler-rig.ts';

const interrupted = { kind: 'interrupted', forced: false } as const;
const why = { code: 'service.rejected' as const, message: 'no' };
const denied = failure('service.rejected', 'permanent', { status: 400 });
const button = { customId: 'c', label: 'U1', emoji: '' };
function nextCommit({ outbox }: SchedulerState) {
  const commit = outbox.take();
  outbox.onDurable();
  return commit;
}

/** A state with an active job that waits for a result. */
async function waiting(one: Job, settings: Partial<RunSettings> = {}) {
  const rig = await schedulerRig(grid(1), settings);
  placeJob(rig.state, undefined, one);
  nextCommit(rig.state);
  return rig;
}

describe('a job whose turn has come', () => {
  it('is sent with its current parents', async () => {
    const parent = imagineRecord({ key: 'p', status: 'done', redone: { count: 2, first: {} } });
    const { state } = await schedulerRig(grid(1), {}, (key) => (key === 'p' ? parent : undefined));
    const text = job(textRecord({ from: { p: 1 } }), { nextRequest: { kind: 'ask' } });
    placeJob(state, undefined, text);
    advance(state, text, { type: 'granted' });
    expect(nextCommit(state).records).toMatchObject([{ status: 'submitting', from: { p: 2 } }]);
  });

  it('keeps its former parents while a submission of it may have made a task', async () => {
    const parent = imagineRecord({
      key: 'aa11',
      status: 'done',
      taskId: 'P2',
      redone: { count: 2, first: {} },
    });
    const { state } = await schedulerRig(grid(1), { tag: false }, () => parent);
    const record = clickRecord({
      parentTaskId: 'T1',
      from: { aa11: 1 },
      doubtful: { count: 1, since: epoch },
    });
    const click = job(record, { nextRequest: { kind: 'submit' }, fresh: { button, readAt: epoch } });
    placeJob(state, undefined, click);
    advance(state, click, { type: 'granted' });
    expect(nextCommit(state).records).toMatchObject([
      { key: 'bb22', status: 'submitting', parentTaskId: 'T1', from: { aa11: 1 } },
    ]);
  });

  it('reads its parent even if that was redone: nothing is paid yet', async () => {
    const parent = imagineRecord({ key: 'aa11', status: 'done', taskId: 'P2' });
    const { state } = await schedulerRig(grid(1), {}, () => parent);
    const click = job(clickRecord(), { nextRequest: { kind: 'fetch', taskId: 'T1', why: 'parent' } });
    placeJob(state, undefined, click);
    advance(state, click, { type: 'granted' });
    expect(nextCommit(state).effects).toMatchObject([{ send: { kind: 'fetch', taskId: 'T1' } }]);
  });
});

describe('a result', () => {
  it('that ends a redo is counted and reported', async () => {
    const record = imagineRecord({
      status: 'submitting',
      attempts: 1,
      former: { taskId: 'T0', resubmits: 0 },
    });
    const { state } = await waiting(job(record, { nextRequest: { kind: 'answer' } }));
    advance(state, jobOf(state, 'aa11'), { type: 'submitted', result: { ok: false, error: denied } });
    expect(state.redosFailed).toBe(1);
    expect(eventsOf(nextCommit(state), 'run:notice').map(({ code }) => code)).toEqual(['redo.failed']);
  });

  it('that gives a click its task shows that its button works, and no other result does', async () => {
    const sent = clickRecord({ status: 'submitting', attempts: 1, pressed: button });
    const failed = {
      ...clickRecord({ status: 'failed', pressed: button }),
      error: { code: 'submit.refused' as const, message: 'no' },
    };
    const endsAfter = async (result: Parameters<typeof advance>[2] & { type: 'submitted' }) => {
      const { state } = await waiting(job(sent, { nextRequest: { kind: 'answer' } }));
      advance(state, jobOf(state, 'bb22'), result);
      return Array.from({ length: 20 }, () => state.clicks.failed(failed)).some((end) => end !== undefined);
    };
    const accepted = { kind: 'accepted', code: 1, taskId: 'T5' } as const;
    const full = { kind: 'queue-full', code: 23, message: 'full' } as const;
    expect(await endsAfter({ type: 'submitted', result: { ok: true, value: accepted } })).toBe(false);
    expect(await endsAfter({ type: 'submitted', result: { ok: true, value: full } })).toBe(true);
  });

  it.each([
    ['closes its kind after twenty of the same words', 'another refusal', 'route.refused'],
    ['does not close it where each was refused so in an earlier run', why.message, undefined],
  ])('that refuses a button for good %s', async (_, earlierFailure, code) => {
    const { state } = await schedulerRig(grid(1));
    const value = { id: 'T1', state: 'success', status: 'SUCCESS', buttons: gridButtons(1) } as const;
    const customId = value.buttons.find(({ label }) => label === 'U1')?.customId ?? '';
    for (let number = 0; number < 20; number++) {
      expect(state.kinds.closed).toEqual([]);
      const click = job(clickRecord({ key: `k${number}`, pressed: button }), {
        nextRequest: { kind: 'answer' },
        refused: { customId, error: why },
        earlierFailure,
      });
      placeJob(state, undefined, click);
      advance(state, click, { type: 'fetched', why: 'parent', result: { ok: true, value } });
    }
    expect(state.kinds.closed.map(({ closed }) => closed?.code)).toEqual(code === undefined ? [] : [code]);
    expect(state.lifecycle.isEnding).toBe(false);
  });

  it('that was lost is sent again only where the user allows it (--in-doubt retry)', async () => {
    const lost = {
      type: 'submitted',
      result: { ok: false, error: failure('connection.lost', 'lost') },
    } as const;
    const statusOf = async (inDoubt: 'hold' | 'retry') => {
      const sent = job(imagineRecord({ status: 'submitting', attempts: 1 }), {
        nextRequest: { kind: 'answer' },
      });
      const { state } = await waiting(sent, { inDoubt });
      advance(state, jobOf(state, 'aa11'), lost);
      return nextCommit(state).records.map(({ status }) => status);
    };
    // The second one is no job of the plan: it is left to a run that plans it, unpaid.
    expect([await statusOf('hold'), await statusOf('retry')]).toEqual([['in-doubt'], ['pending']]);
  });
});

describe('a reply without a token count', () => {
  const asked = { verdict: { kind: 'done' }, text: { candidates: [] }, artifacts: [] } as const;

  it('is reported once in a run, with its estimate', async () => {
    const { state, keyOf } = await schedulerRig(captions(3));
    admitCells(state);
    dispatch(state);
    for (const cell of [1, 2]) {
      const { record } = jobOf(state, keyOf(cell));
      advance(state, jobOf(state, keyOf(cell)), { type: 'asked', result: { kind: 'answered', asked } });
      expect(state.lookup(record.key)?.assumed).toMatchObject({ answers: 1 });
    }
    const tokens = state.lookup(keyOf(1))?.assumed?.tokens ?? 0;
    expect(tokens).toBeGreaterThan(0);
    const [notice, ...others] = eventsOf(nextCommit(state), 'run:notice');
    expect([notice?.code, others]).toEqual(['tokens.untold', []]);
    expect(notice?.message).toContain(
      `caption in cell 1 has no usable token count: the estimate of about ${tokens} `,
    );
  });

  it('of a job with earlier such replies is reported with its own estimate', async () => {
    const record = textRecord({ status: 'submitting', attempts: 2, assumed: { answers: 1, tokens: 5000 } });
    const { state } = await waiting(job(record, { nextRequest: { kind: 'answer' } }));
    advance(state, jobOf(state, 'cc33'), { type: 'asked', result: { kind: 'answered', asked } });
    const total = state.lookup('cc33')?.assumed?.tokens ?? 0;
    expect(eventsOf(nextCommit(state), 'run:notice')[0]?.message).toContain(`about ${total - 5000} counts`);
  });

  it('is not reported where a reply has its count', async () => {
    const { state, keyOf } = await schedulerRig(captions(1));
    admitCells(state);
    dispatch(state);
    const counted = { ...asked, usage: { total: 7 } };
    advance(state, jobOf(state, keyOf(1)), { type: 'asked', result: { kind: 'answered', asked: counted } });
    expect([eventsOf(nextCommit(state), 'run:notice'), state.notedAssumedTokens]).toEqual([[], false]);
  });
});

describe('the context of a job', () => {
  it('aligns polls that share a request to common times, and no others', async () => {
    const dueIn = async (poll: RunSettings['poll'], now: number) => {
      const { state } = await schedulerRig(grid(1), { poll });
      state.now = now;
      return jobContext(state).pollInMs(imagineRecord(), 0);
    };
    const poll = { minMs: 4000, maxMs: 15_000 };
    const alone = await dueIn(poll, epoch + 1);
    const shared = await dueIn({ ...poll, list: true }, epoch + 1);
    expect((epoch + 1 + shared) % 4000).toBe(0);
    expect(shared).toBeGreaterThanOrEqual(alone);
    expect(shared - alone).toBeLessThan(4000);
    // Without a least time there is nothing to align to.
    expect(Number.isFinite(await dueIn({ minMs: 0, maxMs: 15_000, list: true }, epoch))).toBe(true);
    const each = { minMs: 1, maxMs: 15_000 };
    expect(await dueIn({ ...each, list: true }, epoch)).toBe(Math.ceil(await dueIn(each, epoch)));
  });

  it('knows the prompt that a click inherits', async () => {
    const { state } = await schedulerRig(grid(1), {}, (key) => imagineRecord({ key, status: 'done' }));
    expect(jobContext(state).promptAbove(clickRecord())).toBe('a fox');
  });
});

describe('the budget', () => {
  it('stops text calls as well as submissions, and no polls', async () => {
    const { state } = await schedulerRig(captions(1), { maxSubmits: 0 });
    admitCells(state);
    dispatch(state);
    expect(paidKeys(nextCommit(state))).toEqual([]);
    expect(state.lifecycle.isEnding).toBe(true);
    const { state: polling } = await schedulerRig(grid(2), { maxSubmits: 0 });
    const running = imagineRecord({ key: 'k', status: 'running', taskId: 'T', attempts: 1 });
    placeJob(polling, undefined, job(running, { nextRequest: { kind: 'fetch', taskId: 'T', why: 'poll' } }));
    dispatch(polling);
    expect(nextCommit(polling).effects.map(({ send }) => send.kind)).toEqual(['fetch']);
  });

  it('that waits for a refill ends no run, whether or not a paid request is in flight', async () => {
    const allowance = { refusal: () => 'wait' as const };
    const { state } = await schedulerRig(grid(2), {}, undefined, { shared: { allowance } });
    admitCells(state);
    dispatch(state);
    expect([paidKeys(nextCommit(state)), state.lifecycle.isEnding]).toEqual([[], false]);
    expect(state.routes.hasRoom('submit')).toBe(false);
    state.routes.release();
    expect(state.routes.hasRoom('submit')).toBe(true);
  });

  it('of tokens per minute counts text calls, and no submissions', async () => {
    const tokens = { count: 1, perMs: 60_000 };
    const text = `name: t
steps:
  grid: { imagine: a fox }
  one: { generate: { model: m, prompt: One. } }
  two: { generate: { model: m, prompt: Two. } }
`;
    const { state, keyOf } = await schedulerRig(text, { limits: { tasks: 9, requests: 8, tokens } });
    admitCells(state);
    dispatch(state);
    const keys = paidKeys(nextCommit(state));
    expect(keys).toEqual([keyOf(1, '', 'grid'), keyOf(1, '', 'one')]);
  });
});

describe('task slots', () => {
  it('are given to as many jobs as there are slots, and the others wait', async () => {
    const { state, keyOf } = await schedulerRig(grid(1, 'U1..U4'), { limits: { tasks: 2, requests: 8 } });
    admitCells(state);
    dispatch(state);
    settleJob(state, keyOf(1));
    expect([state.jobs.size, state.jobs.tasksInFlight]).toEqual([4, 0]);
    dispatch(state);
    expect(state.jobs.tasksInFlight).toBe(2);
  });
});

describe('a run that drains', () => {
  it('waits for a button that is being read, and then leaves the click', async () => {
    const { state } = await schedulerRig(grid(1), {}, () =>
      imagineRecord({ key: 'aa11', status: 'done', taskId: 'T1' }),
    );
    const click = job(clickRecord(), { nextRequest: { kind: 'answer' } });
    placeJob(state, undefined, click);
    drain(state, interrupted);
    expect(state.jobs.get('bb22')).toBe(click);
    const value = { id: 'T1', state: 'success', status: 'SUCCESS', buttons: gridButtons(1) } as const;
    advance(state, click, { type: 'fetched', why: 'parent', result: { ok: true, value } });
    expect([state.jobs.size, state.cells.isWhole]).toEqual([0, false]);
    dispatch(state);
    expect(paidKeys(nextCommit(state))).toEqual([]);
  });

  it('has left work where cells were not opened, and opens none', async () => {
    const { state, keyOf } = await schedulerRig(grid(2), { limits: { tasks: 1, requests: 8 } });
    admitCells(state);
    dispatch(state);
    drain(state, interrupted);
    expect([state.cells.isWhole, state.cells.incoming]).toEqual([false, []]);
    settleJob(state, keyOf(1));
    admitCells(state);
    expect(eventsOf(nextCommit(state), 'cell:open').map(({ cell }) => cell)).toEqual([1]);
  });

  it('reports its first cause once, with the tasks in flight', async () => {
    const { state } = await schedulerRig(grid(3), { limits: { tasks: 2, requests: 8 } });
    admitCells(state);
    dispatch(state);
    drain(state, interrupted);
    drain(state, { kind: 'budget', code: 'service.rejected', message: 'm' });
    expect(eventsOf(nextCommit(state), 'run:stopping')).toEqual([
      { type: 'run:stopping', end: interrupted, tasks: 0, requests: 2 },
    ]);
  });
});

describe('the facts that the state has about a job', () => {
  it('include its finished task, even where only the files are missing', async () => {
    const result = { buttons: [] };
    const records = new Map(
      [
        imagineRecord({ key: 'done', status: 'done', taskId: 'T1' }),
        imagineRecord({ key: 'running', status: 'running', taskId: 'T2' }),
        imagineRecord({ key: 'lost file', status: 'failed', taskId: 'T3', result, error: why }),
        imagineRecord({ key: 'failed', status: 'failed', taskId: 'T4', error: why }),
      ].map((record) => [record.key, record]),
    );
    const { state } = await schedulerRig(grid(1), {}, (key) => records.get(key));
    const tasks = ['done', 'running', 'lost file', 'failed', 'unknown', undefined].map((key) =>
      taskOf(state, key),
    );
    expect(tasks).toEqual(['T1', undefined, 'T3', undefined, undefined, undefined]);
  });

  it('include its failure, unless every slot that needs it calls its button optional', async () => {
    const missing = { code: 'button.missing' as const, message: 'm' };
    const failed = async (path: string, changes = {}) => {
      const parent = imagineRecord({ status: 'done', taskId: 'T1', result: { buttons: gridButtons(1) } });
      const records = new Map<string, ReturnType<typeof imagineRecord>>();
      const { state, keyOf } = await schedulerRig(grid(1, path), {}, (key) => records.get(key));
      records.set(keyOf(1), { ...parent, key: keyOf(1) });
      const key = keyOf(1, path.replace('?', ''));
      admitCells(state);
      const record = clickRecord({ key, parent: keyOf(1), status: 'failed', error: missing, ...changes });
      state.jobs.put({ ...jobOf(state, key), record });
      return isFailure(state, record);
    };
    expect([await failed('U9'), await failed('U9?')]).toEqual([true, false]);
    expect(await failed('U9?', { error: why })).toBe(true);
    expect(await failed('U9', { status: 'done' })).toBe(false);
  });
});

describe('a task', () => {
  const accepted = {
    type: 'submitted',
    result: { ok: true, value: { kind: 'accepted', code: 1, taskId: 'T1' } },
  } as const;
  const finished = {
    type: 'fetched',
    why: 'poll',
    result: {
      ok: true,
      value: { id: 'T1', state: 'success', status: 'SUCCESS', imageUrl: 'https://i', buttons: [] },
    },
  } as const;

  it('shows how long later ones take: they are polled when they are likely to be finished', async () => {
    const sent = job(imagineRecord({ status: 'submitting', attempts: 1, submittedAt: epoch }), {
      nextRequest: { kind: 'answer' },
    });
    const { state } = await waiting(sent, { poll: { minMs: 1000, maxMs: 60_000 } });
    const next = imagineRecord({ key: 'next' });
    const before = jobContext(state).pollInMs(next, 0);
    advance(state, jobOf(state, 'aa11'), accepted);
    state.now = epoch + 40_000;
    advance(state, jobOf(state, 'aa11'), finished);
    const after = jobContext(state).pollInMs(next, 0);
    expect(after).toBeGreaterThan(before);
    expect(after).toBeLessThanOrEqual(60_000);
  });

  it('that was found beside the adopted one is in the history of its job', async () => {
    const record = imagineRecord({ attempts: 2, doubtful: { count: 2, since: epoch } });
    const { state } = await waiting(job(record, { nextRequest: { kind: 'answer' } }));
    const value = ['T1', 'T2', 'T3'].map((id) => ({ ...finished.result.value, id }));
    advance(state, jobOf(state, 'aa11'), { type: 'searched', result: { ok: true, value } });
    expect(nextCommit(state).attempts.map(({ taskId, outcome }) => [taskId, outcome])).toEqual([
      ['T1', 'found'],
      ['T2', 'found.unused'],
      ['T3', 'found.unused'],
    ]);
  });

  it('left by an earlier run goes before the jobs of this run where it has to be made again', async () => {
    const { state } = await schedulerRig(grid(2));
    adoptJob(state, imagineRecord({ key: 'left', origin: { cell: 9, step: 'grid', branch: '', slot: 's' } }));
    admitCells(state);
    expect(state.jobs.takeForSlot()?.record.key).toBe('left');
  });
});
