import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  filtersOf,
  filterTakes,
  type NumberRange,
  rangeIndex,
  rangeSize,
  rangeValue,
  shardCount,
  shardTakes,
} from '../../../src/plan/matrix/selection.ts';

const valuesOf = (range: NumberRange): readonly number[] =>
  Array.from({ length: rangeSize(range) }, (_, index) => rangeValue(range, index));

describe('a range of numbers', () => {
  it.each<readonly [number, number, number, readonly number[]]>([
    [1, 3, 1, [1, 2, 3]],
    [3, 1, -1, [3, 2, 1]],
    [1, 0, -0.25, [1, 0.75, 0.5, 0.25, 0]],
    [-1, 1, 0.5, [-1, -0.5, 0, 0.5, 1]],
    [0, 3e-7, 1e-7, [0, 1e-7, 2e-7, 3e-7]],
    [1e-7, 4e-7, 1.5e-7, [1e-7, 2.5e-7, 4e-7]],
    [1e21, 3e21, 1e21, [1e21, 2e21, 3e21]],
    [0.1, 0.5, 0.2, [0.1, 0.3, 0.5]],
    [1.005, 1.015, 0.005, [1.005, 1.01, 1.015]],
    [5, 5, -1, [5]],
    [1, 0.999_999_98, -1e-8, [1, 0.999_999_99, 0.999_999_98]],
    [1e7, 10_000_000.7, 0.7, [1e7, 10_000_000.7]],
    [0, 0.299_999_999_99, 0.1, [0, 0.1, 0.2]],
    [0, 0.300_000_000_01, 0.1, [0, 0.1, 0.2, 0.3]],
    [1, 3, -1, []],
    [3, 1, 1, []],
    [1, 2, 0, []],
    [1, 1, 0, []],
  ])('from %d to %d by %d', (from, to, step, values) => {
    expect(valuesOf({ from, to, step })).toEqual(values);
    expect(rangeSize({ from, to, step })).toBe(values.length);
  });

  it('finds the index of each number by its text, and no other text', () => {
    const decimal = fc.tuple(fc.integer({ min: -999, max: 999 }), fc.integer({ min: 0, max: 9 }));
    const law = fc.property(decimal, decimal, fc.integer({ min: 1, max: 60 }), ([n, d], [m, e], size) => {
      fc.pre(m !== 0);
      const [from, step] = [Number(`${n}e-${d}`), Number(`${m}e-${e}`)];
      const last = Number(((from * 1e9 + step * 1e9 * (size - 1)) / 1e9).toFixed(9));
      const range = { from, to: last, step };
      const values = valuesOf(range);
      expect(values).toHaveLength(size);
      expect(new Set(values).size).toBe(size);
      for (const [index, value] of values.entries()) {
        expect(rangeIndex(range, String(value)) + 0).toBe(index);
        // No more decimals than it was written with.
        expect(Number(value.toFixed(Math.max(d, e)))).toBe(value);
      }
    });
    fc.assert(law, { seed: 5, numRuns: 300 });
  });

  it.each([
    '',
    ' 2',
    '2 ',
    '02',
    '2.0',
    '2e0',
    '+2',
    '0',
    '4',
    '1.5',
    'x',
    'NaN',
    'Infinity',
    '-Infinity',
    '0x2',
  ])('from 1 to 3 has no number that renders as %j', (text) => {
    expect(rangeIndex({ from: 1, to: 3, step: 1 }, text)).toBe(-1);
  });

  it('has its first and its last number', () => {
    const range = { from: 1, to: 3, step: 1 };
    expect(['1', '2', '3'].map((text) => rangeIndex(range, text))).toEqual([0, 1, 2]);
    expect(['3', '1'].map((text) => rangeIndex({ from: 3, to: 1, step: -1 }, text) + 0)).toEqual([0, 2]);
    expect(['0', ''].map((text) => rangeIndex({ from: -1, to: 1, step: 1 }, text))).toEqual([1, -1]);
    expect(rangeIndex({ from: 1, to: 2.5, step: 1 }, '3')).toBe(-1);
  });
});

describe('a shard', () => {
  it('contains as many of the first numbers as it counts', () => {
    const law = fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 60 }),
      (of, at, count) => {
        const shard = { of, index: ((at - 1) % of) + 1 };
        const selected = Array.from({ length: count }, (_, index) => index + 1).filter((n) =>
          shardTakes(shard, n),
        );
        expect(selected).toHaveLength(shardCount(shard, count));
        expect(selected[0] ?? shard.index).toBe(shard.index);
      },
    );
    fc.assert(law, { seed: 5 });
    expect([shardTakes(undefined, 7), shardCount(undefined, 7)]).toEqual([true, 7]);
  });
});

describe('a filter', () => {
  const only = (axis: string, ...values: readonly string[]) => {
    const [filter] = filtersOf(['a', 'a.b'], { filters: values.map((value) => ({ axis, value })) });
    if (filter === undefined) throw new Error('There is no filter.');
    return filter;
  };

  it('accepts any of its texts, for a variable or one of its members', () => {
    expect(['x', 'y', 'z'].map((value) => filterTakes(only('a', 'x', 'y'), value))).toEqual([
      true,
      true,
      false,
    ]);
    const deep = only('a.c.d', 'x');
    expect(deep).toEqual({ variable: 'a', path: ['c', 'd'], texts: new Set(['x']) });
    expect(
      [{ c: { d: 'x' } }, { c: { d: 'y' } }, { c: 'x' }, 'x'].map((value) => filterTakes(deep, value)),
    ).toEqual([true, false, false, false]);
    expect(only('a.b', 'x')).toMatchObject({ variable: 'a.b', path: [] });
    expect(only('a.b.c', 'x')).toMatchObject({ variable: 'a.b', path: ['c'] });
  });

  it('never accepts a missing value, whatever its text is', () => {
    for (const text of ['', 'null', 'undefined']) expect(filterTakes(only('a', text), undefined)).toBe(false);
    expect(filterTakes(only('a', ''), '')).toBe(true);
  });

  it('of an unknown variable accepts no cell', () => {
    expect(only('z', 'x')).toEqual({ variable: 'z', path: [], texts: new Set(['x']) });
    expect(only('ab', 'x')).toMatchObject({ variable: 'ab' });
  });

  it('is made once per named axis', () => {
    const filters = [
      { axis: 'a', value: '1' },
      { axis: 'a.b', value: '2' },
      { axis: 'a', value: '3' },
    ];
    expect(filtersOf(['a', 'a.b'], { filters }).map(({ variable, texts }) => [variable, [...texts]])).toEqual(
      [
        ['a', ['1', '3']],
        ['a.b', ['2']],
      ],
    );
    expect(filtersOf(['a'], {})).toEqual([]);
  });
});
