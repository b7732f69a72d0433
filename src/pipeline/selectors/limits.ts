import type { DiagnosticCode } from '../diagnostics/codes.ts';
import { type DiagnosticDraft, draft } from '../diagnostics/diagnostic.ts';

/** Limits of paths, selectors and addresses. Lengths are in UTF-16 units. */
export const selectorLimits = {
  /** Length of a whole path or address. */
  text: 8_192,
  /** Length of a label; Discord's own limit is 80. */
  label: 1_000,
  /** Length of a pattern. */
  pattern: 200,
  /** Segments of a path or an address. */
  segments: 32,
  /** Selectors in one fan-out. */
  selectors: 100,
  /** Alternatives of one selector. */
  alternatives: 16,
  /** Branches of a path, with each wildcard counted once. */
  branches: 10_000,
  /** Errors reported per text. */
  diagnostics: 20,
} as const;

/** The part of a text that an error is about. */
export interface SelectorSpan {
  readonly offset: number;
  readonly length: number;
}

/** Errors of one text in the order of discovery, limited in number. */
export class DiagnosticList {
  readonly all: DiagnosticDraft[] = [];

  add(code: DiagnosticCode, message: string, { offset, length }: SelectorSpan, hint?: string): void {
    this.push(draft(code, message, offset, length, hint));
  }

  push(diagnostic: DiagnosticDraft): void {
    if (this.all.length < selectorLimits.diagnostics) this.all.push(diagnostic);
  }

  /** Returns the errors in the order of the text. */
  sorted(): readonly DiagnosticDraft[] {
    return this.all.toSorted((a, b) => a.offset - b.offset);
  }
}
