import { describe, expect, it } from 'vitest';
import { Columns } from '../../../src/report/page/source/columns.ts';
import type { CellResult } from '../../../src/report/results/cell-results.ts';
import { packResults } from '../../../src/report/results/pack.ts';
import type { LineageStop, PageSummary } from '../../../src/report/results/wire.ts';
import { doneRecord, failedRecord, finish } from '../../manifest/finish.ts';
import { framesOf } from '../../rig/frames.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/pipeline-builder.ts';
import { resultsOf, textRecord } from './rig.ts';

/** Names of results by their places: `grid`, `grid/U1`. */
const namesIn = (results: readonly CellResult[]): readonly string[] =>
  results.map(({ result }) => (result.branch === '' ? result.step : `${result.step}/${result.branch}`));

async function ways(text: string, failed?: string): Promise<Record<string, string>> {
  const plan = await planOf(text);
  const store = memoryStore();
  await finish(plan, store, {
    record: (slot) =>
      slot.step === failed
        ? failedRecord(slot, { code: 'task.failed', message: 'No luck.' })
        : slot.kind === 'generate'
          ? textRecord(slot, '{"best": 2}')
          : doneRecord(slot),
  });
  const results = await resultsOf(plan, store);
  const names = namesIn(results);
  const said = (stops: readonly LineageStop[]): string =>
    stops.map(({ label, at }) => `${label}@${names[at]}`).join(' > ');
  return Object.fromEntries(
    results.map(({ result, detail }, index) => [
      `${result.cell} ${names[index]}`,
      [
        said(detail.lineage),
        ...(detail.inputs.length === 0 ? [] : [`from ${said(detail.inputs)}`]),
        ...(detail.children.length === 0 ? [] : [`to ${said(detail.children)}`]),
      ].join('; '),
    ]),
  );
}

