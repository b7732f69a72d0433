import { describe, expect, it } from 'vitest';
import { MemoryFiles } from '../../pipeline/table-port.ts';
import { listed, matrixOf, ranged, rowed } from './spec.ts';

const media = [
  { name: 'ink drawing', grain: 3 },
  { name: 'oil', grain: 3 },
];
const unmatchedOf = async (
  filters: Readonly<Record<string, string>>,
  parts: Parameters<typeof matrixOf>[0],
  files?: MemoryFiles,
) => {
  const matrix = await matrixOf(parts, files);
  return await matrix.unmatched({
    filters: Object.entries(filters).map(([axis, value]) => ({ axis, value })),
  });
};

describe('requested values that no cell has', () => {
  it('are empty if each is a value, a member, or the value of an include', async () => {
    const parts = {
      axes: [listed('animal', ['fox', 'owl']), listed('medium', media), ranged('seed', 1, 9, 2)],
      include: [{ animal: 'fox', note: 'red' }, { animal: 'lynx' }],
    };
    for (const [axis, value] of [
      ['animal', 'owl'],
      ['animal', 'lynx'],
      ['medium.name', 'ink drawing'],
      ['medium.grain', '3'],
      ['medium', '{"grain":3,"name":"oil"}'],
      ['seed', '7'],
      ['note', 'red'],
    ] as const)
      expect(await unmatchedOf({ [axis]: value }, parts)).toEqual([]);
  });

  it('are reported with the existing values, each once and in order', async () => {
    const axes = [listed('animal', ['fox', 'owl', 'fox']), ranged('seed', 1, 9, 2), ranged('number', 1, 3)];
    const known = { ranges: [], more: false, members: [] };
    expect(await unmatchedOf({ animal: 'owll', seed: '2', number: '4' }, { axes })).toEqual([
      { axis: 'animal', value: 'owll', values: ['fox', 'owl'], ...known },
      { axis: 'seed', value: '2', values: [], ...known, ranges: ['1 to 9 in steps of 2'] },
      { axis: 'number', value: '4', values: [], ...known, ranges: ['1 to 3'] },
    ]);
  });

  it('are reported one by one if other values of the same axis exist', async () => {
    const matrix = await matrixOf({ axes: [listed('animal', ['fox', 'owl'])] });
    const filters = ['owl', 'otter', 'cat'].map((value) => ({ axis: 'animal', value }));
    const unmatched = await matrix.unmatched({ filters });
    expect(unmatched.map(({ value }) => value)).toEqual(['otter', 'cat']);
  });

  it('are reported with the members of a mapping, for a mapping or a missing member', async () => {
    const axes = [listed('medium', media)];
    expect(await unmatchedOf({ medium: 'oil' }, { axes })).toMatchObject([
      { axis: 'medium', members: ['name', 'grain'], values: [expect.any(String), expect.any(String)] },
    ]);
    expect(await unmatchedOf({ 'medium.nam': 'oil' }, { axes })).toMatchObject([
      { axis: 'medium.nam', members: ['name', 'grain'], values: [] },
    ]);
  });

  it('are reported with all twenty values where there are no more, though some are repeated', async () => {
    const values = Array.from({ length: 20 }, (_, n) => `v${n}`);
    for (const more of [false, true]) {
      const axes = [listed('animal', [...values, 'v3', ...(more ? ['v20'] : [])])];
      expect(await unmatchedOf({ animal: 'x' }, { axes })).toMatchObject([{ values, more }]);
    }
  });

  it('are reported for a member of a number, which has none', async () => {
    const known = { values: [], ranges: [], more: false, members: [] };
    expect(await unmatchedOf({ 'seed.low': '2' }, { axes: [ranged('seed', 1, 3)] })).toEqual([
      { axis: 'seed.low', value: '2', ...known },
    ]);
  });

  it('are found in a table of any size, and twenty values are listed', async () => {
    const rows = Array.from({ length: 60_000 }, (_, row) => `word ${row % 30_000},${'x'.repeat(20)}\n`);
    const files = new MemoryFiles({ 't.csv': `word,filler\n${rows.join('')}` });
    const axes = [rowed('t.csv', ['word', 'filler'])];
    expect(await unmatchedOf({ word: 'word 29999' }, { axes }, files)).toEqual([]);
    const [unmatched] = await unmatchedOf({ word: 'word 30000' }, { axes }, files);
    expect(unmatched).toMatchObject({ value: 'word 30000', more: true, members: [] });
    expect(unmatched?.values).toEqual(Array.from({ length: 20 }, (_, row) => `word ${row}`));
  });
});
