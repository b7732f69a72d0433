import { stripVTControlCharacters } from 'node:util';
import { type Glyph, glyphsOf, printable as visible } from '../../pipeline/diagnostics/terminal-text.ts';

/**
 * Text from a file or a service as one line that is safe to show: what a service says must not move the cursor, fake a
 * line or turn the direction of writing.
 */
export const printable = (text: string): string =>
  visible(stripVTControlCharacters(text).replaceAll(/\s+/gu, ' '));

/** The same as a sentence that another one may follow: what a service says often ends without a full stop. */
export function sentence(text: string): string {
  const line = printable(text).trim();
  return /[.!?…。．｡！？]["'”’»›)\]）」』】]*$/u.test(line) ? line : `${line}.`;
}

/** How many columns a terminal gives a line. */
export const columnsOf = (line: string): number => widthOf(glyphsOf(line));

/** The line cut to fit, with an ellipsis where something is missing. */
export function cut(line: string, columns: number): string {
  const glyphs = glyphsOf(line);
  if (widthOf(glyphs) <= columns) return line;
  let kept = '';
  let used = 0;
  for (const { text, width } of glyphs) {
    if (used + width > columns - 1) break;
    kept += text;
    used += width;
  }
  return columns < 1 ? '' : `${kept}…`;
}

const widthOf = (glyphs: readonly Glyph[]): number => glyphs.reduce((sum, { width }) => sum + width, 0);
