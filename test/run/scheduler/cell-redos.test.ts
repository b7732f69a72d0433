import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { become } from '../../../src/run/machine/job.ts';
import { admitCells } from '../../../src/run/scheduler/cell-admission.ts';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { drain } from '../../../src/run/scheduler/drain.ts';
import { adoptJob } from '../../../src/run/scheduler/place-job.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { clickRecord, epoch, imagineRecord, textRecord } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import { eventsOf, jobOf, paidKeys, schedulerRig, settleJob } from './scheduler-rig.ts';

const interrupted = { kind: 'interrupted', forced: false } as const;

/** Jobs that an earlier run finished. */
function finished(...records: readonly JobRecord[]) {
  const byKey = new Map(records.map((record) => [record.key, record]));
  return (key: string): JobRecord | undefined => byKey.get(key);
}

const artifacts = [{ output: 1, file: 'a.png', bytes: 5, sha256: 'h', mime: 'image/png' }];
const done = { status: 'done', attempts: 1, invocation: 1, submittedAt: epoch - 9000, artifacts } as const;
const gridDone = (key: string, changes: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({ key, ...done, taskId: 'P1', result: { buttons: gridButtons(1) }, ...changes });
const clickDone = (key: string, parent: string, changes: Partial<JobRecord> = {}): JobRecord =>
  clickRecord({
    key,
    parent,
    ...done,
    taskId: 'C1',
    parentTaskId: 'P1',
    result: { buttons: [], imageUrl: 'https://i/1' },
    ...changes,
  });

/** A grid and its click, both done by an earlier run, of which these are to be made again. */
async function pressed(redo: readonly ('grid' | 'U1')[], changes = {}) {
  const { keyOf: plain } = await schedulerRig(grid(1), {});
  const key = plain(1);
  const { keyOf } = await schedulerRig(grid(1, 'U1'), {}, finished(gridDone(key)));
  const click = keyOf(1, 'U1');
  const keys = redo.map((what) => (what === 'grid' ? key : click));
  const durable = finished(gridDone(key), clickDone(click, key));
  const { state } = await schedulerRig(grid(1, 'U1'), {}, durable, { ...changes, ...waiting(...keys) });
  admitCells(state);
  return { state, key, click };
}

/** An open order of these jobs. */
const waiting = (...keys: readonly (string | undefined)[]) => ({
  redo: (key: string) => (keys.includes(key) ? ('waiting' as const) : undefined),
});

/** Keys of the active jobs. */
const active = ({ jobs }: Awaited<ReturnType<typeof pressed>>['state']): readonly string[] =>
  [...jobs.all()].map(({ record }) => record.key);

describe('a job that is to be redone', () => {
  it('is the only one that begins: other finished jobs stay unchanged', async () => {
    const { state, click } = await pressed(['U1']);
    expect(active(state)).toEqual([click]);
    expect(jobOf(state, click)).toMatchObject({
      parentTaskId: 'P1',
      record: { status: 'pending', former: { taskId: 'C1' } },
    });
  });

  it('has the jobs below it redone once it is done, from its new task', async () => {
    const { state, key, click } = await pressed(['grid']);
    expect(active(state)).toEqual([key]);
    dispatch(state);
    settleJob(state, key, 'done', {
      taskId: 'P2',
      former: undefined,
      redone: { count: 1, first: {} },
      artifacts,
    });
    expect(active(state)).toEqual([click]);
    expect(jobOf(state, click)).toMatchObject({
      parentTaskId: 'P2',
      record: { status: 'pending', from: { [key]: 1 } },
    });
  });

  it('goes before a job below it that is to be redone too', async () => {
    const { state, key, click } = await pressed(['U1', 'grid']);
    expect(active(state)).toEqual([key]);
    dispatch(state);
    settleJob(state, key, 'done', {
      taskId: 'P2',
      former: undefined,
      redone: { count: 1, first: {} },
      artifacts,
    });
    expect(jobOf(state, click).parentTaskId).toBe('P2');
    dispatch(state);
    settleJob(state, click, 'done', {
      taskId: 'C2',
      former: undefined,
      redone: { count: 1, first: {} },
      artifacts,
    });
    expect([active(state), state.cells.open.size]).toEqual([[], 0]);
    expect([key, click].map((one) => state.outbox.redo(one))).toEqual(['made', 'made']);
  });

  it('does not begin where its step may not run', async () => {
    const { state } = await pressed(['grid'], { steps: new Set(['other']) });
    expect([active(state), state.cells.open.size]).toEqual([[], 0]);
  });

  it('does not begin in a run that ends: jobs below it stay until a later run', async () => {
    const { state, key } = await pressed(['grid']);
    dispatch(state);
    drain(state, interrupted);
    settleJob(state, key, 'done', {
      taskId: 'P2',
      former: undefined,
      redone: { count: 1, first: {} },
      artifacts,
    });
    expect(active(state)).toEqual([]);
    const commit = state.outbox.take();
    expect(paidKeys(commit)).toEqual([key]);
    expect(eventsOf(commit, 'cell:left', 'cell:close')).toEqual([{ type: 'cell:left', cell: 1 }]);
    expect(state.cells.isWhole).toBe(false);
  });

  it('begins once where two cells share it', async () => {
    const text = 'name: t\nmatrix: { unused: [x, y] }\nsteps: { grid: { imagine: a fox } }\n';
    const { keyOf } = await schedulerRig(text);
    const key = keyOf(1);
    const { state } = await schedulerRig(text, {}, finished(gridDone(key)), waiting(key));
    admitCells(state);
    dispatch(state);
    expect([paidKeys(state.outbox.take()), state.cells.open.awaiting(key).length]).toEqual([[key], 2]);
    settleJob(state, key, 'done', { former: undefined, redone: { count: 1, first: {} }, artifacts });
    expect([active(state), state.cells.open.size]).toEqual([[], 0]);
  });

  it('goes before a job below it, in any order of the steps in the file', async () => {
    const text = `name: t
steps:
  third: { generate: { model: m, prompt: 'Then {{ steps.second.text }}' } }
  second: { generate: { model: m, prompt: 'After {{ steps.first.text }}' } }
  first: { generate: { model: m, prompt: Begin. } }
`;
    const said = (key: string): JobRecord =>
      textRecord({
        key,
        ...done,
        artifacts: [],
        text: { candidates: [{ text: 'Hello.', isJson: false, parts: [{ text: 'Hello.' }] }] },
      });
    const { keyOf } = await schedulerRig(text, {}, said);
    const [first, second, third] = ['first', 'second', 'third'].map((step) => keyOf(1, '', step));
    const { state } = await schedulerRig(
      text,
      {},
      (key) => ({
        ...said(key),
        ...(key === second && { from: { [first ?? '']: 0 } }),
        ...(key === third && { from: { [second ?? '']: 0 } }),
      }),
      waiting(first, third),
    );
    admitCells(state);
    expect(active(state).map((key) => [first, second, third].indexOf(key))).toEqual([0]);
  });
});

describe('a job that shows the result of another', () => {
  const text = `name: t
steps:
  grid: { imagine: a fox }
  caption: { from: grid, generate: { model: m, prompt: Caption it., images: [parent] } }
  upscale: { from: grid, click: U1 }
`;

  it('begins only once that result is redone', async () => {
    const { keyOf: plain } = await schedulerRig(text);
    const key = plain(1, '', 'grid');
    const { state, keyOf } = await schedulerRig(text, {}, finished(gridDone(key)), waiting(key));
    admitCells(state);
    expect(active(state)).toEqual([key]);
    dispatch(state);
    settleJob(state, key, 'done', {
      taskId: 'P2',
      former: undefined,
      redone: { count: 1, first: {} },
      artifacts,
    });
    expect(new Set(active(state))).toEqual(new Set([keyOf(1, '', 'caption'), keyOf(1, 'U1', 'upscale')]));
  });
});

describe('a finished job whose result is outdated', () => {
  it('is redone once all that it shows is there, though only files of that were missing', async () => {
    const text = `name: t
steps:
  a: { imagine: a fox }
  b: { imagine: an owl }
  c: { generate: { model: m, prompt: Compare., images: [steps.a, steps.b] } }
`;
    const { keyOf: plain } = await schedulerRig(text);
    const [a, b] = [plain(1, '', 'a'), plain(1, '', 'b')];
    const saving = gridDone(b, {
      status: 'saving',
      artifacts: [],
      result: { buttons: [], imageUrl: 'https://i/b' },
    });
    const shown = finished(gridDone(a, { redone: { count: 1, first: {} } }), gridDone(b));
    const { keyOf } = await schedulerRig(text, {}, shown);
    const c = keyOf(1, '', 'c');
    const said = { candidates: [{ text: 'Hm.', isJson: false, parts: [{ text: 'Hm.' }] }] };
    const old = textRecord({ key: c, ...done, artifacts: [], from: { [a]: 0, [b]: 0 }, text: said });
    const { state } = await schedulerRig(
      text,
      {},
      finished(gridDone(a, { redone: { count: 1, first: {} } }), saving, old),
    );
    adoptJob(state, saving);
    admitCells(state);
    expect(active(state)).toEqual([b]);
    settleJob(state, b, 'done', { artifacts });
    expect([active(state), jobOf(state, c).record.status]).toEqual([[c], 'pending']);
  });
});

describe('a redo whose kind is closed', () => {
  it('does not begin, and its order stays open', async () => {
    const { keyOf } = await schedulerRig(grid(1));
    const key = keyOf(1);
    const { state } = await schedulerRig(grid(1), {}, finished(gridDone(key)), waiting(key));
    state.kinds.find('submit', 'imagine').closed = { code: 'route.refused', message: 'no' };
    admitCells(state);
    const commit = state.outbox.take();
    expect([active(state), commit.records, state.outbox.redo(key)]).toEqual([[], [], undefined]);
    expect(eventsOf(commit, 'cell:left', 'cell:close')).toEqual([{ type: 'cell:left', cell: 1 }]);
  });

  it('leaves its cell to a later run, also where another job of the cell ends first', async () => {
    const text = `name: t
steps:
  a: { imagine: a fox }
  b: { generate: { model: m, prompt: Say hello. } }
`;
    const { keyOf } = await schedulerRig(text);
    const key = keyOf(1, '', 'a');
    const { state } = await schedulerRig(text, {}, finished(gridDone(key)), waiting(key));
    state.kinds.find('submit', 'imagine').closed = { code: 'route.refused', message: 'no' };
    admitCells(state);
    dispatch(state);
    settleJob(state, keyOf(1, '', 'b'));
    expect(eventsOf(state.outbox.take(), 'cell:left', 'cell:close')).toEqual([
      { type: 'cell:left', cell: 1 },
    ]);
  });
});

describe('the jobs of a cell', () => {
  const twice = (first: string, second: string): string =>
    `name: t\nsteps:\n  a: { imagine: a fox${first} }\n  b: { imagine: a fox${second} }\n`;

  it.each([
    ['the second', twice(', keep: false', '')],
    ['the first', twice('', ', keep: false')],
  ])('with equal requests are one, whose file is kept where only %s slot wants it', async (_, text) => {
    const { state, keyOf } = await schedulerRig(text);
    admitCells(state);
    expect([state.jobs.size, jobOf(state, keyOf(1)).record.keep]).toEqual([1, true]);
  });

  it('keep no file that no slot wants', async () => {
    const { state, keyOf } = await schedulerRig(twice(', keep: false', ', keep: false'));
    admitCells(state);
    expect(jobOf(state, keyOf(1)).record.keep).toBe(false);
  });

  const two = 'name: t\nsteps:\n  a: { imagine: a fox }\n  b: { imagine: an owl }\n';

  it('stay unchanged when another one is settled: a request in flight in this run is not in doubt', async () => {
    const { state, keyOf } = await schedulerRig(two);
    admitCells(state);
    dispatch(state);
    state.outbox.take();
    state.outbox.onDurable();
    settleJob(state, keyOf(1, '', 'a'));
    expect(jobOf(state, keyOf(1, '', 'b')).record.status).toBe('submitting');
    const commit = state.outbox.take();
    expect(commit.records.map(({ key }) => key)).toEqual([keyOf(1, '', 'a')]);
    expect(eventsOf(commit, 'cell:close')).toEqual([]);
  });

  it('are left with the cell once the last one in flight is settled, where the run ends', async () => {
    const { state, keyOf } = await schedulerRig(two, { limits: { tasks: 2, requests: 1 } });
    admitCells(state);
    dispatch(state);
    drain(state, interrupted);
    expect(eventsOf(state.outbox.take(), 'cell:left')).toEqual([]);
    state.outbox.onDurable();
    settleJob(state, keyOf(1, '', 'a'));
    expect(eventsOf(state.outbox.take(), 'cell:left', 'cell:close')).toEqual([
      { type: 'cell:left', cell: 1 },
    ]);
  });

  it('that were recovered are counted once, where two slots need one', async () => {
    const text = twice('', '');
    const { state } = await schedulerRig(
      text,
      {},
      (key) => imagineRecord({ key, status: 'submitting', attempts: 1, submittedAt: epoch - 9 }),
      { price: () => 1 },
    );
    admitCells(state);
    const { records, events } = state.outbox.take();
    expect(records).toMatchObject([{ status: 'in-doubt', doubtful: { count: 1, cost: 1 } }]);
    expect(events.filter(({ type }) => type === 'job:status')).toHaveLength(1);
  });

  it('show by a click of an earlier run that its button works', async () => {
    const { keyOf: plain } = await schedulerRig(grid(1));
    const { keyOf } = await schedulerRig(grid(1, 'U1'), {}, finished(gridDone(plain(1))));
    const durable = finished(gridDone(plain(1)), clickDone(keyOf(1, 'U1'), plain(1)));
    const { state } = await schedulerRig(grid(1, 'U1'), {}, durable);
    admitCells(state);
    const refused = { code: 'submit.refused' as const, message: 'no' };
    const button = { customId: 'c', label: 'U1', emoji: '' };
    const origin = { cell: 2, step: 'grid', branch: 'U1', slot: 's' };
    const failed = become(clickRecord({ origin, pressed: button }), 'failed', { error: refused });
    const ends = Array.from({ length: 40 }, () => state.clicks.failed(failed));
    expect(ends.filter((end) => end !== undefined)).toEqual([]);
    const elsewhere = { ...failed, origin: { ...origin, branch: '' } };
    const others = Array.from({ length: 20 }, () => state.clicks.failed(elsewhere));
    expect(others.at(-1)).toMatchObject({ code: 'click.never-works' });
  });
});
