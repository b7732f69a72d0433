import type { TableErrorCode } from '../../diagnostics/codes.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { maskSecrets } from '../../diagnostics/mask-secrets.ts';
import { cutText } from '../../diagnostics/terminal-text.ts';

/** Where in the table an error stands. Lines and columns count from 1; column 1 where only the line is known. */
export interface TablePlace {
  readonly line: number;
  readonly column?: number;
  /** The text of that line where it is at hand, cut to a printable length. */
  readonly sourceLine?: string;
  /** What to do about it, as a sentence. */
  readonly hint?: string;
}

/** A table that cannot be read, or not to its end: the user's file is wrong, gone, or has changed. */
export class TableError extends Error {
  readonly code: TableErrorCode;
  readonly line: number;
  readonly column: number;
  readonly sourceLine: string;
  readonly hint: string | undefined;
  /** Further rows of the same table that are wrong, in file order. */
  others: readonly TableError[] = [];
  /** The rows behind the last of {@link others} were not read. */
  unread = false;

  /** @param at a line where no more is known */
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

/** After these the rest of a table cannot be read row by row. */
const endsReading: ReadonlySet<TableErrorCode> = new Set(['table.too-many', 'table.too-long']);

/** Collects the rows of a table that are wrong, so that all of them are shown at once. */
export class BadRows {
  readonly #found: TableError[] = [];
  /** Rows behind the first wrong one. */
  #behind = 0;

  get any(): boolean {
    return this.#found.length > 0;
  }

  /**
   * What `read` makes of a row; undefined when the row is wrong.
   *
   * @throws TableError for what ends the reading, also of the last wrong row that is shown, and where the wrong rows are far
   *   behind: a long table is not read to its end for their sake
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

  /** The first wrong row with all others, `last` among them; undefined where no row is wrong. */
  error(last?: TableError): TableError | undefined {
    const [first, ...others] = last === undefined ? this.#found : [...this.#found, last];
    if (first === undefined) return undefined;
    first.others = others;
    return first;
  }
}

/** A table's errors as diagnostics in the table. @param file the table as messages name it */
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
  const message = `The first ${all.length} wrong rows are shown; the rows behind them were not read.`;
  return [...diagnostics, { ...rest, code: 'file.more-mistakes', message, sourceLine: '' }];
}

/** What a table may be at most. They bound memory: a file that breaks one is hardly a table. */
export const tableLimits = {
  /** Bytes of one line (TSV, JSONL) or one record (CSV). */
  recordBytes: 1024 * 1024,
  columns: 1024,
  /** Wrong rows that are shown at once. */
  badRows: 20,
  /** Rows that are read behind the first wrong one, to find others. */
  searchedRows: 100_000,
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
