import { expect, test } from 'vitest';
import { fullRows, moved, rowsByCell } from '../../../../../../src/report/page/views/results/grid/layout.ts';
import { Stretch } from '../../../../../../src/report/page/views/results/grid/stretch.ts';

const view = 800;

function stretched(total: number): Stretch {
  const stretch = new Stretch();
  stretch.total = total;
  stretch.view = view;
  return stretch;
}

test('scrolls a list that browsers can draw without scaling', () => {
  const stretch = stretched(100_000);
  expect(stretch.height).toBe(100_000);
  expect(stretch.scrolled(5000)).toBe(5000);
  expect(stretch.shown(5100)).toBe(5100);
  expect(stretch.settle()).toBeUndefined();
});

test('the end of the page shows the end of a list that is too high for browsers', () => {
  const stretch = stretched(90_000_000);
  expect(stretch.height).toBe(8_000_000);
  expect(stretch.scrolled(stretch.height - view)).toBeCloseTo(90_000_000 - view, 0);
  expect(stretch.scrolled(0)).toBe(0);
});

test('small movements move the list equally, and the page then settles at its share of the height', () => {
  const stretch = stretched(90_000_000);
  const before = stretch.scrolled(4_000_000);
  expect(stretch.scrolled(4_000_120)).toBe(before + 120);
  expect(stretch.scrolled(4_000_060)).toBe(before + 60);
  for (let n = 1; n <= 100; n += 1) stretch.scrolled(4_000_060 + 100 * n);
  const settled = stretch.settle() as number;
  expect(settled).toBeGreaterThan(4_000_060);
  expect(settled).toBeLessThan(4_010_060);
  // The event of having settled moves nothing.
  expect(stretch.scrolled(settled)).toBe(before + 60 + 10_000);
});

test('converts an offset in the list into an offset on the page', () => {
  const stretch = stretched(90_000_000);
  const listed = stretch.scrolled(6_000_000);
  expect(stretch.shown(listed + 100)).toBe(6_000_100);
});

test('a row becomes visible by the shortest scroll, below the bar that covers the window', () => {
  const stretch = stretched(100_000);
  stretch.scrolled(1000);
  expect(stretch.reveal(1100, 100, 50)).toBeUndefined();
  expect(stretch.reveal(1000, 100, 50)).toBe(950);
  expect(stretch.reveal(5000, 100, 50)).toBe(5000 + 100 - view);
});

test.each([
  ['ArrowRight', 0, 1],
  ['ArrowLeft', 0, undefined],
  ['ArrowDown', 1, 5],
  ['ArrowDown', 7, 9],
  ['ArrowDown', 9, undefined],
  ['ArrowUp', 3, undefined],
  ['ArrowUp', 5, 1],
  ['PageDown', 0, 8],
  ['PageUp', 9, 1],
  ['Home', 5, 0],
  ['End', 5, 9],
  ['a', 5, undefined],
])('%s from result %i of ten in fours goes to %s', (key, from, to) => {
  expect(moved(key, from, 10, fullRows(10, 4), 2)).toBe(to);
});

test('each cell begins a row, and continues in the next if it has more results than columns', () => {
  const cells = [1, 1, 1, 2, 3, 3, 3, 3, 3, 4];
  const layout = rowsByCell(cells.length, 3, (position) => cells[position] as number);
  expect(Array.from({ length: layout.rows }, (_, row) => [layout.first(row), layout.count(row)])).toEqual([
    [0, 3],
    [3, 1],
    [4, 3],
    [7, 2],
    [9, 1],
  ]);
  expect(cells.map((_, position) => layout.rowOf(position))).toEqual([0, 0, 0, 1, 2, 2, 2, 3, 3, 4]);
  expect(moved('ArrowDown', 2, cells.length, layout, 2)).toBe(3);
  expect(moved('ArrowUp', 8, cells.length, layout, 2)).toBe(5);
  expect(rowsByCell(0, 3, () => 1).rows).toBe(0);
});
