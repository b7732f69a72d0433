import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { become } from '../../../src/run/machine/job.ts';
import { admitCells, visitDueCells } from '../../../src/run/scheduler/cell-admission.ts';
import { dispatch } from '../../../src/run/scheduler/dispatch.ts';
import { drain, halt, leaveCell } from '../../../src/run/scheduler/drain.ts';
import { placeJob, returnToCells } from '../../../src/run/scheduler/place-job.ts';
import { wantsCells } from '../../../src/run/scheduler/state/queries.ts';
import type { SchedulerState } from '../../../src/run/scheduler/state/state.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { clickRecord, epoch, imagineRecord, textRecord } from '../../rig/jobs.ts';
import { grid } from '../../rig/world.ts';
import {
  captions,
  eventsOf,
  jobOf,
  optionsOf,
  paidKeys,
  type SchedulerRig,
  schedulerRig,
  settleJob,
} from './scheduler-rig.ts';

const interrupted = { kind: 'interrupted', forced: false } as const;

/** Key of the only job that is active. */
const keyOfOther = ({ jobs }: SchedulerState): string => [...jobs.all()][0]?.record.key ?? '';

describe('admitCells', () => {
  it('opens cells in order, as many as tasks may be begun', async () => {
    const { state } = await schedulerRig(grid(10), { limits: { tasks: 3, requests: 8 } });
    admitCells(state);
    expect(eventsOf(state.outbox.take(), 'cell:open').map(({ cell }) => cell)).toEqual([1, 2, 3]);
    expect([state.jobs.size, state.cells.open.size, state.cells.incoming.length]).toEqual([3, 3, 7]);
  });

  it('opens the last cells before there are slots, and their first jobs go before deeper ones', async () => {
    const { state, keyOf } = await schedulerRig(grid(8, 'U1'), { limits: { tasks: 3, requests: 8 } });
    admitCells(state);
    expect([state.cells.open.size, state.cells.incoming.length]).toEqual([3, 5]);
    for (let slot = 0; slot < 3; slot += 1) state.jobs.takeForSlot();
    for (const cell of [1, 2, 3]) settleJob(state, keyOf(cell));
    admitCells(state);
    // Deeper first: the three buttons take the slots, and no cell is opened.
    expect([state.cells.open.size, state.cells.incoming.length]).toEqual([3, 5]);
    for (const cell of [1, 2, 3]) settleJob(state, keyOf(cell, 'U1'));
    admitCells(state);
    // Two are left: fewer than the slots.
    expect([state.cells.open.size, state.cells.incoming.length]).toEqual([5, 0]);
    for (const cell of [4, 5]) settleJob(state, keyOf(cell));
    expect(state.jobs.takeForSlot()?.record.key).toBe(keyOf(6));
  });

  it('opens a cell that was put off even if the one before it took long', async () => {
    const putBack = (key: string): JobRecord =>
      imagineRecord({ key, status: 'pending', putBack: true, attempts: 1 });
    const { state } = await schedulerRig(grid(1), {}, putBack);
    state.isLong = () => true;
    admitCells(state);
    expect([state.cells.open.size, state.jobs.size]).toEqual([1, 1]);
  });

  describe('puts cells off whose jobs an earlier run put back', () => {
    const two = (cells: number): string => `name: t
matrix: { n: { from: 1, to: ${cells} } }
steps:
  a: { imagine: "a {{ n }}" }
  b: { imagine: "b {{ n }}" }
`;

    /** The order in which cells are opened, one at a time, where jobs were put back after so many attempts. */
    async function order(text: string, records: (keyOf: SchedulerRig['keyOf']) => readonly JobRecord[]) {
      const byKey = new Map<string, JobRecord>();
      const { state, cells, keyOf } = await schedulerRig(text, {}, (key) => byKey.get(key));
      for (const record of records(keyOf)) byKey.set(record.key, record);
      admitCells(state);
      expect(state.cells.open.size).toBe(cells.length);
      return eventsOf(state.outbox.take(), 'cell:open').map(({ cell }) => cell);
    }
    const back = (key: string, attempts: number): JobRecord =>
      imagineRecord({ key, attempts, putBack: true });

    it('until all others are opened: first those with the job that was tried least', async () => {
      const opened = await order(two(4), (keyOf) => [
        back(keyOf(1, '', 'a'), 3),
        back(keyOf(2, '', 'a'), 9),
        back(keyOf(2, '', 'b'), 1),
        back(keyOf(3, '', 'b'), 2),
      ]);
      expect(opened).toEqual([4, 2, 3, 1]);
    });

    it('not where such a job cannot begin yet', async () => {
      const done = { status: 'done', taskId: 'P1', result: { buttons: gridButtons(1) } } as const;
      const opened = await order(grid(2, 'U1'), (keyOf) => {
        const key = keyOf(1);
        return [
          imagineRecord({ key, ...done, status: 'pending' }),
          clickRecord({ key: keyOf(1, 'U1'), parent: key, putBack: true, attempts: 1 }),
        ];
      });
      expect(opened).toEqual([1, 2]);
    });

    it('up to a bound', async () => {
      const { state, cells } = await schedulerRig(grid(1), {}, (key) => back(key, 1));
      const [cell] = cells;
      if (cell === undefined) throw new Error('no cell');
      state.cells.openedLast = Array.from({ length: 4096 }, () => ({ cell, tries: 1 }));
      state.cells.areAllGiven = false;
      admitCells(state);
      expect([state.cells.open.size, state.cells.openedLast.length]).toEqual([1, 4096]);
    });
  });

  it('opens as many cells of text calls as may be in flight', async () => {
    const { state } = await schedulerRig(captions(10), { limits: { tasks: 1, requests: 8 } });
    admitCells(state);
    // No image task is made: the text calls use all requests.
    expect(state.cells.open.size).toBe(8);
  });

  it('opens the next cell once a cell is closed', async () => {
    const { state, keyOf } = await schedulerRig(grid(3), { limits: { tasks: 1, requests: 8 } });
    admitCells(state);
    dispatch(state);
    settleJob(state, keyOf(1));
    admitCells(state);
    expect(eventsOf(state.outbox.take(), 'cell:open', 'cell:close')).toEqual([
      { type: 'cell:open', cell: 1 },
      { type: 'cell:close', cell: 1 },
      { type: 'cell:open', cell: 2 },
    ]);
  });

  it('closes a cell at once whose jobs are all done', async () => {
    const { state } = await schedulerRig(grid(2), {}, (key) => imagineRecord({ key, status: 'done' }));
    admitCells(state);
    expect(eventsOf(state.outbox.take(), 'cell:close').map(({ cell }) => cell)).toEqual([1, 2]);
    expect([state.jobs.size, state.cells.open.size, state.cells.isWhole]).toEqual([0, 0, true]);
  });

  it('begins a click once the grid that it presses is done', async () => {
    const { state, keyOf } = await schedulerRig(grid(1, 'U1'));
    admitCells(state);
    expect([...state.jobs.all()].map(({ depth }) => depth)).toEqual([0]);
    settleJob(state, keyOf(1));
    expect(jobOf(state, keyOf(1, 'U1'))).toMatchObject({ parentTaskId: '7', depth: 1 });
  });

  describe('where nothing is left but the jobs that it waits for', () => {
    const shared = 'name: t\nsteps: { grid: { imagine: a fox, path: "U1,U2" } }\n';

    /** A run of a grid with two buttons, whose cell was visited with the grid done, and how often the plan was asked since. */
    async function pressing() {
      const { options, cells } = await optionsOf(shared);
      let asked = 0;
      const resolve = (...given: Parameters<typeof options.resolve>) => {
        asked += 1;
        return options.resolve(...given);
      };
      const { state, keyOf } = await schedulerRig(shared, {}, undefined, { resolve });
      expect(cells).toHaveLength(1);
      admitCells(state);
      settleJob(state, keyOf(1));
      const [u1, u2] = [keyOf(1, 'U1'), keyOf(1, 'U2')];
      asked = 0;
      return { state, u1, u2, asked: () => asked };
    }

    it('is not resolved again as they are done, and closes with the last one', async () => {
      const { state, u1, u2, asked } = await pressing();
      settleJob(state, u1);
      expect([asked(), state.cells.open.size]).toEqual([0, 1]);
      settleJob(state, u2);
      expect([asked(), state.cells.open.size]).toEqual([0, 0]);
      expect(eventsOf(state.outbox.take(), 'cell:close')).toHaveLength(1);
    });

    it('is resolved again when one of them fails', async () => {
      const { state, u1, asked } = await pressing();
      settleJob(state, u1, 'failed', { error: { code: 'task.failed', message: 'no' } });
      expect(asked()).toBeGreaterThan(0);
    });

    it('takes up again one that was left to it, though the last other one is done before', async () => {
      const { state, u1, u2 } = await pressing();
      returnToCells(state, jobOf(state, u1));
      settleJob(state, u2);
      expect([[...state.jobs.all()].map(({ record }) => record.key), state.cells.open.size]).toEqual([
        [u1],
        1,
      ]);
    });

    it('is resolved again when one of them was redone', async () => {
      const { state, u1, asked } = await pressing();
      settleJob(state, u1, 'done', { redone: { count: 1, first: {} } });
      expect(asked()).toBeGreaterThan(0);
    });

    it('counts its click as one that works', async () => {
      const { state, u1 } = await pressing();
      settleJob(state, u1);
      const failed = { code: 'button.missing' as const, message: 'there is no button U1' };
      const { record } = jobOf(state, keyOfOther(state));
      const click = {
        ...record,
        key: 'other',
        status: 'failed',
        error: failed,
        origin: { ...record.origin, branch: 'U1' },
      } as const;
      for (let times = 0; times < 30; times += 1) expect(state.clicks.failed(click)).toBeUndefined();
    });
  });

  it('adds once a job that two cells share, and closes both when the job is settled', async () => {
    const { state, keyOf } = await schedulerRig(
      'name: t\nmatrix: { unused: [x, y] }\nsteps: { grid: { imagine: a fox } }\n',
    );
    admitCells(state);
    expect([state.jobs.size, state.cells.open.size]).toEqual([1, 2]);
    settleJob(state, keyOf(1));
    expect(eventsOf(state.outbox.take(), 'cell:close').map(({ cell }) => cell)).toEqual([1, 2]);
  });

  it('begins a finished job of --redo again, once', async () => {
    const rig = await schedulerRig(grid(1));
    const key = rig.keyOf(1);
    const done = imagineRecord({ key, status: 'done', taskId: '3', result: { buttons: [] } });
    const { state } = await schedulerRig(grid(1), {}, () => done, { redo: () => 'waiting' });
    admitCells(state);
    expect(jobOf(state, key).record.status).toBe('pending');
    dispatch(state);
    settleJob(state, key, 'done', { former: undefined, redone: { count: 1, first: {} } });
    expect([state.jobs.size, state.outbox.redo(key)]).toEqual([0, 'made']);
  });

  it('leaves out the jobs of steps that are not chosen', async () => {
    const { state } = await schedulerRig(grid(2), {}, () => undefined, { steps: new Set(['other']) });
    admitCells(state);
    expect(state.jobs.size).toBe(0);
    expect(eventsOf(state.outbox.take(), 'cell:close')).toHaveLength(2);
  });

  it('requests as many cells ahead as there are slots', async () => {
    const { state } = await schedulerRig(grid(6), { limits: { tasks: 3, requests: 8 } });
    state.cells.areAllGiven = false;
    admitCells(state);
    expect([state.cells.incoming.length, wantsCells(state)]).toEqual([3, false]);
    state.cells.incoming.pop();
    expect(wantsCells(state)).toBe(true);
    const { state: roomy } = await schedulerRig(grid(3));
    roomy.cells.areAllGiven = false;
    admitCells(roomy);
    expect(wantsCells(roomy)).toBe(true);
    drain(roomy, interrupted);
    expect(wantsCells(roomy)).toBe(false);
  });
});

