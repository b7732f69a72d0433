import { createRequire } from 'node:module';
import type stringWidth from 'string-width';
import { printable } from './terminal-text.ts';

/** One visible character of a text, safe to print. */
export interface Glyph {
  /** What to print: the character, or what stands for one that must not reach a terminal. */
  readonly text: string;
  /** Columns it takes on a terminal. */
  readonly width: number;
  /** Where it begins in the text, in UTF-16 units. */
  readonly at: number;
}

const tabWidth = 4;

let graphemes: Intl.Segmenter | undefined;

/** The visible characters of one line. Tabs become spaces up to the next multiple of 4. */
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

/** A line of which every character takes one column. */
const plain = /^[ -~]*$/;

let measure: typeof stringWidth | undefined;

/** How many columns a terminal gives a line without tabs, as the east Asian width of Unicode and emoji sequences have it. */
export function columnsOf(line: string): number {
  if (plain.test(line)) return line.length;
  measure ??= loadMeasure();
  return measure(line);
}

/** Loaded when it is needed: its tables of emoji take longer to load than most commands take to print. */
const loadMeasure = (): typeof stringWidth =>
  (createRequire(import.meta.url)('string-width') as { readonly default: typeof stringWidth }).default;

/** The line cut to fit, with an ellipsis where something is missing. */
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
