import type { Position } from './diagnostic.ts';

/** A range of a source text, in UTF-16 units. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/**
 * The text of one file, with its lines and columns. Lines end with LF or CRLF; a byte order mark does not count as a column.
 *
 * Command-line flags that replace parts of the file have offsets after its end, so that nodes made from a flag have positions in that
 * flag: {@link SourceText.flagStart}.
 */
export class SourceText {
  /** The path of the file as the user gave it. */
  readonly file: string;
  readonly text: string;
  readonly #starts: readonly number[];
  readonly #flags: readonly string[];

  /** @param flags as they stand on the command line: `--set animal=lynx` */
  constructor(file: string, text: string, flags: readonly string[] = []) {
    this.file = file;
    this.text = text;
    this.#flags = flags;
    const starts = [text.startsWith('\uFEFF') ? 1 : 0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#starts = starts;
  }

  /** Line and column of a span. The marked text ends with its first line. */
  position(span: Span): Position {
    return this.#flagPosition(span) ?? this.#filePosition(span);
  }

  /** Returns the offset at which the flag with this index begins. */
  flagStart(index: number): number {
    return this.#flags
      .slice(0, index)
      .reduce((offset, { length }) => offset + length + 1, this.text.length + 1);
  }

  #flagPosition(span: Span): Position | undefined {
    if (span.offset <= this.text.length) return undefined;
    const index = this.#flags.findLastIndex((_, at) => this.flagStart(at) <= span.offset);
    const flag = this.#flags[index];
    if (flag === undefined) return undefined;
    const before = Math.min(span.offset - this.flagStart(index), flag.length);
    const length = Math.max(1, Math.min(span.length, flag.length - before));
    return { line: 1, column: before + 1, length, flag };
  }

  #filePosition(span: Span): Position {
    const offset = Math.min(Math.max(span.offset, this.#start(1)), this.text.length);
    const line = this.#lineOf(offset);
    const column = offset - this.#start(line) + 1;
    const left = this.line(line).length - column + 1;
    return { line, column, length: Math.max(1, Math.min(span.length, left)) };
  }

  /** Returns the offset at which a line begins; lines count from 1. */
  lineOffset(line: number): number {
    return this.#start(line);
  }

  /** Returns the text of a line, without its line end. */
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