describe('a cell that is due', () => {
  const text = `name: t
steps:
  a: { imagine: a fox, path: U1 }
  b: { imagine: an owl }
`;

  /** A cell whose first job has failed, and that was not resolved since. */
  async function due() {
    const { state, keyOf } = await schedulerRig(text);
    admitCells(state);
    dispatch(state);
    state.outbox.take();
    state.outbox.onDurable();
    const settle = (step: string, status: 'done' | 'failed') => {
      const one = jobOf(state, keyOf(1, '', step));
      const error = { code: 'task.failed' as const, message: 'no' };
      const record = become(one.record, status, status === 'failed' ? { error, invocation: 2 } : {});
      placeJob(state, one, { ...one, record, nextRequest: { kind: 'nothing' } });
    };
    settle('a', 'failed');
    return { state, settle };
  }
  const events = (state: SchedulerState) =>
    eventsOf(state.outbox.take(), 'slot:status', 'cell:close', 'cell:left').map((event) =>
      event.type === 'slot:status' ? [event.branch, event.status] : event.type,
    );

  it('reports what its failed job blocks, though another job is done before it is resolved', async () => {
    const { state, settle } = await due();
    settle('b', 'done');
    visitDueCells(state);
    expect(events(state)).toEqual([['U1', 'blocked'], 'cell:close']);
  });

  it('reports what its failed job blocks, though the run ends before it is resolved', async () => {
    const { state } = await due();
    const waiting = [...state.jobs.all()].map((one) => ({
      ...one,
      nextRequest: { kind: 'task-slot' } as const,
    }));
    for (const one of waiting) state.jobs.put({ ...one, record: become(one.record, 'pending') });
    drain(state, interrupted);
    expect(state.cells.open.size).toBe(1);
    visitDueCells(state);
    expect(events(state)).toEqual([['U1', 'blocked'], 'cell:left']);
  });

  it('is left at once where the run halts', async () => {
    const { state } = await due();
    const one = [...state.jobs.all()][0];
    if (one !== undefined)
      state.jobs.put({ ...one, record: become(one.record, 'pending'), nextRequest: { kind: 'task-slot' } });
    halt(state, { kind: 'stopped', code: 'service.rejected', message: 'm' });
    expect([events(state), state.cells.open.size]).toEqual([['cell:left'], 0]);
  });
});