describe('the lineage of a result', () => {
  it('is the path from its root, button by button and step by step', async () => {
    expect(
      await ways(`
        steps:
          grid: { imagine: a fox, path: U1..U2 → Vary (Strong) }
          caption: { from: grid/U1/*, generate: { model: text-pro, prompt: Say it, images: [parent] } }
      `),
    ).toEqual({
      '1 grid': 'grid@grid; to U1@grid/U1 > U2@grid/U2',
      '1 grid/U1': 'grid@grid > U1@grid/U1; to Vary (Strong)@grid/U1/Vary (Strong)',
      '1 grid/U1/Vary (Strong)':
        'grid@grid > U1@grid/U1 > Vary (Strong)@grid/U1/Vary (Strong); to caption@caption/U1/Vary (Strong)',
      '1 grid/U2': 'grid@grid > U2@grid/U2; to Vary (Strong)@grid/U2/Vary (Strong)',
      '1 grid/U2/Vary (Strong)': 'grid@grid > U2@grid/U2 > Vary (Strong)@grid/U2/Vary (Strong)',
      '1 caption/U1/Vary (Strong)':
        'grid@grid > U1@grid/U1 > Vary (Strong)@grid/U1/Vary (Strong) > caption@caption/U1/Vary (Strong)',
    });
  });

  it('of a judge of several results is their common path, and these results are its inputs', async () => {
    const found = await ways(`
      steps:
        grid: { imagine: a fox, path: U1..U2 }
        judge: { gather: grid/*, generate: { model: text-pro, prompt: Which } }
    `);
    expect(found['1 judge']).toBe('grid@grid > judge@judge; from U1@grid/U1 > U2@grid/U2');
    expect(found['1 grid/U2']).toBe('grid@grid > U2@grid/U2; to judge@judge');
  });

  it('names items of lists by their numbers', async () => {
    const found = await ways(`
      matrix: { scenes: [[fox, owl]] }
      steps:
        draw: { each: "{{ scenes }}", imagine: "{{ item }}", path: U1 }
        caption: { from: draw/U1, generate: { model: text-pro, prompt: "{{ item }}", images: [parent] } }
    `);
    expect(found['1 caption/[2]/U1']).toMatch(/^draw, item 2@draw\/\[2\] > U1@draw\/\[2\]\/U1 > caption@/);
  });

  it('contains a reply named in a template as an input', async () => {
    const found = await ways(`
      steps:
        grid: { imagine: a fox }
        pick:
          from: grid
          generate:
            model: text-pro
            prompt: Which
            images: [parent]
            responseSchema: { type: object, properties: { best: { type: integer } }, required: [best] }
        best: { from: grid, click: "U{{ steps.pick.json.best }}" }
    `);
    const [best = ''] = Object.keys(found).filter((name) => name.startsWith('1 best'));
    expect(found[best]).toMatch(/^grid@grid > best@best.*; from pick@pick$/);
    expect(found['1 pick']).toMatch(/^grid@grid > pick@pick; to best@best/);
  });

  it('stays in its cell when cells share a job', async () => {
    const found = await ways(`
      matrix: { n: [1, 2] }
      steps:
        grid: { imagine: the same }
        caption: { from: grid, generate: { model: text-pro, prompt: "Say {{ n }}", images: [parent] } }
    `);
    expect(found).toEqual({
      '1 grid': 'grid@grid; to caption@caption',
      '1 caption': 'grid@grid > caption@caption',
      '2 grid': 'grid@grid; to caption@caption',
      '2 caption': 'grid@grid > caption@caption',
    });
    const plan = await planOf('{ matrix: { n: [1, 2] }, steps: { grid: { imagine: the same } } }');
    const store = memoryStore();
    await finish(plan, store);
    const results = await resultsOf(plan, store);
    expect(results.map(({ detail }) => detail.lineage[0]?.at)).toEqual([0, 1]);
  });

  it('is known for waiting and blocked slots, which have no job yet', async () => {
    const found = await ways(
      `
        steps:
          grid: { imagine: a fox, path: U1 }
          caption: { from: grid/U1, generate: { model: text-pro, prompt: Say it, images: [parent] } }
      `,
      'grid',
    );
    expect(found['1 caption/U1']).toBe('grid@grid > U1@grid/U1 > caption@caption/U1');
  });

  it('has the branches that a wildcard found', async () => {
    const found = await ways('{ steps: { grid: { imagine: a fox, path: U* → Vary (Strong) } } }');
    expect(found['1 grid/U3/Vary (Strong)']).toBe(
      'grid@grid > U3@grid/U3 > Vary (Strong)@grid/U3/Vary (Strong)',
    );
    expect(found['1 grid']).toContain('to U1@grid/U1 > U2@grid/U2 > U3@grid/U3 > U4@grid/U4');
  });

  it('of each output of a job ends with that output', async () => {
    const plan = await planOf('{ steps: { grid: { imagine: a fox, path: U1 } } }');
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) => {
        const done = doneRecord(slot);
        return {
          ...done,
          artifacts: [1, 2].flatMap((output) => done.artifacts.map((one) => ({ ...one, output }))),
        };
      },
    });
    const results = await resultsOf(plan, store);
    expect(results.map(({ detail }) => detail.lineage.map(({ at }) => at))).toEqual([
      [0],
      [1],
      [0, 2],
      [0, 3],
    ]);
  });

  it('goes over cells by the name and the job of a pick, in both directions', async () => {
    const plan = await planOf(`
      matrix: { seed: [1, 2, 3] }
      steps:
        grid: { imagine: "a fox {{ seed }}", grid: split }
        score: { from: "grid/#*", generate: { model: m, prompt: "{{ seed }} {{ frame }}", images: [parent], responseSchema: { type: object, properties: { x: { type: number } } } } }
        best: { best: { from: "grid/#*", by: "{{ steps.score.json.x }}", over: [seed] } }
        large: { from: best/1, click: U, path: Upscale (Subtle) }
    `);
    const store = memoryStore();
    await finish(plan, store, {
      record: (slot) => {
        if (slot.kind === 'generate') return textRecord(slot, `{"x": ${slot.cell === 2 ? 9 : 1}}`);
        const record = doneRecord(slot);
        const [file = {}] = record.artifacts;
        return slot.step === 'grid' ? { ...record, frames: { files: framesOf(record.key, file) } } : record;
      },
    });
    const results = (await resultsOf(plan, store)).map(({ result }) => result);
    const columns = new Columns({
      results: results.length,
      variables: [],
      steps: plan.pipeline.steps.map(({ name }) => ({ name, kind: '', branches: [], results: 0 })),
    } as unknown as PageSummary);
    columns.add(packResults(results, [...plan.slotGraph.steps.keys()]));
    const large = results.filter(({ step }) => step === 'large');
    const picked = results.find((one) => one.picked === 'best/1');
    expect(picked).toMatchObject({ cell: 2, step: 'grid', frame: 1 });
    expect(large.map(({ cell, madeFrom }) => [cell, madeFrom])).toEqual([
      [3, `best/1 ${picked?.job}`],
      [3, undefined],
    ]);
    expect(large.map((one) => columns.otherCells(one))).toEqual([
      { above: picked?.at, below: [] },
      { above: null, below: [] },
    ]);
    expect(picked && columns.otherCells(picked)).toEqual({ above: null, below: [large[0]?.at] });
  });
});
