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

/** Controls, what steers the direction of text, and line separators: they would change the terminal, or the line. */
const harmful =
  /[\p{Cc}\u{2028}\u{2029}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{200E}\u{200F}\u{61C}\u{FEFF}\p{Cs}]/gu;

const wide =
  /^(?:[\u{1100}-\u{115F}\u{2E80}-\u{303E}\u{3041}-\u{A4CF}\u{A960}-\u{A97F}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE10}-\u{FE19}\u{FE30}-\u{FE6F}\u{FF00}-\u{FF60}\u{FFE0}-\u{FFE6}\u{1F300}-\u{1F64F}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}|.\u{FE0F})/u;

/** Marks and format characters by themselves take no room. */
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A picture of a control character where Unicode has one. */
function picture(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\uFFFD';
}

/** The text with nothing in it that a terminal obeys. */
export const printable = (text: string): string => text.replace(harmful, picture);

const longestText = 2000;

/** The text, cut where nobody reads on: names in a hostile file can be as long as the file. */
export const cutText = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText)}…`;

/** The visible characters of one line. Tabs become spaces up to the next multiple of 4. */
export function glyphsOf(line: string): readonly Glyph[] {
  const glyphs: Glyph[] = [];
  let column = 0;
  for (const { segment, index } of graphemes.segment(line)) {
    const tab = segment === '\t';
    const text = tab ? ' '.repeat(tabWidth - (column % tabWidth)) : printable(segment);
    const width = tab ? text.length : widthOf(text);
    glyphs.push({ text, width, at: index });
    column += width;
  }
  return glyphs;
}

function widthOf(grapheme: string): number {
  if (wide.test(grapheme)) return 2;
  if (zeroWidth.test(grapheme)) return 0;
  // Two harmful characters in a row can be one grapheme (CR LF).
  return /^[\u2400-\u2421\uFFFD]+$/.test(grapheme) ? grapheme.length : 1;
}
