import type { FilePort } from '../../files.ts';
import { sectionLines, tableSections } from './chunks.ts';
import { checkColumns, checkSeparator, textRow } from './columns.ts';
import { BadRows, TableError } from './error.ts';
import { jsonBatches, jsonlBatches } from './json/batches.ts';
import { listingBatches } from './listing.ts';
import type { BatchReader, TableBatch, TableFormat, TableRow } from './table.ts';
import { yamlBatches } from './yaml.ts';

/**
 * The rows of a table in file order. Memory does not grow with the file (but for YAML, which is capped).
 *
 * @throws TableError where the table is wrong, with the first wrong rows; the rows before them have been delivered or lie in the
 *   same 64 KiB
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
  for await (const batch of goodBatches(files, file, format)) {
    columns = batch.columns;
    rows += batch.rows.length;
    yield batch;
  }
  if (columns === undefined) throw new TableError('table.empty', 'The table is empty.', 1);
  if (rows === 0) throw new TableError('table.empty', 'The table has a header and no rows.', 1);
}

/**
 * The names of a table's columns: the header of CSV and TSV, the members of the first row of JSONL, JSON and YAML. Reads
 * only the beginning of the file (YAML: all of it).
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

/** The batches before the first row that is wrong. The table is then read on only to find the other wrong rows. */
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

/** Most pipelines have no CSV, and what reads it is a tenth of what they load. */
const csvTable: BatchReader = async function* (files, file, bad) {
  const { csvBatches } = await import('./csv.ts');
  yield* csvBatches(files, file, bad);
};

/**
 * Reads tab-separated text: a line is a row and a tab ends a field, always, so that no quote can swallow a row.
 * A field is taken as it stands (TSV in the wild is not quoted: `"G I G G L E" painted in …`), but for one case:
 * a field that is quoted from end to end, each quote inside it doubled, is what spreadsheets write, and is
 * unquoted. A value that really has quotes around it is written `"""so"""`. Blank lines are skipped.
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

const hint = 'Tabs separate fields: a field cannot hold a tab or a line end.';

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
