import type { DiagnosticCode } from '../diagnostics/codes.ts';
import { type DiagnosticDraft, draft } from '../diagnostics/diagnostic.ts';
import { selectorLimits } from './limits.ts';
import { endOfTag, type Mark, opensTag, type SelectorToken } from './token.ts';

const blank = /\s/u;

/** Reads the tokens of a path, a selector or an address; each character is read a bounded number of times. */
export class SelectorLexer {
  readonly tokens: SelectorToken[] = [];
  readonly diagnostics: DiagnosticDraft[] = [];
  readonly #text: string;
  readonly #slash: boolean;
  #at = 0;
  /** False once a tag is known not to close: then no later one closes either. Without this, the search is quadratic. */
  #tagsClose = true;

  constructor(text: string, options: { readonly slash: boolean }) {
    this.#text = text;
    this.#slash = options.slash;
  }

  read(): void {
    for (;;) {
      this.#skipBlanks();
      if (this.#at >= this.#text.length) return;
      const mark = this.#mark();
      if (mark !== undefined) {
        this.#at += mark.length;
        this.tokens.push(mark);
        continue;
      }
      const char = this.#text[this.#at];
      if (char === '"' || char === "'") this.#quoted(char);
      else if (char === '/') this.#pattern();
      else this.#plain();
    }
  }

  #mark(): Mark | undefined {
    const offset = this.#at;
    const char = this.#text[offset];
    if (char === '→') return { kind: 'arrow', offset, length: 1 };
    if (char === '-' && this.#text[offset + 1] === '>') return { kind: 'arrow', offset, length: 2 };
    if (char === ',') return { kind: 'comma', offset, length: 1 };
    if (char === '|') return { kind: 'pipe', offset, length: 1 };
    // At the start of a selector a slash opens a pattern; elsewhere in an address it separates.
    if (char === '/' && this.#slash && this.tokens.at(-1)?.kind === 'atom')
      return { kind: 'slash', offset, length: 1 };
    return undefined;
  }

  #skipBlanks(): void {
    while (this.#at < this.#text.length && blank.test(this.#text[this.#at] as string)) this.#at += 1;
  }

  #diagnostic(code: DiagnosticCode, message: string, offset: number, length: number, hint?: string): void {
    if (this.diagnostics.length >= selectorLimits.diagnostics) return;
    this.diagnostics.push(draft(code, message, offset, length, hint));
  }

  /** Skips a template tag; false if it does not close, which is an error. */
  #tag(): boolean {
    const end = this.#tagsClose ? endOfTag(this.#text, this.#at) : -1;
    if (end !== -1) {
      this.#at = end;
      return true;
    }
    if (this.#tagsClose) {
      const opening = this.#text.slice(this.#at, this.#at + 2);
      const closing = opening === '{{' ? '}}' : '%}';
      const message = `"${opening}" is never closed with "${closing}".`;
      this.#diagnostic('path.unclosed-template', message, this.#at, 2);
    }
    this.#tagsClose = false;
    this.#at = this.#text.length;
    return false;
  }

