/** Where something stands in a file the user wrote, or in a flag. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
  /** Length of the marked text on that line, in UTF-16 units; 1 when unknown. */
  readonly length: number;
  /** The flag of the command line in which it stands, `--set animal=lynx`, its only line; absent: in the file. */
  readonly flag?: string;
}

/**
 * One error in a file the user wrote: data first, printed last.
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
  /** The path of the file as the user gave it; where a flag is wrong, that flag. */
  readonly file: string;
  /** The text of that line, cut to a printable length; never a secret. */
  readonly sourceLine: string;
  /** The column at which `sourceLine` begins, where a very long line was cut; else 1. */
  readonly sourceColumn?: number;
}

/** The outcome of a stage whose failures are expected: a value, or everything that is wrong with the input. */
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

/** A successful {@link Result}. */
export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

/** A failed {@link Result}. */
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });

/**
 * One error in a piece of text (a template, a path, an address), before it is known where in the file that text
 * stands. The caller turns it into a `Diagnostic`.
 */
export interface DiagnosticDraft {
  /** Closed dotted code, for example `path.empty` or `template.syntax`. */
  readonly code: string;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** In UTF-16 units into the text that was given. */
  readonly offset: number;
  /** In UTF-16 units; 0 at the end of the text. */
  readonly length: number;
}

/** An error in a piece of text. */
export const draft = (
  code: string,
  message: string,
  offset: number,
  length: number,
  hint?: string,
): DiagnosticDraft => ({ code, message, offset, length, ...(hint === undefined ? {} : { hint }) });

/** What a piece of text means, or all that is wrong with it. */
export type Parsed<T> = Result<T, readonly DiagnosticDraft[]>;

/** Where a part of a piece of text stands in the file: offset and length in UTF-16 units into that text. */
export type Locate = (offset: number, length: number) => Position;
