import type { FilePort } from '../../src/pipeline/files.ts';
import { TableError } from '../../src/pipeline/matrix/table/error.ts';
import { readTable } from '../../src/pipeline/matrix/table/read.ts';
import { type TableFormat, type TableRow } from '../../src/pipeline/matrix/table/table.ts';
import { MemoryFiles } from './table-port.ts';

export async function rowsOf(
  format: TableFormat,
  text: string | Uint8Array,
  chunkBytes?: number,
): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for await (const row of readTable(new MemoryFiles({ table: text }, chunkBytes), 'table', format))
    rows.push(row);
  return rows;
}

/** The error that ends the reading of a table; undefined when there is none. */
export async function tableErrorIn(
  format: TableFormat,
  text: string | Uint8Array,
  files: FilePort = new MemoryFiles({ table: text }),
): Promise<TableError | undefined> {
  try {
    for await (const row of readTable(files, 'table', format)) void row;
  } catch (error) {
    if (error instanceof TableError) return error;
    throw error;
  }
  return undefined;
}
