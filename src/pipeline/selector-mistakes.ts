import type { Mistake } from './mistake.ts';
import { selectorLimits } from './selector-limits.ts';

/** Part of the text that a mistake is about. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** Mistakes of one text, in the order in which they are found, bounded in number. */
export class MistakeList {
  readonly all: Mistake[] = [];

  add(code: string, message: string, { offset, length }: Span, hint?: string): void {
    this.push({ code, message, offset, length, ...(hint === undefined ? {} : { hint }) });
  }

  push(mistake: Mistake): void {
    if (this.all.length < selectorLimits.mistakes) this.all.push(mistake);
  }

  /** In the order of the text. */
  sorted(): readonly Mistake[] {
    return this.all.toSorted((a, b) => a.offset - b.offset);
  }
}
