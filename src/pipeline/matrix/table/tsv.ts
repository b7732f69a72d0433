import type { FilePort } from '../../files.ts';
import { sectionLines, tableSections } from './chunks.ts';
import { checkColumns, textRow } from './columns.ts';
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
): AsyncGenerator<TableBatch, void, undefined> {
  let columns: readonly string[] | undefined;
  for await (const section of tableSections(files, file, false)) {
    const rows: TableRow[] = [];
    for (const { text, line } of sectionLines(section)) {
      const fields = text.split('\t').map(unquote);
      if (columns === undefined) {
        columns = checkColumns(fields, line);
        yield { columns, rows: [] };
      } else {
        rows.push(textRow(columns, fields, line, '; a TSV field cannot hold a tab or a line end'));
      }
    }
    if (columns !== undefined) yield { columns, rows };
  }
}

const quotedWhole = /^"(?:[^"]|"")*"$/;

function unquote(field: string): string {
  return field.charCodeAt(0) === 0x22 && quotedWhole.test(field)
    ? field.slice(1, -1).replaceAll('""', '"')
    : field;
}
