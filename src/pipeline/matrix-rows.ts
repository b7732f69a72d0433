import path from 'node:path';
import type { FileCheck } from './file-check.ts';
import type { FilePort } from './files.ts';
import { isText, type SourceEntry } from './node.ts';
import type { Axis } from './pipeline.ts';
import type { Reports } from './reports.ts';
import { maskSecrets } from './secrets.ts';
import { type TableFormat, tableColumns } from './table.ts';
import { TableError } from './table-error.ts';

const formats: Readonly<Record<string, TableFormat>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.yaml': 'yaml',
  '.yml': 'yaml',
};

interface Surroundings {
  readonly files: FilePort;
  readonly fileCheck: FileCheck;
  readonly reports: Reports;
}

/** The `rows` axis with the columns of its table; undefined when they are not known, which is then reported. */
export async function readRows(
  { key: name, keySpan, value: node }: SourceEntry,
  { files, fileCheck, reports }: Surroundings,
): Promise<Axis | undefined> {
  if (!isText(node) || node.value === '') return undefined;
  const declared = node.value;
  const format = formats[path.extname(declared).toLowerCase()];
  if (format === undefined) {
    const hint = `Possible: ${Object.keys(formats).join(', ')}.`;
    reports.error(
      'matrix.rows-format',
      node.span,
      `The ending of "${declared}" does not say how it is written.`,
      hint,
    );
    return undefined;
  }
  const file = await fileCheck.check(declared, node.span);
  if (file === undefined) return undefined;
  try {
    const columns = await tableColumns(files, file, format);
    return {
      kind: 'rows',
      name,
      declared,
      file,
      format,
      columns,
      position: reports.source.position(keySpan),
    };
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const { code, message, line, column, sourceLine } = error;
    const shown = path.join(path.dirname(reports.source.file), declared);
    reports.elsewhere({
      severity: 'error',
      code,
      message,
      file: shown,
      line,
      column,
      length: 1,
      sourceLine: maskSecrets(sourceLine),
    });
    return undefined;
  }
}
