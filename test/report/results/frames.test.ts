import { expect, it } from 'vitest';
import { rowValues } from '../../../src/manifest/columns.ts';
import { manifestRows } from '../../../src/manifest/rows.ts';
import { doneRecord, finish } from '../../manifest/finish.ts';
import { framesOf } from '../../rig/frames.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/pipeline-builder.ts';
import { resultsOf } from './rig.ts';

const pipeline = (grid: string): string => `
  steps:
    grid: { imagine: a fox${grid}, path: U1 }
`;

async function finished() {
  const store = memoryStore();
  await finish(await planOf(pipeline('')), store, {
    record: (slot) => {
      const record = doneRecord(slot);
      const [file = {}] = record.artifacts;
      return slot.kind === 'imagine' ? { ...record, frames: { files: framesOf(record.key, file) } } : record;
    },
  });
  return store;
}

it('frames have rows after their grid while the step splits grids, with costs and tokens only on the first', async () => {
  const store = await finished();
  const rowsOf = async (text: string) => {
    const found: unknown[] = [];
    for await (const row of manifestRows(await planOf(text), {}, store.reader)) {
      const { output, cost, width } = rowValues(row);
      found.push([row.slot.branch.join('/'), output, cost, width, row.isCut, row.frame]);
    }
    return found;
  };
  expect(await rowsOf(pipeline(', grid: split'))).toEqual([
    ['', 1, 0.04, 1024, true, undefined],
    ...[1, 2, 3, 4].map((frame) => ['', frame + 1, undefined, 512, undefined, frame]),
    ['U1', 1, 0.04, 1024, undefined, undefined],
  ]);
  expect(await rowsOf(pipeline(''))).toEqual([
    ['', 1, 0.04, 1024, undefined, undefined],
    ['U1', 1, 0.04, 1024, undefined, undefined],
  ]);
});

it('a frame links to its grid; the grid links to its frames and to results made from it', async () => {
  const results = await resultsOf(await planOf(pipeline(', grid: split')), await finished());
  const [grid, , second] = results.map(({ detail }) => detail);
  expect(grid?.lineage).toEqual([{ label: 'grid', at: 0 }]);
  expect(grid?.children).toEqual([
    ...[1, 2, 3, 4].map((frame) => ({ label: `frame ${frame}`, at: frame })),
    { label: 'U1', at: 5 },
  ]);
  expect(second?.lineage).toEqual([
    { label: 'grid', at: 0 },
    { label: 'frame 2', at: 2 },
  ]);
  expect(second?.children).toEqual([]);
  expect(results.at(-1)?.detail.lineage).toEqual([
    { label: 'grid', at: 0 },
    { label: 'U1', at: 5 },
  ]);
});
