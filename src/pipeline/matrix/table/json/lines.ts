import type { FilePort } from '../../../files.ts';
import { sectionLines, tableSections } from '../chunks.ts';
import { OwnColumns } from '../columns.ts';
import type { BadRows } from '../error.ts';
import type { TableBatch, TableRow } from '../table.ts';
import { jsonRow } from './row.ts';

/**
 * Reads one JSON object per line. Values may nest; numbers render as they are written, so that an id beyond 2^53
 * survives. The first row names the columns; another row may lack some of them, which are then null. Blank lines are skipped.
 */
export async function* jsonlBatches(
  files: FilePort,
  file: string,
  bad: BadRows,
): AsyncGenerator<TableBatch, void, undefined> {
  const own = new OwnColumns();
  for await (const section of tableSections(files, file, false)) {
    const rows: TableRow[] = [];
    for (const line of sectionLines(section)) {
      if (line.text.trim() === '') continue;
      const known = own.columns !== undefined;
      const row = bad.row(() => jsonRow({ ...line, column: 1 }, own));
      if (row !== undefined) rows.push(row);
      if (!known && own.columns !== undefined) yield { columns: own.columns, rows: [] };
    }
    if (own.columns !== undefined) yield { columns: own.columns, rows };
  }
}
