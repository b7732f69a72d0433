import type { FilePort } from '../../files.ts';
import type { Value } from '../../values/value.ts';
import type { BadRows } from './error.ts';

/** The format of a table; `files` is a listing of files. */
export type TableFormat = 'csv' | 'tsv' | 'jsonl' | 'json' | 'yaml' | 'files';

/** A row with its columns. Values of CSV and TSV are texts; JSONL, JSON and YAML have typed values. */
export interface TableRow {
  /** Line of the file on which the row begins, from 1. */
  readonly line: number;
  readonly values: Readonly<Record<string, Value>>;
}

/** A batch of rows; the columns are the same in every batch. The first batch may have no rows. */
export interface TableBatch {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

/** Reads the rows of a table in one format, in file order. @throws TableError */
export type BatchReader = (
  files: FilePort,
  file: string,
  bad: BadRows,
) => AsyncGenerator<TableBatch, void, undefined>;