describe('a cell that is left', () => {
  async function held() {
    const { state, cells } = await schedulerRig(grid(1));
    const lease = { slice: 1, epoch: 1 };
    state.slices.give(cells, state.slices.lease(1, 1));
    const [cell] = cells;
    if (cell === undefined) throw new Error('no cell');
    return { state, open: state.cells.open.open(cell, lease) };
  }

  it('is over for its slice in this run, except where the run ends: a later one gets all cells of the slice', async () => {
    for (const isEnding of [false, true]) {
      const { state, open } = await held();
      if (isEnding) drain(state, interrupted);
      leaveCell(state, open);
      expect([state.slices.of(1)?.cells, state.cells.open.size]).toEqual([isEnding ? 1 : 0, 0]);
    }
  });

  it('waits for no job of another worker any more', async () => {
    const { state, open } = await held();
    state.slices.awaited.add('theirs');
    state.cells.open.waitFor(open, new Set(['theirs']));
    drain(state, interrupted);
    expect([state.slices.awaited.size, state.cells.open.size]).toEqual([0, 0]);
    expect(eventsOf(state.outbox.take(), 'cell:left')).toEqual([{ type: 'cell:left', cell: 1 }]);
  });
});

describe('a cell above a kind that is closed', () => {
  const below = `name: t
steps:
  picture: { imagine: a fox }
  words: { describe: { image: steps.picture } }
`;

  /** What becomes of a cell whose picture is as in this record. */
  async function visited(changes: Partial<JobRecord> | undefined) {
    let picture = '';
    const { state, keyOf } = await schedulerRig(below, {}, (key) =>
      key === picture && changes !== undefined ? imagineRecord({ key, ...changes }) : undefined,
    );
    picture = keyOf(1, '', 'picture');
    state.kinds.find('submit', 'describe').closed = { code: 'service.no-channel', message: 'no' };
    admitCells(state);
    return [state.jobs.get(picture) !== undefined, state.cells.left];
  }

  it('is counted as not begun where none of its jobs was', async () => {
    expect(await visited(undefined)).toEqual([false, 1]);
    expect(await visited({ status: 'pending' })).toEqual([false, 1]);
  });

  it.each<[string, Partial<JobRecord>]>([
    ['tried once', { status: 'pending', attempts: 1 }],
    ['tried often', { status: 'pending', attempts: 3, tries: 2 }],
  ])('continues where its job was %s', async (_how, changes) => {
    expect(await visited(changes)).toEqual([true, 0]);
  });
});

