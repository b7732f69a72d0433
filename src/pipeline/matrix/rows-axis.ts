import path from 'node:path';
import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import type { FileCheck, FilePort } from '../files.ts';
import type { Axis } from '../pipeline.ts';
import { isText, member, type SourceEntry, type TextNode } from '../yaml/node.ts';
import { TableError, tableDiagnostics } from './table/error.ts';
import { listingColumns, listingName, readGlob } from './table/glob.ts';
import { tableColumns } from './table/read.ts';
import { type TableFormat } from './table/table.ts';

const formats: Readonly<Record<string, TableFormat>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
};

interface Surroundings {
  /** Absolute folder of the pipeline. */
  readonly folder: string;
  readonly files: FilePort;
  readonly fileCheck: FileCheck;
  readonly collector: DiagnosticCollector;
}

/** The `rows` axis with the columns of its table; undefined when they are not known, which is then reported. */
export async function readRows(entry: SourceEntry, around: Surroundings): Promise<Axis | undefined> {
  const listed = member(entry.value, 'files');
  // The schema reports a value that is empty or no text.
  if (isText(listed) && listed.value !== '') return await readListing(entry, listed, around);
  return await readTableRows(entry, around);
}

/** Files as rows. There is nothing but their names to read. */
async function readListing(
  { key: name, keySpan }: SourceEntry,
  node: TextNode,
  { folder, files, collector }: Surroundings,
): Promise<Axis | undefined> {
  const declared = node.value;
  const read = readGlob(declared);
  if ('diagnostic' in read) {
    collector.error('matrix.glob', node.span, read.diagnostic.message, read.diagnostic.hint);
    return undefined;
  }
  const file = listingName(folder, declared);
  const position = collector.source.position(keySpan);
  const axis: Axis = {
    kind: 'rows',
    name,
    declared,
    file,
    format: 'files',
    columns: listingColumns,
    position,
  };
  try {
    await tableColumns(files, file, 'files');
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    // There is no text of a table that could be shown.
    if (error.code !== 'table.empty') collector.error(error.code, node.span, error.message);
    else {
      const hint = 'Paths are relative to the pipeline; * is any part of a name, ** any folders.';
      collector.error('matrix.no-files', node.span, `There is no file "${declared}".`, hint);
    }
  }
  return axis;
}

async function readTableRows(
  { key: name, keySpan, value: node }: SourceEntry,
  { files, fileCheck, collector }: Surroundings,
): Promise<Axis | undefined> {
  if (!isText(node) || node.value === '') return undefined;
  const declared = node.value;
  const format = formats[path.extname(declared).toLowerCase()];
  if (format === undefined) {
    const possible = `Possible: ${Object.keys(formats).join(', ')}.`;
    const isSpreadsheet = /\.(?:xlsx?|ods|numbers)$/i.test(declared);
    collector.error(
      'matrix.rows-format',
      node.span,
      isSpreadsheet
        ? `"${declared}" is a file of a spreadsheet program, and tables are read from text files.`
        : `The ending of "${declared}" does not say how it is written.`,
      isSpreadsheet ? `Save it as CSV (UTF-8) in the program that made it. ${possible}` : possible,
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
      position: collector.source.position(keySpan),
    };
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const shown = path.join(path.dirname(collector.source.file), declared);
    for (const diagnostic of tableDiagnostics(error, shown)) collector.elsewhere(diagnostic);
    return undefined;
  }
}
