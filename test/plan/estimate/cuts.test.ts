import { describe, expect, it } from 'vitest';
import type { PlanReport } from '../../../src/plan/estimate/report.ts';
import { planText } from '../../../src/report/text/plan-text.ts';
import { doneRecord, finish } from '../../manifest/finish.ts';
import { gridButtons } from '../../rig/frames.ts';
import { textRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/plan.ts';
import { estimate } from './estimate-rig.ts';

const text = (split: boolean): string => `name: t
matrix: { n: { from: 1, to: 3 } }
steps:
  grid:
    imagine: "picture {{ n }}"
    path: U1 → Vary (Strong)
${split ? '    grid: split\n' : ''}  say: { from: grid, generate: { model: m, prompt: "Which?" } }
`;

const cutsOf = ({ total, steps }: PlanReport) => [total.cuts, ...steps.map(({ cuts }) => cuts)];

describe('the grids that a run will cut', () => {
  it('are counted for all slots that may make one, and absent if no step cuts', async () => {
    const { plan } = await planOf(text(true));
    const report = await estimate(plan);
    // Of three slots in each cell, U1 makes a single image.
    expect(cutsOf(report)).toEqual([6, 6, undefined]);
    expect(planText(report)).toContain('6 results to cut into frames (grid: split), which costs nothing');
    const without = await estimate((await planOf(text(false))).plan);
    expect(cutsOf(without)).toEqual([undefined, undefined, undefined]);
    expect(planText(without)).not.toContain('frames');
  });

  it('are counted by multiplication if there are too many slots', async () => {
    const { plan } = await planOf(text(true));
    const report = await estimate(plan, {}, undefined, { maxSlots: 1 });
    expect([report.exact, ...cutsOf(report)]).toEqual([false, 6, 6, undefined]);
  });

  it('include existing grids that are not cut yet, and none that are cut', async () => {
    const { plan } = await planOf(text(true));
    const store = memoryStore();
    await finish((await planOf(text(false))).plan, store, {
      record: (slot) =>
        slot.kind === 'generate'
          ? textRecord({ key: slot.job?.key ?? '', status: 'done' })
          : doneRecord(slot, {
              result: { imageUrl: 'https://i/1', buttons: slot.branch.length === 1 ? [] : gridButtons },
            }),
    });
    const state = {
      many: (keys: readonly string[]) => store.reader.many(keys),
      keysOfSlots: () => Promise.resolve(new Map()),
      totals: () => store.reader.totals(),
    };
    const before = await estimate(plan, {}, state);
    expect(before.total).toMatchObject({ submits: 0, unsaved: 6, cuts: 6 });
  });
});