describe('a cell of which one job is of a closed kind', () => {
  const closed = { code: 'service.no-channel', message: 'no' } as const;

  it('is not counted as not begun where another job of it begins', async () => {
    const text = `name: t
steps:
  picture: { imagine: a fox }
  words: { generate: { model: m, prompt: Say hello. } }
`;
    const { state } = await schedulerRig(text);
    state.kinds.find('submit', 'imagine').closed = closed;
    admitCells(state);
    expect([state.jobs.size, state.cells.left, state.cells.isWhole]).toEqual([1, 0, false]);
  });

  it('begins where the step of that job is not chosen', async () => {
    const text = `name: t
steps:
  picture: { imagine: a fox }
  words: { describe: { image: steps.picture } }
`;
    const { state } = await schedulerRig(text, {}, undefined, { steps: new Set(['picture']) });
    state.kinds.find('submit', 'describe').closed = closed;
    admitCells(state);
    expect([state.jobs.size, state.cells.left]).toEqual([1, 0]);
  });

  it('is left where only the button of the job shows its kind', async () => {
    const { keyOf: plain } = await schedulerRig(grid(1));
    const key = plain(1);
    const parent = imagineRecord({ key, status: 'done', taskId: 'P1', result: { buttons: gridButtons(1) } });
    const { keyOf } = await schedulerRig(grid(1, 'U1'), {}, (one) => (one === key ? parent : undefined));
    const pressed = { customId: 'MJ::JOB::upsample::1::1', label: 'U1', emoji: '' };
    const click = clickRecord({ key: keyOf(1, 'U1'), parent: key, pressed, attempts: 1 });
    const { state } = await schedulerRig(grid(1, 'U1'), {}, (one) => (one === key ? parent : click));
    const kind = state.kinds.of({ record: click });
    if (kind === undefined) throw new Error('no kind');
    kind.closed = closed;
    admitCells(state);
    const events = eventsOf(state.outbox.take(), 'cell:left', 'cell:close');
    expect([state.jobs.size, events]).toEqual([0, [{ type: 'cell:left', cell: 1 }]]);
  });

  it('is left where its job was left before, and the kind is open', async () => {
    const { state, keyOf } = await schedulerRig(grid(1));
    state.kinds.find('submit', 'imagine').leave(keyOf(1));
    admitCells(state);
    const events = eventsOf(state.outbox.take(), 'cell:left', 'cell:close');
    expect([state.jobs.size, events]).toEqual([0, [{ type: 'cell:left', cell: 1 }]]);
  });
});