  #plain(): void {
    const begin = this.#at;
    let template = false;
    let dots: number | undefined;
    let star: number | undefined;
    const diagnostics = this.diagnostics.length;
    while (this.#at < this.#text.length) {
      if (opensTag(this.#text, this.#at)) {
        template = true;
        if (!this.#tag()) break;
        continue;
      }
      if (this.#mark() !== undefined || (this.#slash && this.#text[this.#at] === '/')) break;
      if (this.#text.startsWith('..', this.#at)) dots ??= this.#at;
      if (this.#text[this.#at] === '*') star ??= this.#at;
      this.#at += 1;
    }
    const whole = this.#text.slice(begin, this.#at).trimEnd();
    const optional = whole.endsWith('?');
    const text = optional ? whole.slice(0, -1).trimEnd() : whole;
    this.tokens.push({
      kind: 'atom',
      form: 'plain',
      text,
      offset: begin,
      escapes: [],
      span: { offset: begin, length: whole.length },
      template,
      optional,
      broken: this.diagnostics.length > diagnostics,
      ...(dots === undefined ? {} : { dots }),
      ...(star === undefined ? {} : { star }),
    });
  }

  #quoted(quote: string): void {
    const begin = this.#at;
    const parts: string[] = [];
    const escapes: number[] = [];
    let length = 0;
    let template = false;
    const diagnostics = this.diagnostics.length;
    const take = (part: string): void => {
      parts.push(part);
      length += part.length;
    };
    this.#at += 1;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) {
        if (this.#tagsClose) {
          this.#diagnostic('path.unclosed-quote', `This quote is never closed with ${quote}.`, begin, 1);
        }
        break;
      }
      if (char === quote) {
        this.#at += 1;
        break;
      }
      if (opensTag(this.#text, this.#at)) {
        const from = this.#at;
        template = true;
        this.#tag();
        take(this.#text.slice(from, this.#at));
        continue;
      }
      const next = this.#text[this.#at + 1];
      if (char === '\\' && (next === '\\' || next === quote)) {
        escapes.push(length);
        this.#at += 1;
      }
      take(this.#text[this.#at] as string);
      this.#at += 1;
    }
    this.#finish('quoted', parts.join(''), { begin, escapes, template, diagnostics });
  }

  #pattern(): void {
    const begin = this.#at;
    const diagnostics = this.diagnostics.length;
    this.#at += 1;
    let closed = false;
    while (this.#at < this.#text.length && !closed) {
      const char = this.#text[this.#at];
      closed = char === '/';
      // A character after a backslash closes nothing; the backslash is the pattern's own.
      this.#at += char === '\\' ? 2 : 1;
    }
    this.#at = Math.min(this.#at, this.#text.length);
    if (!closed) {
      const message = 'This "/" opens a pattern that is never closed with "/".';
      const hint = this.#slash
        ? 'For an address, check for a doubled or trailing "/".'
        : 'A label that begins with "/" needs quotes.';
      this.#diagnostic('path.unclosed-pattern', message, begin, 1, hint);
    }
    const text = this.#text.slice(begin + 1, closed ? this.#at - 1 : this.#at);
    this.#finish('pattern', text, { begin, escapes: [], template: false, diagnostics });
  }

  /** Ends a quoted text or a pattern, which only `?` may follow. */
  #finish(
    form: 'quoted' | 'pattern',
    text: string,
    read: {
      readonly begin: number;
      readonly escapes: readonly number[];
      readonly template: boolean;
      /** Number of errors reported before this token. */
      readonly diagnostics: number;
    },
  ): void {
    const { begin, escapes, template, diagnostics } = read;
    let end = this.#at;
    this.#skipBlanks();
    const optional = this.#text[this.#at] === '?';
    if (optional) {
      this.#at += 1;
      end = this.#at;
      this.#skipBlanks();
    }
    const rest = this.#at;
    while (this.#at < this.#text.length && !this.#separates()) this.#at += 1;
    if (this.#at > rest) {
      const length = this.#text.slice(rest, this.#at).trimEnd().length;
      const [what, hint] =
        form === 'quoted'
          ? ['the closing quote', 'Quote the whole label.']
          : ['a pattern', 'A "/" inside a pattern is written "\\/".'];
      this.#diagnostic('path.after-quote', `After ${what} only "?" may follow.`, rest, length, hint);
    }
    this.tokens.push({
      kind: 'atom',
      form,
      text,
      offset: begin + 1,
      escapes,
      span: { offset: begin, length: end - begin },
      template,
      optional,
      broken: this.diagnostics.length > diagnostics,
    });
  }

  #separates(): boolean {
    return this.#mark() !== undefined || (this.#slash && this.#text[this.#at] === '/');
  }
}
