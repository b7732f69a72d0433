import { describe, expect, it } from 'vitest';
import { type ManifestRow, outputsOf } from '../../src/manifest/row.ts';
import { manifestRows } from '../../src/manifest/rows.ts';
import type { Selection } from '../../src/plan/cell.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { textRecord } from '../rig/jobs.ts';
import { type MemoryStore, memoryStore } from '../rig/memory-store.ts';
import { cellsOf, planOf } from '../rig/pipeline-builder.ts';
import { doneRecord, epoch, finish } from './finish.ts';

const grid = '{ steps: { grid: { imagine: a fox, path: U1 } } }';

async function rowsOf(
  plan: Plan,
  store: MemoryStore,
  selection: Selection = {},
): Promise<readonly ManifestRow[]> {
  const found: ManifestRow[] = [];
  for await (const row of manifestRows(plan, selection, store.reader)) found.push(row);
  return found;
}

const slotsOf = async (plan: Plan, store: MemoryStore): Promise<readonly Slot[]> =>
  (await cellsOf(plan)).flatMap((cell) => plan.resolve(cell, (key) => store.get(key)));

/** A store in which the first job of a plan has this record. */
async function withFirst(plan: Plan, record: (slot: Slot) => JobRecord): Promise<MemoryStore> {
  const store = memoryStore();
  const [slot] = await slotsOf(plan, store);
  if (slot === undefined) throw new Error('The plan has no slot.');
  store.commit({ records: [record(slot)], attempts: [] });
  return store;
}

describe('the parent task of a row', () => {
  it('is that of its parent job before its own job is begun', async () => {
    const plan = await planOf(grid);
    const store = await withFirst(plan, (slot) => doneRecord(slot, { taskId: 'T1' }));
    const rows = await rowsOf(plan, store);
    expect(rows.map(({ parentTaskId, slot }) => [slot.status, parentTaskId])).toEqual([
      ['done', undefined],
      ['pending', 'T1'],
    ]);
    expect(rows[0]).not.toHaveProperty('parentTaskId');
  });

  it('is the one in its own record once its job is begun', async () => {
    const plan = await planOf(grid);
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) =>
        doneRecord(
          slot,
          slot.kind === 'click' ? { parentTaskId: 'T0' } : { taskId: 'T1', submittedAt: epoch },
        ),
    });
    const [, second] = await rowsOf(plan, store);
    expect(second?.parentTaskId).toBe('T0');
  });

  it('is unknown if the parent has no task', async () => {
    const plan = await planOf(grid);
    const store = await withFirst(plan, (slot) => {
      const { taskId: _, ...record } = doneRecord(slot);
      return record;
    });
    for (const row of await rowsOf(plan, store)) expect(row).not.toHaveProperty('parentTaskId');
  });
});

describe('a row of a job that is being remade', () => {
  const redone = (slot: Slot): JobRecord => ({
    ...doneRecord(slot, { taskId: 'T2', status: 'running', submittedAt: epoch + 5 }),
    result: { imageUrl: 'https://images.test/new.png', buttons: [] },
    former: {
      resubmits: 0,
      taskId: 'T1',
      speed: 'turbo',
      submittedAt: epoch,
      result: doneRecord(slot).result ?? { buttons: [] },
    },
  });

  it('shows the previous result, and the current state', async () => {
    const plan = await planOf(grid);
    const store = await withFirst(plan, redone);
    const [first] = await rowsOf(plan, store);
    expect(first?.slot.record).toMatchObject({
      status: 'running',
      taskId: 'T1',
      speed: 'turbo',
      submittedAt: epoch,
      result: { imageUrl: expect.stringContaining(first?.slot.job?.key ?? 'no job') as string },
    });
    expect(first?.artifact?.output).toBe(1);
  });

  it('gives its task to rows of jobs that were not begun', async () => {
    const plan = await planOf(grid);
    const store = await withFirst(plan, redone);
    const second = (await rowsOf(plan, store))[1];
    expect([second?.slot.branch, second?.slot.record]).toEqual([['U1'], undefined]);
    expect(second?.parentTaskId).toBe('T1');
  });
});

