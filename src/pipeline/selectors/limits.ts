import type { DiagnosticDraft } from '../diagnostics/diagnostic.ts';

/** Bounds of paths, selectors and addresses. Lengths are in UTF-16 units. */
export const selectorLimits = {
  /** A whole path or address. */
  text: 8_192,
  /** One label; Discord's own limit is 80. */
  label: 1_000,
  /** One pattern. */
  pattern: 200,
  /** Segments of a path or an address. */
  segments: 32,
  /** Selectors in one fan-out. */
  selectors: 100,
  /** Alternatives of one selector. */
  alternatives: 16,
  /** Branches that a path can lead to, wildcards counted once. */
  branches: 10_000,
  /** Mistakes reported of one text. */
  mistakes: 20,
} as const;

/** Part of the text that a mistake is about. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** Mistakes of one text, in the order in which they are found, bounded in number. */
export class MistakeList {
  readonly all: DiagnosticDraft[] = [];

  add(code: string, message: string, { offset, length }: Span, hint?: string): void {
    this.push({ code, message, offset, length, ...(hint === undefined ? {} : { hint }) });
  }

  push(mistake: DiagnosticDraft): void {
    if (this.all.length < selectorLimits.mistakes) this.all.push(mistake);
  }

  /** In the order of the text. */
  sorted(): readonly DiagnosticDraft[] {
    return this.all.toSorted((a, b) => a.offset - b.offset);
  }
}
