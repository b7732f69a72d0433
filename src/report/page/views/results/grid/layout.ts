import type { Found } from '../../../source/source.ts';

/** Positions of results in rows. */
export interface Layout {
  readonly rows: number;
  /** Returns the position of the first result in a row. */
  readonly first: (row: number) => number;
  /** Returns the number of results in a row. */
  readonly count: (row: number) => number;
  readonly rowOf: (position: number) => number;
}

/** Layout with full rows, except the last. */
export function fullRows(total: number, columns: number): Layout {
  return {
    rows: Math.ceil(total / columns),
    first: (row) => row * columns,
    count: (row) => Math.max(0, Math.min(columns, total - row * columns)),
    rowOf: (position) => Math.floor(position / columns),
  };
}

/** Layout in which each cell begins a new row: a contact sheet of cells by steps. */
export function rowsByCell(total: number, columns: number, cellOf: NonNullable<Found['cellOf']>): Layout {
  const starts: number[] = [];
  let cell: number | undefined;
  for (let position = 0; position < total; position += 1) {
    const here = cellOf(position);
    if (here !== cell || position - (starts.at(-1) as number) === columns) starts.push(position);
    cell = here;
  }
  const first = (row: number): number => starts[row] ?? total;
  return {
    rows: starts.length,
    first,
    count: (row) => first(row + 1) - first(row),
    rowOf: (position) => {
      let [low, high] = [0, starts.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (first(middle) <= position) low = middle;
        else high = middle - 1;
      }
      return Math.max(0, low);
    },
  };
}

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
