import type { TableErrorCode } from '../../diagnostics/codes.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { maskSecrets } from '../../diagnostics/mask-secrets.ts';
import { cutText } from '../../diagnostics/terminal-text.ts';

/** Position of an error in a table. Lines and columns count from 1; the column is 1 if only the line is known. */
export interface TablePlace {
  readonly line: number;
  readonly column?: number;
  /** Text of the line, if available, cut to a printable length. */
  readonly sourceLine?: string;
  /** What the user can do, as a sentence. */
  readonly hint?: string;
}

/** An error for a table that cannot be read to its end: the user's file is wrong, missing, or has changed. */
export class TableError extends Error {
  readonly code: TableErrorCode;
  readonly line: number;
  readonly column: number;
  readonly sourceLine: string;
  readonly hint: string | undefined;
  /** Further wrong rows of the same table, in file order. */
  others: readonly TableError[] = [];
  /** Whether rows after the last of {@link others} were not read. */
  unread = false;

  /** @param at a line number if no more is known */
  constructor(code: TableErrorCode, message: string, at: TablePlace | number, options?: ErrorOptions) {
    super(cutText(message), options);
    const place = typeof at === 'number' ? { line: at } : at;
    this.name = 'TableError';
    this.code = code;
    this.line = place.line;
    this.column = place.column ?? 1;
    this.sourceLine = (place.sourceLine ?? '').slice(0, 200);
    this.hint = place.hint && cutText(place.hint);
  }
}

/** Errors after which the rest of a table cannot be read row by row. */
const endsReading: ReadonlySet<TableErrorCode> = new Set(['table.too-many', 'table.too-long']);

/** Collects the wrong rows of a table, so that all of them are shown at once. */
export class BadRows {
  readonly #found: TableError[] = [];
  /** Number of rows after the first wrong one. */
  #behind = 0;

  get any(): boolean {
    return this.#found.length > 0;
  }

  /**
   * Returns the result of `read` for a row; undefined if the row is wrong.
   *
   * @throws TableError for an error that ends the reading, for the last wrong row that may be shown, and once `searchedRows` rows have
   * followed the first wrong one
   */
  row<T>(read: () => T): T | undefined {
    const last = this.#found.at(-1);
    if (last !== undefined && ++this.#behind > tableLimits.searchedRows) {
      this.#found.pop();
      last.unread = true;
      throw last;
    }
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TableError) || endsReading.has(error.code)) throw error;
      if (this.#found.length + 1 < tableLimits.badRows) {
        this.#found.push(error);
        return undefined;
      }
      error.unread = true;
      throw error;
    }
  }

  /** Returns the first wrong row with all others, including `last`; undefined if no row is wrong. */
  error(last?: TableError): TableError | undefined {
    const [first, ...others] = last === undefined ? this.#found : [...this.#found, last];
    if (first === undefined) return undefined;
    first.others = others;
    return first;
  }
}

/** Converts a table's errors to diagnostics. @param file the table's name in messages */
export function tableDiagnostics(error: TableError, file: string): readonly Diagnostic[] {
  const all = [error, ...error.others];
  const diagnostics = all.map(
    ({ code, message, line, column, sourceLine, hint }): Diagnostic => ({
      severity: 'error',
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      file,
      line,
      column,
      length: 1,
      sourceLine: maskSecrets(sourceLine),
    }),
  );
  const last = diagnostics.at(-1);
  if (last === undefined || all.at(-1)?.unread !== true) return diagnostics;
  const { hint: _hint, ...rest } = last;
  const message = `The first ${all.length} wrong rows are shown; later rows were not read.`;
  return [...diagnostics, { ...rest, code: 'file.more-mistakes', message, sourceLine: '' }];
}

/** Limits of a table, which bound memory. */
export const tableLimits = {
  /** Bytes of one line (TSV, JSONL) or one record (CSV). */
  recordBytes: 1024 * 1024,
  columns: 1024,
  /** Most wrong rows shown at once. */
  badRows: 20,
  /** Most rows read after the first wrong one to find others. */
  searchedRows: 100_000,
  /** Depth of nested mappings and lists in a row of JSONL. */
  depth: 100,
  /** Bytes of a YAML table, which is parsed as a whole. */
  yamlBytes: 1024 * 1024,
  yamlRows: 10_000,
  /** Values of a YAML table; an aliased value counts each time it is used. */
  yamlValues: 1_000_000,
  /** Files of a listing, which are sorted in memory. */
  files: 100_000,
  /** Folders and files examined for a listing. */
  searched: 1_000_000,
} as const;
