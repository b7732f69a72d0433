import type { DiagnosticCode } from './codes.ts';

/** A position in a file that the user wrote, or in a command-line flag. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
  /** Length of the marked text on that line, in UTF-16 units; 1 when unknown. */
  readonly length: number;
  /** The command-line flag that contains the position, such as `--set animal=lynx`; absent if the position is in the file. */
  readonly flag?: string;
}

/**
 * One error or warning about a file that the user wrote, as data.
 *
 * Tests assert `code`, `line` and `column`; the wording may improve freely.
 */
export interface Diagnostic extends Position {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly message: string;
  /** What the user can do, for example `Did you mean "stylize"?`. */
  readonly hint?: string;
  /** Path of the file as the user gave it, or the flag that is wrong. */
  readonly file: string;
  /** Text of the line, cut to a printable length and without secrets. */
  readonly sourceLine: string;
  /** Column at which `sourceLine` begins if the line was cut; otherwise 1. */
  readonly sourceColumn?: number;
}

/** The outcome of a stage that may fail in expected ways: a value, or all errors of the input. */
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

/** Makes a successful {@link Result}. */
export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

/** Makes a failed {@link Result}. */
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });

/**
 * An error in a piece of text (a template, a path, an address) whose position in the file is not known yet. The caller turns the draft
 * into a `Diagnostic`.
 */
export interface DiagnosticDraft {
  readonly code: DiagnosticCode;
  readonly message: string;
  /** What the user can do. */
  readonly hint?: string;
  /** Offset into the text, in UTF-16 units. */
  readonly offset: number;
  /** Length in UTF-16 units; 0 at the end of the text. */
  readonly length: number;
}

/** Makes a {@link DiagnosticDraft}. */
export const draft = (
  code: DiagnosticCode,
  message: string,
  offset: number,
  length: number,
  hint?: string,
): DiagnosticDraft => ({ code, message, offset, length, ...(hint === undefined ? {} : { hint }) });

/** A parsed piece of text, or all its errors. */
export type Parsed<T> = Result<T, readonly DiagnosticDraft[]>;

/** Returns the file position of a part of a text, given by offset and length in UTF-16 units. */
export type Locate = (offset: number, length: number) => Position;