describe('the rows of a slot', () => {
  it('are one per file; the first one shows the job’s cost and tokens', async () => {
    const plan = await planOf('{ steps: { grid: { imagine: a fox } } }');
    const store = await withFirst(plan, (slot) => {
      const record = doneRecord(slot);
      return {
        ...record,
        artifacts: [1, 2, 3].map((output) => ({ ...record.artifacts[0], output })) as never,
      };
    });
    const rows = await rowsOf(plan, store);
    expect(
      rows.map(({ artifact, firstOfSlot, firstOfJob }) => [artifact?.output, firstOfSlot, firstOfJob]),
    ).toEqual([
      [1, true, true],
      [2, false, false],
      [3, false, false],
    ]);
  });

  it('are a single row without an artifact if there is no file, with the job’s cost and tokens', async () => {
    const plan = await planOf('{ steps: { grid: { imagine: a fox } } }');
    const store = await withFirst(plan, (slot) => doneRecord(slot, { artifacts: [] }));
    const rows = await rowsOf(plan, store);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ firstOfSlot: true, firstOfJob: true });
    expect(rows[0]).not.toHaveProperty('artifact');
  });

  it('show a job’s cost and tokens once, however many cells use it', async () => {
    const plan = await planOf('{ matrix: { n: [1, 2, 3] }, steps: { grid: { imagine: a fox } } }');
    const store = await withFirst(plan, (slot) => doneRecord(slot));
    const rows = await rowsOf(plan, store);
    expect(rows.map(({ firstOfSlot, firstOfJob }) => [firstOfSlot, firstOfJob])).toEqual([
      [true, true],
      [true, false],
      [true, false],
    ]);
    // A row that is left out shows nothing, so that the next one does.
    const narrowed = await rowsOf(plan, store, { filters: [{ axis: 'n', value: '3' }] });
    expect(narrowed.filter(({ firstOfJob }) => firstOfJob)).toHaveLength(1);
  });

  it.each<[string, Partial<JobRecord>, boolean]>([
    ['nothing', {}, false],
    ['a cost of 0', { cost: 0 }, true],
    ['tokens', { usage: { total: 0 } }, true],
    ['a doubt', { doubtful: { count: 1 } }, true],
    ['assumed tokens', { assumed: { answers: 1, tokens: 1 } }, true],
  ])('show what a job took only where that is known: %s', async (_what, more, expected) => {
    const plan = await planOf('{ steps: { grid: { imagine: a fox } } }');
    const store = await withFirst(plan, (slot) => {
      const { cost: _, ...record } = doneRecord(slot);
      return { ...record, ...more };
    });
    expect((await rowsOf(plan, store)).map(({ firstOfJob }) => firstOfJob)).toEqual([expected]);
  });
});

it('a selection of unknown steps is a mistake of the caller', async () => {
  const plan = await planOf(grid);
  await expect(rowsOf(plan, memoryStore(), { only: ['missing'] })).rejects.toThrow(/^Internal error: /);
});

describe('the outputs of a text job', () => {
  const text = {
    candidates: ['one', '', 'three'].map((said) => ({ text: said, isJson: false, parts: [{ text: said }] })),
  };
  const record = textRecord({ status: 'done', keep: false, text });
  const listed = (changes: Partial<JobRecord>, keep: boolean): readonly string[] =>
    outputsOf({ ...record, ...changes }, { keep }).map(({ output, mime }) => `${output} ${mime}`);
  const texts = ['1 text/plain', '2 text/plain'];

  it('are its texts where this slot keeps them, or another one does', () => {
    expect(listed({}, true)).toEqual(texts);
    expect(listed({ keep: true }, false)).toEqual(texts);
    expect(listed({}, false)).toEqual([]);
  });

  it('are those of its usable reply, and of the one before while it is made again', () => {
    expect(listed({ status: 'failed' }, true)).toEqual([]);
    expect(listed({ status: 'pending', former: { resubmits: 0 } }, true)).toEqual(texts);
  });

  it('are in the order of their numbers, its files among them', () => {
    const file = { output: 2, file: 'images/a.png', bytes: 1, sha256: 'c0ffee', mime: 'image/png' };
    const inline = { inlineData: { mimeType: 'image/png', output: 2 } };
    const drawn = {
      candidates: [
        { text: 'one', isJson: false, parts: [{ text: 'one' }, inline] },
        { text: 'three', isJson: false, parts: [{ text: 'three' }] },
      ],
    };
    expect(listed({ text: drawn, artifacts: [file] }, true)).toEqual([
      '1 text/plain',
      '2 image/png',
      '3 text/plain',
    ]);
  });
});
