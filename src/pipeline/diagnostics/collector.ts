import { type DiagnosticCode, usualHints } from './codes.ts';
import type { Diagnostic, DiagnosticDraft, Locate, Position } from './diagnostic.ts';
import { maskSecrets, maskStretch } from './mask-secrets.ts';
import type { SourceText, Span } from './source.ts';
import { cutText } from './terminal-text.ts';

/** Length of the longest source line that is shown whole; a longer line is cut around the marked text. */
const longestLine = 500;
const linePadding = 200;

/** Most errors that are kept: a hostile file could cause millions. */
const maxFound = 1000;

/** Most warnings among the kept diagnostics, so that warnings never crowd out errors. */
const maxWarnings = 200;

/** A hint, or a function that computes it. The function is called only for an error that is shown. */
type Hint = string | (() => string | undefined);

/** Collects the diagnostics of one file. The order and repetition of checks do not change the result. */
export class DiagnosticCollector {
  readonly source: SourceText;
  readonly #found: Omit<Diagnostic, 'sourceLine' | 'sourceColumn'>[] = [];
  readonly #elsewhere: Diagnostic[] = [];
  readonly #secrets: Span[] = [];
  readonly #lines = new Map<number, string>();
  #unread = false;
  #warnings = 0;

  constructor(source: SourceText) {
    this.source = source;
  }

  /** Whether further errors would be dropped. */
  get full(): boolean {
    return this.#unread;
  }

  /** Whether an error makes the file unusable; warnings do not. */
  get failed(): boolean {
    return this.#unread || [...this.#found, ...this.#elsewhere].some((one) => one.severity === 'error');
  }

  error(code: DiagnosticCode, where: Span | Position, message: string, hint?: Hint): void {
    this.#add('error', code, this.#position(where), message, hint);
  }

  warning(code: DiagnosticCode, where: Span | Position, message: string, hint?: Hint): void {
    this.#add('warning', code, this.#position(where), message, hint);
  }

  /** Adds an error that a parser found in a text of the file. */
  add(add: DiagnosticDraft, locate: Locate): void {
    const at = locate(add.offset, add.length);
    this.#add('error', add.code, at, add.message, add.hint);
  }

  /** Adds an error in another file, for example in a table. */
  elsewhere(diagnostic: Diagnostic): void {
    this.#elsewhere.push(diagnostic);
  }

  /** Marks a span as secret: no diagnostic shows it in its source line. */
  secret(span: Span): void {
    this.#secrets.push(span);
  }

  /** All diagnostics, without duplicates, in file order. */
  diagnostics(): readonly Diagnostic[] {
    const seen = new Set<string>();
    const here = this.#found
      .filter((one) => {
        const identity = [one.code, one.flag, one.line, one.column, one.message].join('\n');
        return seen.size < seen.add(identity).size;
      })
      .sort(
        (a, b) =>
          Number(a.flag !== undefined) - Number(b.flag !== undefined) ||
          a.line - b.line ||
          a.column - b.column,
      )
      .map((one) => ({ ...one, ...this.#sourceLine(one) }));
    return [...here, ...this.#more(here.at(-1)), ...this.#elsewhere];
  }

  #more(last: Diagnostic | undefined): readonly Diagnostic[] {
    if (!this.#unread || last === undefined) return [];
    const message = `There are more than ${maxFound} errors; the others are not shown.`;
    const { hint: _hint, ...rest } = last;
    return [{ ...rest, severity: 'error', code: 'file.more-mistakes', message }];
  }

  #position(where: Span | Position): Position {
    return 'line' in where ? where : this.source.position(where);
  }

  #add(
    severity: Diagnostic['severity'],
    code: DiagnosticCode,
    { line, column, length, flag }: Position,
    message: string,
    given?: Hint,
  ): void {
    if (severity === 'warning') {
      if (this.#warnings >= maxWarnings) return;
      this.#warnings += 1;
    } else if (this.#found.length >= maxFound) {
      this.#unread = true;
      return;
    }
    const hint = (typeof given === 'function' ? given() : given) ?? usualHints[code];
    this.#found.push({
      severity,
      code,
      message: cutText(maskSecrets(message)),
      ...(hint === undefined ? {} : { hint: cutText(maskSecrets(hint)) }),
      file: flag === undefined ? this.source.file : maskSecrets(flag),
      line,
      column,
      length,
      ...(flag === undefined ? {} : { flag }),
    });
  }

  #sourceLine(at: Position): Pick<Diagnostic, 'sourceLine' | 'sourceColumn'> {
    const text = at.flag === undefined ? this.#fileLine(at.line) : maskSecrets(at.flag);
    if (text.length <= longestLine) return { sourceLine: text };
    const cut = Math.max(0, at.column - 1 - linePadding);
    return { sourceLine: text.slice(cut, cut + longestLine), sourceColumn: cut + 1 };
  }

  #fileLine(line: number): string {
    const text = this.#lines.get(line) ?? this.#safeLine(line);
    this.#lines.set(line, text);
    return text;
  }

  #safeLine(line: number): string {
    const start = this.source.lineOffset(line);
    let text = this.source.line(line);
    for (const secret of this.#secrets) {
      const from = Math.max(0, secret.offset - start);
      const to = Math.min(text.length, secret.offset + secret.length - start);
      text = maskStretch(text, from, to);
    }
    return maskSecrets(text);
  }
}
