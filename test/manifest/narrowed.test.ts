import { describe, expect, it } from 'vitest';
import { manifestRows } from '../../src/manifest/rows.ts';
import type { Cell, Selection } from '../../src/plan/cell.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { StateReader } from '../../src/state/reader.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/pipeline-builder.ts';
import { doneRecord, finish } from './finish.ts';

const tenCells = `
  matrix: { n: { from: 1, to: 10 } }
  steps:
    grid:
      imagine: "number {{ n }}"
      path: U1
`;

async function slots(
  plan: Plan,
  selection: Selection,
  { reader }: { readonly reader: StateReader },
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { cell, slot, chosen } of manifestRows(plan, selection, reader)) {
    found.push(
      `${cell.number}${slot.branch.map((part) => `/${part}`).join('')} ${chosen ? slot.status : 'other'}`,
    );
  }
  return found;
}

/** Finishes both jobs of these cells. */
const finishCells = async (plan: Plan, store: ReturnType<typeof memoryStore>, numbers: readonly number[]) => {
  const only: Plan = {
    ...plan,
    matrix: {
      ...plan.matrix,
      cells: (selection, signal) => picked(plan.matrix.cells(selection, signal), numbers),
    },
  };
  await finish(only, store);
};

async function* picked(
  cells: AsyncGenerator<Cell, void, undefined>,
  numbers: readonly number[],
): AsyncGenerator<Cell, void, undefined> {
  for await (const cell of cells) if (numbers.includes(cell.number)) yield cell;
}

/** The plan, counting the cells that are read of the whole matrix. */
function watched(plan: Plan): { readonly plan: Plan; readonly read: () => number } {
  let read = 0;
  async function* counted(
    cells: AsyncGenerator<Cell, void, undefined>,
  ): AsyncGenerator<Cell, void, undefined> {
    for await (const cell of cells) {
      read += 1;
      yield cell;
    }
  }
  const matrix: Plan['matrix'] = {
    cellCount: plan.matrix.cellCount,
    variables: plan.matrix.variables,
    tables: plan.matrix.tables,
    groups: plan.matrix.groups,
    chosen: (selection, signal, lastOf) => plan.matrix.chosen(selection, signal, lastOf),
    unmatched: (selection, signal) => plan.matrix.unmatched(selection, signal),
    cells: (selection, signal) => counted(plan.matrix.cells(selection, signal)),
  };
  return { plan: { ...plan, matrix }, read: () => read };
}

describe('a narrowed manifest', () => {
  it('contains the selected slots, and other slots with a result, in plan order', async () => {
    const plan = await planOf(tenCells);
    const store = memoryStore();
    await finishCells(plan, store, [2, 7]);
    expect(await slots(plan, { filters: [{ axis: 'n', value: '5' }] }, store)).toEqual([
      '2 other',
      '2/U1 other',
      '5 pending',
      '5/U1 pending',
      '7 other',
      '7/U1 other',
    ]);
  });

  it.each([
    ['that wait for their turn', 'pending', []],
    ['that are under way', 'running', ['7 other']],
  ] as const)('leaves out of the others those jobs that are no result: %s', async (_what, status, shown) => {
    const plan = await planOf(tenCells);
    const store = memoryStore();
    const cells = [];
    for await (const cell of plan.matrix.cells({})) if (cell.number === 7) cells.push(cell);
    const [slot] = cells.flatMap((cell) => plan.resolve(cell, (key) => store.get(key)));
    if (slot === undefined) throw new Error('There is no cell 7.');
    const { taskId: _, result: __, ...record } = doneRecord(slot, { status, artifacts: [] });
    store.commit({ records: [record], attempts: [] });
    const found = await slots(plan, { filters: [{ axis: 'n', value: '5' }] }, store);
    expect(found.filter((line) => !line.startsWith('5'))).toEqual(shown);
  });

  it('ends at the last result, even if a later cell uses a finished job', async () => {
    const plan = await planOf(`
      matrix: { n: { from: 1, to: 10 } }
      steps: { grid: { imagine: "{% if n < 3 %}number {{ n }}{% else %}the same{% endif %}" } }
    `);
    const store = memoryStore();
    await finishCells(plan, store, [2, 4]);
    // The job of cells 3 to 10 is one: the first of them is where it is placed.
    expect(await slots(plan, { limit: 1 }, store)).toEqual(['1 pending', '2 other', '3 other']);
    const fifth = { filters: [{ axis: 'n', value: '5' }] };
    expect(await slots(plan, fifth, store)).toEqual(['2 other', '3 other', '5 done']);
  });

  it('with --limit reads no further than the last result', async () => {
    const { plan, read } = watched(await planOf(tenCells.replace('to: 10', 'to: 10000000')));
    const store = memoryStore();
    expect(await slots(plan, { limit: 2 }, store)).toHaveLength(4);
    expect(read()).toBeLessThan(10);
  });

  it('continues after the selected cells until every result is placed', async () => {
    const plan = await planOf(tenCells);
    const store = memoryStore();
    await finishCells(plan, store, [1, 9]);
    expect(await slots(plan, { limit: 1 }, store)).toEqual(['1 done', '1/U1 done', '9 other', '9/U1 other']);
  });

  it('finds results far from their former cells after an edit inserted others before them', async () => {
    const before = await planOf(tenCells.replace('from: 1, to: 10', 'from: 501, to: 510'));
    const store = memoryStore();
    await finishCells(before, store, [1, 2]);
    const plan = await planOf(tenCells.replace('to: 10', 'to: 510'));
    expect(await slots(plan, { limit: 1 }, store)).toEqual([
      '1 pending',
      '1/U1 pending',
      '501 other',
      '501/U1 other',
      '502 other',
      '502/U1 other',
    ]);
  });

  it('does not search the whole matrix for results that no cell uses any more', async () => {
    const before = await planOf(tenCells);
    const store = memoryStore();
    await finishCells(before, store, [1, 2, 3]);
    const edited = tenCells.replace('number {{ n }}', 'edited {{ n }}').replace('to: 10', 'to: 10000000');
    const { plan, read } = watched(await planOf(edited));
    expect(await slots(plan, { limit: 1 }, store)).toEqual(['1 pending', '1/U1 pending']);
    expect(read()).toBeLessThan(10_100);
  });

  it('with --only leaves out the slots that the step does not need, but not their results', async () => {
    const plan = await planOf(`
      steps:
        grid:
          imagine: a fox
          path: U1,U2
        more:
          from: grid/U1
          click: Vary (Strong)
    `);
    const store = memoryStore();
    const names = async (): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { slot, chosen } of manifestRows(plan, { only: ['more'] }, store.reader)) {
        found.push(`${[slot.step, ...slot.branch].join('/')}${chosen ? '' : ' (other)'}`);
      }
      return found;
    };
    expect(await names()).toEqual(['grid', 'grid/U1', expect.stringMatching(/^more/) as string]);
    await finish(plan, store);
    expect(await names()).toEqual([
      'grid',
      'grid/U1',
      'grid/U2 (other)',
      expect.stringMatching(/^more/) as string,
    ]);
  });

  it('contains every slot for an empty selection', async () => {
    const plan = await planOf(tenCells);
    expect(await slots(plan, { filters: [], only: [] }, memoryStore())).toHaveLength(20);
  });
});
