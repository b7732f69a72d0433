import type { Position } from './diagnostic.ts';

/**
 * One mistake in a piece of text (a template, a path, an address), before it is known where in the file that text
 * stands. The caller turns it into a `Diagnostic`.
 */
export interface Mistake {
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

/** Where a part of a piece of text stands in the file: offset and length in UTF-16 units into that text. */
export type Locate = (offset: number, length: number) => Position;