it('reports again what a retried job blocks, whatever else begins in its cell', async () => {
  const text = `name: t
steps:
  a: { imagine: a fox, path: U1 }
  b: { imagine: an owl }
`;
  const error = { code: 'task.failed', message: 'no' } as const;
  const { keyOf } = await schedulerRig(text);
  const failed = imagineRecord({
    key: keyOf(1, '', 'a'),
    status: 'failed',
    attempts: 1,
    invocation: 1,
    error,
  });
  const { state } = await schedulerRig(text, { retryFailed: {} }, (key) =>
    key === failed.key ? failed : undefined,
  );
  admitCells(state);
  dispatch(state);
  settleJob(state, failed.key, 'failed', { error });
  expect(eventsOf(state.outbox.take(), 'slot:status')).toMatchObject([{ branch: 'U1', status: 'blocked' }]);
});

describe('an open cell', () => {
  it('has more to come while a slot is pending for which none of its jobs is, and else needs no other look', async () => {
    const { state, keyOf } = await schedulerRig(grid(1, 'U1'));
    admitCells(state);
    const [open] = state.cells.open.all();
    expect([open?.hasMore, open?.isComplete]).toEqual([true, false]);
    settleJob(state, keyOf(1));
    expect([open?.hasMore, open?.isComplete]).toEqual([false, true]);
  });
});

