import type { FilePort } from '../../files.ts';
import { sectionLines, tableSections } from './chunks.ts';
import { checkColumns, checkSeparator, textRow } from './columns.ts';
import { BadRows, TableError } from './error.ts';
import { jsonBatches, jsonlBatches } from './json/batches.ts';
import { listingBatches } from './listing.ts';
import type { BatchReader, TableBatch, TableFormat, TableRow } from './table.ts';
import { yamlBatches } from './yaml.ts';

/**
 * Reads the rows of a table in file order. Memory does not grow with the file, except for YAML, which has a size limit.
 *
 * @throws TableError for a wrong table, with its first wrong rows; the rows before them have been delivered or lie in the same 64 KiB
 */
export async function* readTable(
  files: FilePort,
  file: string,
  format: TableFormat,
): AsyncGenerator<TableRow, void, undefined> {
  for await (const { rows } of tableBatches(files, file, format)) yield* rows;
}

/**
 * Reads a table like {@link readTable}, in batches of consecutive rows, for millions of rows.
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
  for await (const batch of goodBatches(files, file, format)) {
    columns = batch.columns;
    rows += batch.rows.length;
    yield batch;
  }
  if (columns === undefined) throw new TableError('table.empty', 'The table is empty.', 1);
  if (rows === 0) throw new TableError('table.empty', 'The table has a header, but no rows.', 1);
}

/**
 * Reads the names of a table's columns: the header of CSV and TSV, the members of the first row of JSONL, JSON and YAML. Reads only the
 * beginning of the file (YAML: all of it).
 *
 * @throws TableError
 */
export async function tableColumns(
  files: FilePort,
  file: string,
  format: TableFormat,
): Promise<readonly string[]> {
  for await (const { columns } of goodBatches(files, file, format)) return columns;
  throw new TableError('table.empty', 'The table is empty.', 1);
}

/** Yields the batches before the first wrong row. The rest of the table is read only to find other wrong rows. */
async function* goodBatches(
  files: FilePort,
  file: string,
  format: TableFormat,
): AsyncGenerator<TableBatch, void, undefined> {
  const bad = new BadRows();
  try {
    for await (const batch of readers[format](files, file, bad)) if (!bad.any) yield batch;
  } catch (error) {
    throw error instanceof TableError ? (bad.error(error) ?? error) : error;
  }
  const error = bad.error();
  if (error !== undefined) throw error;
}

/** Loads the CSV reader on first use: most pipelines have no CSV, and the reader is a tenth of all that they load. */
const csvTable: BatchReader = async function* (files, file, bad) {
  const { csvBatches } = await import('./csv.ts');
  yield* csvBatches(files, file, bad);
};

/**
 * Reads tab-separated text: each line is a row and each tab ends a field, so that no quote can swallow a row. A field is taken as it
 * stands (real TSV is not quoted: `"G I G G L E" painted in …`), with one exception: a field in quotes, with each quote inside doubled,
 * comes from a spreadsheet and is unquoted. A value that really has quotes around it is written `"""so"""`. Blank lines are skipped.
 */
const tsvBatches: BatchReader = async function* (files, file, bad) {
  let columns: readonly string[] | undefined;
  for await (const section of tableSections(files, file, false)) {
    const rows: TableRow[] = [];
    for (const { text, line } of sectionLines(section)) {
      const fields = text.split('\t').map(unquote);
      if (columns === undefined) {
        checkSeparator(fields, line, text, 'tsv');
        columns = checkColumns(fields, line);
        yield { columns, rows: [] };
      } else {
        const names = columns;
        const row = bad.row(() => textRow(names, fields, line, { hint, sourceLine: () => text }));
        if (row !== undefined) rows.push(row);
      }
    }
    if (columns !== undefined) yield { columns, rows };
  }
};

const hint = 'Tabs separate fields: a field cannot contain a tab or a line end.';

const quotedWhole = /^"(?:[^"]|"")*"$/;

function unquote(field: string): string {
  return field.charCodeAt(0) === 0x22 && quotedWhole.test(field)
    ? field.slice(1, -1).replaceAll('""', '"')
    : field;
}

const readers: Readonly<Record<TableFormat, BatchReader>> = {
  csv: csvTable,
  tsv: tsvBatches,
  jsonl: jsonlBatches,
  json: jsonBatches,
  yaml: yamlBatches,
  files: listingBatches,
};
