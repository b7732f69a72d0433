import type { Position } from './diagnostic.ts';

/** A stretch of a source text, in UTF-16 units. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** The text of one file, and where things stand in it. Lines end with LF or CRLF; a byte order mark is no column. */
export class SourceText {
  /** The path of the file as the user gave it. */
  readonly file: string;
  readonly text: string;
  readonly #starts: readonly number[];

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
    const starts = [text.startsWith('\uFEFF') ? 1 : 0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#starts = starts;
  }

  /** Line and column of a span; what it marks ends with its line. */
  position(span: Span): Position {
    const offset = Math.min(Math.max(span.offset, this.#start(1)), this.text.length);
    const line = this.#lineOf(offset);
    const column = offset - this.#start(line) + 1;
    const left = this.line(line).length - column + 1;
    return { line, column, length: Math.max(1, Math.min(span.length, left)) };
  }

  /** Where a line begins in the text; lines count from 1. */
  lineOffset(line: number): number {
    return this.#start(line);
  }

  /** The text of a line, without its line end. */
  line(line: number): string {
    const start = this.#start(line);
    const next = this.#starts[line];
    const text = next === undefined ? this.text.slice(start) : this.text.slice(start, next - 1);
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }

  #start(line: number): number {
    return this.#starts[line - 1] ?? this.text.length;
  }

  #lineOf(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }
}
