import type { DiagnosticCode } from './codes.ts';
import type { Diagnostic, DiagnosticDraft, Locate, Position } from './diagnostic.ts';
import { maskSecrets, maskStretch } from './mask-secrets.ts';
import type { SourceText, Span } from './source.ts';
import { cutText } from './terminal-text.ts';

/** Longer lines are cut around what is marked: a diagnostic stays small whatever the file. */
const longestLine = 500;
const linePadding = 200;

/** More mistakes are not told: nobody reads them, and a hostile file could make millions. */
const mostFound = 1000;

/** Of these, as many may be warnings: however many there are, a file stays as good as it is, and its errors are told. */
const mostWarnings = 200;

/** A hint may be costly to find; it is asked for only where it is told. */
type Hint = string | (() => string | undefined);

/** Collects what is wrong with one file. Order and repetition of the checks do not matter. */
export class DiagnosticCollector {
  readonly source: SourceText;
  readonly #found: Omit<Diagnostic, 'sourceLine' | 'sourceColumn'>[] = [];
  readonly #elsewhere: Diagnostic[] = [];
  readonly #secrets: Span[] = [];
  readonly #lines = new Map<number, string>();
  #untold = false;
  #warnings = 0;

  constructor(source: SourceText) {
    this.source = source;
  }

  /** True when no further mistake would be told. */
  get full(): boolean {
    return this.#untold;
  }

  /** True when something makes the file unusable; warnings do not. */
  get failed(): boolean {
    return this.#untold || [...this.#found, ...this.#elsewhere].some((one) => one.severity === 'error');
  }

  error(code: DiagnosticCode, where: Span | Position, message: string, hint?: Hint): void {
    this.#add('error', code, this.#position(where), message, hint);
  }

  warning(code: DiagnosticCode, where: Span | Position, message: string, hint?: Hint): void {
    this.#add('warning', code, this.#position(where), message, hint);
  }

  /** A mistake that a grammar found inside a text. */
  mistake(mistake: DiagnosticDraft, locate: Locate): void {
    const at = locate(mistake.offset, mistake.length);
    this.#add('error', mistake.code, at, mistake.message, mistake.hint);
  }

  /** A mistake in another file, for example in a table. */
  elsewhere(diagnostic: Diagnostic): void {
    this.#elsewhere.push(diagnostic);
  }

  /** No source line shows this stretch. */
  secret(span: Span): void {
    this.#secrets.push(span);
  }

  /** Everything found, each once, in file order. */
  diagnostics(): readonly Diagnostic[] {
    const seen = new Set<string>();
    const here = this.#found
      .filter((one) => {
        const identity = [one.code, one.line, one.column, one.message].join('\n');
        return seen.size < seen.add(identity).size;
      })
      .sort((a, b) => a.line - b.line || a.column - b.column)
      .map((one) => ({ ...one, ...this.#sourceLine(one) }));
    return [...here, ...this.#more(here.at(-1)), ...this.#elsewhere];
  }

  #more(last: Diagnostic | undefined): readonly Diagnostic[] {
    if (!this.#untold || last === undefined) return [];
    const message = `There are more mistakes than these ${mostFound}; the others are not shown.`;
    const { hint: _hint, ...rest } = last;
    return [{ ...rest, severity: 'error', code: 'file.more-mistakes', message }];
  }

  #position(where: Span | Position): Position {
    return 'line' in where ? where : this.source.position(where);
  }

  #add(
    severity: Diagnostic['severity'],
    code: string,
    { line, column, length }: Position,
    message: string,
    given?: Hint,
  ): void {
    if (severity === 'warning') {
      if (this.#warnings >= mostWarnings) return;
      this.#warnings += 1;
    } else if (this.#found.length >= mostFound) {
      this.#untold = true;
      return;
    }
    const hint = typeof given === 'function' ? given() : given;
    this.#found.push({
      severity,
      code,
      message: cutText(maskSecrets(message)),
      ...(hint === undefined ? {} : { hint: cutText(maskSecrets(hint)) }),
      file: this.source.file,
      line,
      column,
      length,
    });
  }

  #sourceLine(at: Position): Pick<Diagnostic, 'sourceLine' | 'sourceColumn'> {
    const text = this.#lines.get(at.line) ?? this.#safeLine(at.line);
    this.#lines.set(at.line, text);
    if (text.length <= longestLine) return { sourceLine: text };
    const cut = Math.max(0, at.column - 1 - linePadding);
    return { sourceLine: text.slice(cut, cut + longestLine), sourceColumn: cut + 1 };
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
