/** Where something stands in a file the user wrote. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
  /** Length of the marked text on that line, in UTF-16 units; 1 when unknown. */
  readonly length: number;
}

/**
 * One mistake in a file the user wrote: data first, printed last.
 *
 * Tests assert `code`, `line` and `column`; the wording may improve freely.
 */
export interface Diagnostic extends Position {
  readonly severity: 'error' | 'warning';
  /** Closed dotted code, for example `path.unknown-step`; see `diagnosticCodes`. */
  readonly code: string;
  readonly message: string;
  /** What to do about it, for example `Did you mean "stylize"?`. */
  readonly hint?: string;
  /** The path of the file as the user gave it. */
  readonly file: string;
  /** The text of that line, cut to a printable length; never a secret. */
  readonly sourceLine: string;
  /** The column at which `sourceLine` begins, where a very long line was cut; else 1. */
  readonly sourceColumn?: number;
}
