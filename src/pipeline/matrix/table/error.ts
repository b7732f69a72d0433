import type { TableErrorCode } from '../../diagnostics/codes.ts';
import { cutText } from '../../diagnostics/terminal-text.ts';

/** Where in the table an error stands. Lines and columns count from 1; column 1 where only the line is known. */
export interface TablePlace {
  readonly line: number;
  readonly column?: number;
  /** The text of that line where it is at hand, cut to a printable length. */
  readonly sourceLine?: string;
}

/** A table that cannot be read, or not to its end: the user's file is wrong, gone, or has changed. */
export class TableError extends Error {
  readonly code: TableErrorCode;
  readonly line: number;
  readonly column: number;
  readonly sourceLine: string;

  constructor(code: TableErrorCode, message: string, place: TablePlace, options?: ErrorOptions) {
    super(cutText(message), options);
    this.name = 'TableError';
    this.code = code;
    this.line = place.line;
    this.column = place.column ?? 1;
    this.sourceLine = (place.sourceLine ?? '').slice(0, 200);
  }
}

/** What a table may be at most. They bound memory: a file that breaks one is hardly a table. */
export const tableLimits = {
  /** Bytes of one line (TSV, JSONL) or one record (CSV). */
  recordBytes: 1024 * 1024,
  columns: 1024,
  /** Mappings and lists inside each other, in a row of JSONL. */
  depth: 100,
  /** A YAML table is parsed as a whole, so it stays small. */
  yamlBytes: 1024 * 1024,
  yamlRows: 10_000,
  /** Values of a YAML table, counted again each time an alias repeats them. */
  yamlValues: 1_000_000,
  /** Files of a listing, which are sorted in memory. */
  files: 100_000,
  /** Folders and files that are examined for a listing. */
  searched: 1_000_000,
} as const;
