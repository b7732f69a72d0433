import type { FilePort } from '../pipeline/files.ts';
import { tableBatches } from '../pipeline/matrix/table/read.ts';
import type { PreparedAxis } from './matrix-axis.ts';
import { rangeIndex } from './matrix-range.ts';
import type { MatrixTable, RowValues } from './matrix-table.ts';
import type { Wanted } from './matrix-walk.ts';
import { type Filter, filterTakes } from './select.ts';

/**
 * What filters want of an axis, decided once for each of its values: a million rows are a million bits.
 * Undefined where no filter concerns the axis.
 *
 * @throws TableError
 */
export async function wantedOf(
  axis: PreparedAxis,
  filters: readonly Filter[],
  files: FilePort,
  signal?: AbortSignal,
): Promise<Wanted | undefined> {
  const own = filters.filter(({ variable }) => axis.variables.includes(variable));
  if (own.length === 0) return undefined;
  const { source } = axis;
  switch (source.kind) {
    case 'values': {
      const wanted = source.values.map((value) => own.every((filter) => filterTakes(filter, value)));
      return (index) => wanted[index] === true;
    }
    case 'range': {
      const sets = own.map(
        ({ path, texts }) =>
          new Set(path.length > 0 ? [] : [...texts].map((text) => rangeIndex(source.range, text))),
      );
      return (index) => sets.every((set) => set.has(index));
    }
    case 'rows':
      return await wantedRows(source.table, own, files, signal);
  }
}

async function wantedRows(
  table: MatrixTable,
  filters: readonly Filter[],
  files: FilePort,
  signal: AbortSignal | undefined,
): Promise<Wanted> {
  const bits = new Uint8Array(Math.ceil(table.rows / 8));
  let index = 0;
  const judge = (values: RowValues): void => {
    if (filters.every((filter) => filterTakes(filter, values[filter.variable]))) {
      bits[index >> 3] = (bits[index >> 3] as number) | (1 << (index & 7));
    }
    index++;
  };
  if (table.kept !== undefined) table.kept.forEach(judge);
  else {
    for await (const { rows } of tableBatches(table.fingerprint.checking(files), table.file, table.format)) {
      signal?.throwIfAborted();
      for (const { values } of rows) judge(values);
    }
  }
  return (at) => ((bits[at >> 3] as number) & (1 << (at & 7))) !== 0;
}
