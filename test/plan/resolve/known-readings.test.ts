import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Cell } from '../../../src/plan/cell.ts';
import { estimatePlan } from '../../../src/plan/estimate/estimate.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { CellSlot } from '../../../src/plan/resolve/resolved.ts';
import { KnownReadings, type Reading } from '../../../src/plan/resolve/slot-status.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { filesOf } from '../scene.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const nothing = (): undefined => undefined;

/** How often each place of a plan renders its request while all cells are resolved this often. */
function rendersOf(plan: Plan, cells: readonly Cell[], passes: number): readonly number[] {
  const spies = plan.slotGraph.templates.map(({ request }) => vi.spyOn(request, 'render'));
  for (let pass = 0; pass < passes; pass += 1) for (const cell of cells) plan.resolve(cell, nothing);
  return spies.map((spy) => spy.mock.calls.length);
}

describe('a plan that is gone through three times', () => {
  it.each([
    ['a text', '{ generate: { model: text-pro, prompt: "Say {{ n }}." } }'],
    ['an image', '{ imagine: "fox {{ n }}" }'],
  ])('renders the request of %s once for each cell', async (_, step) => {
    const plan = await planOf(`{ matrix: { n: [1, 2, 3, 4] }, steps: { say: ${step} } }`);
    expect(rendersOf(plan, await cellsOf(plan), 3)).toEqual([4]);
  });

  it('renders what shows a file each time, as the file may be another one', async () => {
    const plan = await planOf(
      '{ matrix: { n: [1, 2] }, steps: { say: { generate: { model: text-pro, prompt: "{{ n }}?", images: [a.png] } } } }',
      undefined,
      filesOf({ 'a.png': 'a fox' }),
    );
    expect(rendersOf(plan, await cellsOf(plan), 3)).toEqual([6]);
  });

  it('renders what comes from another job each time', async () => {
    const plan = await planOf(
      '{ matrix: { n: [1, 2] }, steps: { grid: { imagine: "fox {{ n }}", path: U1 } } }',
    );
    expect(rendersOf(plan, await cellsOf(plan), 3)).toEqual([2, 6]);
  });

  it('finds the same slots each time', async () => {
    const text = `{ matrix: { n: [1, 2], repeat: 2 }, steps: {
      say: { generate: { model: text-pro, prompt: "Say {{ n }}." } },
      grid: { imagine: "fox {{ n }}", path: U1 } } }`;
    const plan = await planOf(text);
    const other = await planOf(text);
    const cells = await cellsOf(plan);
    const slots = (of: Plan): unknown =>
      cells.map((cell) => of.resolve(cell, nothing).map((slot) => ({ ...slot, id: slot.id })));
    const first = slots(plan);
    expect(slots(plan)).toEqual(first);
    expect(slots(other)).toEqual(first);
  });
});

describe('readings that are kept', () => {
  const reading: Reading = { dependency: { kind: 'done' } };

  it('are bounded in number and in length', () => {
    const known = new KnownReadings(2);
    known.keep(1, 0, reading, 2049);
    expect(known.get(1, 0)).toBeUndefined();
    for (let cell = 1; cell <= 5000; cell += 1) known.keep(cell, 1, reading, 2048);
    expect([known.get(4096, 1), known.get(4097, 1), known.get(5000, 1)]).toEqual([
      undefined,
      reading,
      reading,
    ]);
    expect(known.get(1, 0)).toBeUndefined();
  });

  it('are those of the latest cells, so that a cell of a large plan that is resolved again is not rendered again', async () => {
    const plan = await planOf(
      '{ matrix: { n: { from: 1, to: 4200 } }, steps: { grid: { imagine: "fox {{ n }}" } } }',
    );
    const cells = await cellsOf(plan);
    for (const cell of cells) plan.resolve(cell, nothing);
    expect(rendersOf(plan, cells.slice(-64), 2)).toEqual([0]);
  });
});

it('a plan is counted over an empty state without the id of any slot', async () => {
  const plan = await planOf('{ matrix: { n: [1, 2, 3] }, steps: { grid: { imagine: "fox {{ n }}" } } }');
  const id = vi.spyOn(CellSlot.prototype, 'id', 'get');
  const { total } = await estimatePlan(plan, {}, undefined);
  expect(total.submits).toBe(3);
  expect(id).not.toHaveBeenCalled();
});
