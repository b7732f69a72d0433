import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderValue } from '../../../src/pipeline/values/value.ts';
import {
  type PairHash,
  pairHash,
  RangeHashes,
  RowHashes,
  rankOf,
  ValueHashes,
} from '../../../src/plan/matrix/hash.ts';
import { listed, ranged, type SpecParts, varsOf } from './spec.ts';

// A sample is drawn again in each run: another hash would draw other cells, and pay for them.
describe('a sample never changes', () => {
  it.each<readonly [string, string, number, number]>([
    ['', '', 1_576_238_264, 1_647_762_435],
    ['seed', '1', 138_721_040, 22_422_779],
    ['seed', '2', 281_266_647, -55_337_946],
    ['animal', 'fox', 498_174_595, 1_837_405_297],
    ['anima', 'lfox', -1_180_846_197, -2_005_244_540],
    ['scène', 'à l’aube 🦊', 1_830_739_345, 42_515_883],
    ['k', 'x'.repeat(1000), 730_650_476, 1_360_962_897],
  ])('the hash of the variable %j with the value %j', (name, text, a, b) => {
    expect(pairHash(name, text)).toEqual({ a, b });
  });

  it.each([
    [0, 0, 7_147_201_949_916_999],
    [1, 0, 3_789_811_632_203_458],
    [0, 1, 4_280_766_033_052_264],
    [-1, -1, 5_201_233_672_192_092],
    [2_147_483_647, -2_147_483_648, 6_799_940_445_622_589],
  ])('the rank of the sums %i and %i', (a, b, rank) => {
    expect(rankOf(a, b, pairHash('seed', '7'))).toBe(rank);
  });

  it('the drawn cells', async () => {
    const animals = Array.from({ length: 40 }, (_, index) => `animal ${index}`);
    const drawn = async (parts: SpecParts) =>
      (await varsOf(parts)).map((vars) => Object.values(vars).map(renderValue).join(' '));
    const axes = [listed('animal', animals), ranged('seed', 1, 25)];
    expect(await drawn({ axes, sample: { count: 8, seed: 7 } })).toEqual([
      'animal 0 7',
      'animal 1 12',
      'animal 15 21',
      'animal 16 11',
      'animal 19 23',
      'animal 23 8',
      'animal 26 10',
      'animal 27 14',
    ]);
    expect(await drawn({ axes, sample: { count: 3, seed: 8 } })).toEqual([
      'animal 16 19',
      'animal 35 22',
      'animal 36 6',
    ]);
    const include = [{ w: 'lynx' }, { w: 'wolf' }];
    expect(await drawn({ axes: [ranged('w', 0, 1, 0.05)], include, sample: { count: 6, seed: -1 } })).toEqual(
      ['0.05', '0.45', '0.55', '0.6', '0.7', 'lynx'],
    );
  });
});

const pair: fc.Arbitrary<PairHash> = fc.record({ a: fc.integer(), b: fc.integer() });

describe('the hashes of an axis', () => {
  it('are the added ones, for any number of rows', () => {
    const law = fc.property(fc.array(pair, { minLength: 0, maxLength: 400, size: 'max' }), (hashes) => {
      const rows = new RowHashes();
      for (const hash of hashes) rows.push(hash);
      const values = new ValueHashes(hashes);
      for (const kept of [rows, values])
        expect(hashes.map((_, index) => ({ a: kept.a(index), b: kept.b(index) }))).toEqual(hashes);
    });
    fc.assert(law, { seed: 7, numRuns: 30 });
  });

  it('of a range are stored up to a million numbers, and computed on demand beyond', () => {
    const computed: number[] = [];
    const compute = (index: number): PairHash => {
      computed.push(index);
      return { a: index + 1, b: -index };
    };
    const listedRange = new RangeHashes(RangeHashes.listed, compute);
    expect([RangeHashes.listed, computed.length, computed.at(-1)]).toEqual([1_000_000, 1_000_000, 999_999]);
    expect([listedRange.a(999_999), listedRange.b(999_999), listedRange.a(0), listedRange.b(7)]).toEqual([
      1_000_000, -999_999, 1, -7,
    ]);
    expect(computed).toHaveLength(1_000_000);
    computed.length = 0;
    const long = new RangeHashes(RangeHashes.listed + 1, compute);
    expect(computed).toEqual([]);
    expect([new RangeHashes(RangeHashes.listed + 1, (index) => ({ a: index, b: index })).a(1)]).toEqual([1]);
    expect([long.a(5), long.b(5), long.b(6), long.a(6), long.a(5), long.a(1_000_000)]).toEqual([
      6, -5, -6, 7, 6, 1_000_001,
    ]);
    expect(computed).toEqual([5, 6, 5, 1_000_000]);
  });
});
