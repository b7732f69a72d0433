import { expect, it } from 'vitest';
import { packCells, unpackCells } from '../../../src/engine/slices/cells.ts';
import { WrittenNumber } from '../../../src/pipeline/values/value.ts';
import type { Cell } from '../../../src/plan/cell.ts';

it('keeps the values of cells, and the spelling of numbers', () => {
  const cells: readonly Cell[] = [
    { number: 1, repeat: 1, vars: { a: 'x\0y', b: new WrittenNumber('6.0', 6), c: null } },
    {
      number: 2,
      repeat: 2,
      vars: { a: [1, new WrittenNumber('1e3', 1000)], b: { $: '7', of: [] }, c: true },
    },
    { number: 3, repeat: 1, vars: { b: 1, other: 'an include has names of its own' } },
  ];
  const back = unpackCells(packCells(cells), 'shown');
  expect(back).toEqual(cells);
  expect(back[0]?.vars['b']).toBeInstanceOf(WrittenNumber);
  expect(Object.keys(back[2]?.vars ?? {})).toEqual(['b', 'other']);
});

it('has no cells for a slice of an earlier invocation', () => {
  expect(unpackCells('', 'shown')).toEqual([]);
});