describe('a job in submitting that a cell finds', () => {
  const submitting = (record: JobRecord): JobRecord =>
    become(record, 'submitting', { attempts: 1, tries: 1, submittedAt: epoch - 5000, invocation: 1 });

  it('is in doubt and not submitted again, though nothing adopted the job', async () => {
    const { state, keyOf } = await schedulerRig(grid(1), {}, (key) => submitting(imagineRecord({ key })), {
      price: () => 0.5,
    });
    admitCells(state);
    dispatch(state);
    const commit = state.outbox.take();
    expect(commit.effects).toEqual([]);
    const [record, ...others] = commit.records;
    expect(others).toEqual([]);
    expect(record).toMatchObject({ key: keyOf(1), status: 'in-doubt', attempts: 1, doubtful: { cost: 0.5 } });
    expect(eventsOf(commit, 'job:status')).toMatchObject([{ from: 'submitting', to: 'in-doubt' }]);
    expect(eventsOf(commit, 'cell:close')).toHaveLength(1);
    expect(state.jobs.size).toBe(0);
  });

  it('is submitted again where the user allowed it (--in-doubt retry)', async () => {
    const { state, keyOf } = await schedulerRig(grid(1), { inDoubt: 'retry' }, (key) =>
      submitting(imagineRecord({ key })),
    );
    admitCells(state);
    dispatch(state);
    expect(paidKeys(state.outbox.take())).toEqual([keyOf(1)]);
  });

  it('is repeated where it is a text call, its first attempt counted', async () => {
    const { state, keyOf } = await schedulerRig(captions(1), {}, (key) => submitting(textRecord({ key })));
    admitCells(state);
    dispatch(state);
    const commit = state.outbox.take();
    expect(paidKeys(commit)).toEqual([keyOf(1)]);
    expect(commit.records).toMatchObject([{ status: 'submitting', attempts: 2 }]);
  });
});

describe('a cell that needs a job which another worker runs', () => {
  it.each([
    ['waits for that job', false, [1, 1, []]],
    ['is left where the run ends: nothing tells it of that job any more', true, [0, 0, ['cell:left']]],
  ])('%s', async (_, isEnding, left) => {
    const others = { invocation: 2, leaseOf: () => undefined, read: () => Promise.resolve([]) };
    const running = (key: string): JobRecord => imagineRecord({ key, status: 'running', taskId: 'T1' });
    const { state, cells } = await schedulerRig(grid(1), {}, running, { others });
    const [cell] = cells;
    if (cell === undefined) throw new Error('no cell');
    const open = state.cells.open.open(cell, { slice: 1, epoch: 1 });
    state.cells.open.due.add(open);
    if (isEnding) drain(state, interrupted);
    visitDueCells(state);
    const events = eventsOf(state.outbox.take(), 'cell:left', 'cell:close').map(({ type }) => type);
    expect([state.slices.awaited.size, state.cells.open.size, events]).toEqual(left);
  });
});

describe('a cell of a run that ends early', () => {
  it('is left where a job in it could have begun', async () => {
    const { state, keyOf } = await schedulerRig(grid(2, 'U1'), { limits: { tasks: 1, requests: 8 } });
    admitCells(state);
    dispatch(state);
    drain(state, interrupted);
    settleJob(state, keyOf(1));
    admitCells(state);
    const commit = state.outbox.take();
    expect(eventsOf(commit, 'cell:open', 'cell:close', 'cell:left')).toEqual([
      { type: 'cell:open', cell: 1 },
      { type: 'cell:left', cell: 1 },
    ]);
    expect([state.cells.isWhole, state.jobs.size]).toEqual([false, 0]);
  });

  it('is left where its job was not submitted yet', async () => {
    const { state } = await schedulerRig(grid(1));
    admitCells(state);
    drain(state, interrupted);
    expect(eventsOf(state.outbox.take(), 'cell:close', 'cell:left')).toEqual([
      { type: 'cell:left', cell: 1 },
    ]);
  });

  it('is closed where only jobs in flight were left', async () => {
    const { state, keyOf } = await schedulerRig(grid(1));
    admitCells(state);
    dispatch(state);
    drain(state, interrupted);
    settleJob(state, keyOf(1));
    expect(eventsOf(state.outbox.take(), 'cell:close', 'cell:left')).toEqual([
      { type: 'cell:close', cell: 1 },
    ]);
    expect(state.cells.isWhole).toBe(true);
  });
});
