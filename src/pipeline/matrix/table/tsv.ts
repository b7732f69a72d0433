import type { FilePort } from '../../files.ts';
import { sectionLines, tableSections } from './chunks.ts';
import { checkColumns, checkSeparator, textRow } from './columns.ts';
import type { BadRows } from './error.ts';
import type { TableBatch, TableRow } from './table.ts';

/**
 * Reads tab-separated text: a line is a row and a tab ends a field, always, so that no quote can swallow a row.
 * A field is taken as it stands (TSV in the wild is not quoted: `"G I G G L E" painted in …`), but for one case:
 * a field that is quoted from end to end, each quote inside it doubled, is what spreadsheets write, and is
 * unquoted. A value that really has quotes around it is written `"""so"""`. Blank lines are skipped.
 */
export async function* tsvBatches(
  files: FilePort,
  file: string,
  bad: BadRows,
): AsyncGenerator<TableBatch, void, undefined> {
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
}

const hint = 'Tabs separate fields: a field cannot hold a tab or a line end.';

const quotedWhole = /^"(?:[^"]|"")*"$/;

function unquote(field: string): string {
  return field.charCodeAt(0) === 0x22 && quotedWhole.test(field)
    ? field.slice(1, -1).replaceAll('""', '"')
    : field;
}
