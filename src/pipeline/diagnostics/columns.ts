import stringWidth from 'string-width';
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

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The visible characters of one line. Tabs become spaces up to the next multiple of 4. */
export function glyphsOf(line: string): readonly Glyph[] {
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

/** How many columns a terminal gives a line without tabs, as the east Asian width of Unicode and emoji sequences have it. */
export const columnsOf = (line: string): number => stringWidth(line);

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
