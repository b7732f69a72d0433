import { describe, expect, it } from 'vitest';
import { admitCells } from '../../../../src/run/scheduler/cell-admission.ts';
import { drain } from '../../../../src/run/scheduler/drain.ts';
import {
  areAllCellsOpened,
  canOpenCell,
  givesBackAt,
  isAtEnd,
  lacksTaskSlots,
  waitsForNewParent,
  wantsCells,
  withoutSlotsMs,
} from '../../../../src/run/scheduler/state/queries.ts';
import { gridButtons } from '../../../rig/fake-task.ts';
import { clickRecord, epoch, imagineRecord, job } from '../../../rig/jobs.ts';
import { grid } from '../../../rig/world.ts';
import { schedulerRig } from '../scheduler-rig.ts';

const interrupted = { kind: 'interrupted', forced: false } as const;

/** A run with so many task slots, cells to open, and cells that were put off. */
async function waiting(tasks: number, incoming: number, last = 0, areAllGiven = true) {
  const { state, cells } = await schedulerRig(grid(9), { limits: { tasks, requests: 9 } });
  Object.assign(state.cells, {
    areAllGiven,
    incoming: cells.slice(0, incoming),
    openedLast: cells.slice(0, last).map((cell) => ({ cell, tries: 1 })),
  });
  return state;
}

describe('the end of a plan', () => {
  it.each([
    [3, 2, 0, true, true],
    [3, 3, 0, true, false],
    [3, 1, 1, true, true],
    [3, 1, 2, true, false],
    [3, 2, 0, false, false],
    [1, 0, 0, true, false],
    [2, 0, 0, true, true],
  ])(
    'of %i slots is reached with fewer unopened cells: %i and %i put off; all given: %s',
    async (...given) => {
      const [tasks, incoming, last, areAllGiven, isReached] = given;
      expect(isAtEnd(await waiting(tasks, incoming, last, areAllGiven))).toBe(isReached);
    },
  );

  it.each([
    [0, 0, true, true],
    [1, 0, true, false],
    [0, 1, true, false],
    [1, 1, true, false],
    [0, 0, false, false],
  ])('has all cells opened where none is left: %i and %i put off; all given: %s', async (...given) => {
    const [incoming, last, areAllGiven, areOpened] = given;
    expect(areAllCellsOpened(await waiting(3, incoming, last, areAllGiven))).toBe(areOpened);
  });
});

describe('a cell', () => {
  it('may be opened while there is one, the run goes on and there is a slot for it', async () => {
    const state = await waiting(2, 5);
    expect(canOpenCell(state)).toBe(true);
    admitCells(state);
    expect([state.cells.open.size, canOpenCell(state)]).toEqual([2, false]);
    expect(canOpenCell(await waiting(2, 0))).toBe(false);
    const ending = await waiting(2, 5);
    drain(ending, interrupted);
    ending.cells.incoming = state.cells.incoming;
    expect(canOpenCell(ending)).toBe(false);
  });

  it('is one of 4,096 that are open at most', async () => {
    const state = await waiting(9, 5);
    const [cell] = state.cells.incoming;
    for (let number = 1; number < 4096; number += 1)
      if (cell !== undefined) state.cells.open.open({ ...cell, number: 100 + number });
    expect(canOpenCell(state)).toBe(true);
    if (cell !== undefined) state.cells.open.open({ ...cell, number: 99 });
    expect(canOpenCell(state)).toBe(false);
  });
});

describe('a worker that was granted no task slot', () => {
  const others = { invocation: 2, leaseOf: () => undefined, read: () => Promise.resolve([]) };

  async function worker(granted = 0, areThere = true) {
    const shared = { taskSlots: { granted } };
    const { state, cells } = await schedulerRig(grid(3), {}, undefined, {
      ...(areThere && { others }),
      shared,
    });
    Object.assign(state.cells, { areAllGiven: false, incoming: cells });
    return state;
  }

  it('may begin nothing unless it has a task, or the run ends', async () => {
    expect([
      lacksTaskSlots(await worker()),
      lacksTaskSlots(await worker(1)),
      lacksTaskSlots(await worker(0, false)),
    ]).toEqual([true, false, false]);
    const { state: alone } = await schedulerRig(grid(3), {}, undefined, { others });
    expect(lacksTaskSlots(alone)).toBe(false);
    const busy = await worker();
    busy.jobs.put(
      job(imagineRecord({ status: 'running', taskId: 'T' }), { nextRequest: { kind: 'answer' } }),
    );
    const ending = await worker();
    drain(ending, interrupted);
    expect([lacksTaskSlots(busy), lacksTaskSlots(ending)]).toEqual([false, false]);
  });

  it('takes eight whole slices at most to look for tasks of the dead', async () => {
    const state = await worker();
    for (let slice = 0; slice < 7; slice += 1) state.slices.lease(slice, 1).isWhole = true;
    state.slices.lease(7, 1);
    const ended = state.slices.lease(8, 1);
    Object.assign(ended, { isWhole: true, hasEnded: true });
    expect(wantsCells(state)).toBe(true);
    state.slices.lease(7, 1).isWhole = true;
    expect(wantsCells(state)).toBe(false);
    state.slices.hasOrphans = true;
    expect(wantsCells(state)).toBe(true);
    state.cells.areAllGiven = true;
    expect(wantsCells(state)).toBe(false);
  });

  it('gives the slice back first that has waited longest', async () => {
    const state = await worker();
    expect(givesBackAt(state)).toBeUndefined();
    state.slices.lease(1, 1);
    expect(givesBackAt(state)).toBeUndefined();
    state.slices.lease(2, 1).waitsSince = epoch + 7;
    state.slices.lease(3, 1).waitsSince = epoch + 5;
    Object.assign(state.slices.lease(4, 1), { waitsSince: epoch, hasEnded: true });
    expect(givesBackAt(state)).toBe(epoch + 5 + withoutSlotsMs);
    const roomy = await worker(1);
    roomy.slices.lease(2, 1).waitsSince = epoch;
    expect(givesBackAt(roomy)).toBeUndefined();
  });
});

describe('a click', () => {
  it('waits for a new parent while that is redone, and no other job does', async () => {
    const { keyOf: plain } = await schedulerRig(grid(1));
    const key = plain(1);
    const done = (changes = {}) =>
      imagineRecord({ key, status: 'done', taskId: 'P1', result: { buttons: gridButtons(1) }, ...changes });
    const { keyOf } = await schedulerRig(grid(1, 'U1'), {}, (one) => (one === key ? done() : undefined));
    const click = keyOf(1, 'U1');
    const waitsWith = async (parent: ReturnType<typeof done>) => {
      const records = new Map([
        [key, parent],
        [
          click,
          clickRecord({ key: click, parent: key, status: 'running', taskId: 'C1', parentTaskId: 'P1' }),
        ],
      ]);
      const { state, cells } = await schedulerRig(grid(1, 'U1'), {}, (one) => records.get(one));
      const [cell] = cells;
      if (cell === undefined) throw new Error('no cell');
      state.cells.open.waitFor(state.cells.open.open(cell), new Set([key, click]));
      return [key, click, 'other'].map((one) => waitsForNewParent(state, one));
    };
    expect(await waitsWith(done())).toEqual([false, false, false]);
    const former = { taskId: 'P1', resubmits: 0 };
    expect(await waitsWith(done({ status: 'pending', former }))).toEqual([false, true, false]);
  });
});
