import type { FilePort } from '../pipeline/files.ts';
import { TableError } from '../pipeline/matrix/table/error.ts';
import { type TableFormat, type TableRow, tableBatches } from '../pipeline/matrix/table/read.ts';
import type { Axis } from '../pipeline/pipeline.ts';
import { Fingerprint } from './matrix-fingerprint.ts';

/** The rows of a table as the matrix uses them. */
export type RowValues = TableRow['values'];

/** What the first pass over a table found. */
export interface MatrixTable {
  /** Absolute path. */
  readonly file: string;
  /** The path as the pipeline gives it. */
  readonly declared: string;
  readonly format: TableFormat;
  readonly columns: readonly string[];
  readonly rows: number;
  /** SHA-256 of the file's bytes, in hexadecimal. */
  readonly sha256: string;
  readonly fingerprint: Fingerprint;
  /** All rows of a small table; a large one is read again instead. */
  readonly kept: readonly RowValues[] | undefined;
}

/** Tables of at most this many bytes are kept in memory. */
const keptBytes = 1024 * 1024;

/**
 * Reads a table once from end to end: counts its rows, hashes its bytes, shows each row to `onRow`.
 *
 * @throws TableError
 */
export async function surveyTable(
  files: FilePort,
  axis: Extract<Axis, { kind: 'rows' }>,
  onRow: (values: RowValues) => void,
  signal?: AbortSignal,
): Promise<MatrixTable> {
  const fingerprint = new Fingerprint();
  let kept: RowValues[] | undefined = [];
  let rows = 0;
  let columns: readonly string[] = [];
  for await (const batch of tableBatches(fingerprint.recording(files), axis.file, axis.format)) {
    signal?.throwIfAborted();
    ({ columns } = batch);
    if (rows === 0 && batch.rows.length === 0) checkColumns(axis, columns);
    rows += batch.rows.length;
    // A YAML table cannot be read in part, and is small by its own limits.
    if (fingerprint.bytes > keptBytes && axis.format !== 'yaml') kept = undefined;
    for (const { values } of batch.rows) {
      onRow(values);
      kept?.push(values);
    }
  }
  const { file, declared, format } = axis;
  return { file, declared, format, columns, rows, sha256: fingerprint.sha256(), fingerprint, kept };
}

function checkColumns(axis: Extract<Axis, { kind: 'rows' }>, columns: readonly string[]): void {
  const known = new Set(axis.columns);
  if (columns.length === known.size && columns.every((name) => known.has(name))) return;
  throw new TableError(
    'table.changed',
    `The table has the columns ${columns.join(', ')}; a moment ago it had ${axis.columns.join(', ')}.`,
    { line: 1 },
  );
}
