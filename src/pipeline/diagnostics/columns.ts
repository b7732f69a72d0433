import { createRequire } from 'node:module';
import type stringWidth from 'string-width';
import { printable } from './terminal-text.ts';

/** One visible character of a text, safe to print. */
export interface Glyph {
  /** The text to print: the character itself, or a substitute if it could change the terminal. */
  readonly text: string;
  /** Number of terminal columns. */
  readonly width: number;
  /** Offset in the line, in UTF-16 units. */
  readonly at: number;
}

const tabWidth = 4;

let graphemes: Intl.Segmenter | undefined;

/** Splits a line into visible characters. Tabs become spaces up to the next multiple of 4. */
export function glyphsOf(line: string): readonly Glyph[] {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  const glyphs: Glyph[] = [];
  let column = 0;
  for (const { segment, index } of graphemes.segment(line)) {
    const tab = segment === '\t';
    const text = tab ? ' '.repeat(tabWidth - (column % tabWidth)) : printable(segment);
    const width = tab ? text.length : columnsOf(text);
    glyphs.push({ text, width, at: index });
    column += width;
  }
  return glyphs;
}

/** A line in which every character takes one column. */
const plain = /^[ -~]*$/;

let measure: typeof stringWidth | undefined;

/** Number of terminal columns of a line without tabs, by Unicode's East Asian width and emoji sequences. */
export function columnsOf(line: string): number {
  if (plain.test(line)) return line.length;
  measure ??= loadMeasure();
  return measure(line);
}

/** Loads string-width on first use: its emoji tables take longer to load than most commands take to print. */
const loadMeasure = (): typeof stringWidth =>
  (createRequire(import.meta.url)('string-width') as { readonly default: typeof stringWidth }).default;

/** Cuts a line to a number of columns, with an ellipsis where text is missing. */
export function cut(line: string, columns: number): string {
  if (columnsOf(line) <= columns) return line;
  let kept = '';
  let used = 0;
  for (const { text, width } of glyphsOf(line)) {
    if (used + width > columns - 1) break;
    kept += text;
    used += width;
  }
  return columns < 1 ? '' : `${kept}…`;
}
