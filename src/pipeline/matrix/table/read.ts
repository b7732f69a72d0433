import type { FilePort } from '../../files.ts';
import { csvBatches } from './csv.ts';
import { TableError } from './error.ts';
import { jsonlBatches } from './jsonl.ts';
import { listingBatches } from './listing.ts';
import type { TableBatch, TableFormat, TableRow } from './table.ts';
import { tsvBatches } from './tsv.ts';
import { yamlBatches } from './yaml.ts';

/**
 * The rows of a table in file order. Memory does not grow with the file (but for YAML, which is capped).
 *
 * @throws TableError where the table is wrong; the rows before it have been delivered or lie in the same 64 KiB
 */
export async function* readTable(
  files: FilePort,
  file: string,
  format: TableFormat,
): AsyncGenerator<TableRow, void, undefined> {
  for await (const { rows } of tableBatches(files, file, format)) yield* rows;
}

/**
 * {@link readTable} in batches of rows that are neighbours in the file, for readers of millions of rows.
 *
 * @throws TableError
 */
export async function* tableBatches(
  files: FilePort,
  file: string,
  format: TableFormat,
): AsyncGenerator<TableBatch, void, undefined> {
  let columns: readonly string[] | undefined;
  let rows = 0;
  for await (const batch of batches(files, file, format)) {
    columns = batch.columns;
    rows += batch.rows.length;
    yield batch;
  }
  if (columns === undefined) throw new TableError('table.empty', 'The table is empty.', { line: 1 });
  if (rows === 0) throw new TableError('table.empty', 'The table has a header and no rows.', { line: 1 });
}

/**
 * The names of a table's columns: the header of CSV and TSV, the members of the first row of JSONL and YAML. Reads
 * only the beginning of the file (YAML: all of it).
 *
 * @throws TableError
 */
export async function tableColumns(
  files: FilePort,
  file: string,
  format: TableFormat,
): Promise<readonly string[]> {
  for await (const { columns } of batches(files, file, format)) return columns;
  throw new TableError('table.empty', 'The table is empty.', { line: 1 });
}

function batches(
  files: FilePort,
  file: string,
  format: TableFormat,
): AsyncGenerator<TableBatch, void, undefined> {
  switch (format) {
    case 'csv':
      return csvBatches(files, file);
    case 'tsv':
      return tsvBatches(files, file);
    case 'jsonl':
      return jsonlBatches(files, file);
    case 'yaml':
      return yamlBatches(files, file);
    case 'files':
      return listingBatches(files, file);
  }
}
