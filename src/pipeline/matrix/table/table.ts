import type { FilePort } from '../../files.ts';
import type { Value } from '../../values/value.ts';
import type { BadRows } from './error.ts';

/** How a table is written; `files` are the files of a folder. */
export type TableFormat = 'csv' | 'tsv' | 'jsonl' | 'json' | 'yaml' | 'files';

/** A row under its columns. Values of CSV and TSV are texts; JSONL, JSON and YAML have values of their own. */
export interface TableRow {
  /** Line of the file on which the row begins, from 1. */
  readonly line: number;
  readonly values: Readonly<Record<string, Value>>;
}

/** Some rows at once; the columns are the same in every batch. The first batch may have none. */
export interface TableBatch {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}

/** Reads the rows of a table of one format, in file order. @throws TableError */
export type BatchReader = (
  files: FilePort,
  file: string,
  bad: BadRows,
) => AsyncGenerator<TableBatch, void, undefined>;
