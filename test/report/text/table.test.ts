import { expect, it } from 'vitest';
import { tableLines } from '../../../src/report/text/table.ts';

it('aligns columns by their width on a terminal, and leaves out empty ones', () => {
  const rows = [
    ['狐狸', '', '7', 'red'],
    ['owl', '', '12', ''],
  ];
  const head = ['animal', 'none', 'n', 'colour'];
  expect(tableLines(rows, { head, isNumber: (column) => column === 2 })).toEqual([
    'animal   n  colour',
    '狐狸     7  red',
    'owl     12',
  ]);
  expect(
    tableLines([
      ['狐狸', 'fox'],
      ['owl', 'bird'],
    ]),
  ).toEqual(['狐狸  fox', 'owl   bird']);
  expect(tableLines([], { head })).toEqual([]);
});
