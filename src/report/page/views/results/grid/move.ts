import type { Layout } from './layout.ts';

/** Returns the position that a key moves to; undefined if it does not move. `page` is the number of visible rows. */
export function moved(
  key: string,
  from: number,
  total: number,
  layout: Layout,
  page: number,
): number | undefined {
  const row = layout.rowOf(from);
  const column = from - layout.first(row);
  const inRow = (to: number): number | undefined =>
    to < 0 || to >= layout.rows ? undefined : layout.first(to) + Math.min(column, layout.count(to) - 1);
  const to = {
    ArrowRight: from + 1,
    ArrowLeft: from - 1,
    ArrowDown: inRow(row + 1),
    ArrowUp: inRow(row - 1),
    PageDown: inRow(Math.min(layout.rows - 1, row + page)),
    PageUp: inRow(Math.max(0, row - page)),
    Home: 0,
    End: total - 1,
  }[key];
  return to !== undefined && to >= 0 && to < total ? to : undefined;
}
