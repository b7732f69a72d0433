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
  /[\p{Cc}\u{2028}\u{2029}\u{202A}-\u{202E}\u{2066}-\u{206F}\u{200E}\u{200F}\u{61C}\u{FEFF}\u{FFF9}-\u{FFFB}\p{Cs}]/gu;

/** What stays as it is in a text of several lines. */
const kept = /([\n\t])/;

/** The same, and what picocolors paints diagnostics with: bold, dim, red, yellow, and their ends. */
// oxlint-disable-next-line no-control-regex -- the escape that a colour begins with
const keptWithColors = /([\n\t]|\u001b\[(?:1|2|22|31|33|39)m)/;

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

/** The same for a text of several lines: line ends and tabs stay, and where they are wanted our own colours. */
export const printableText = (text: string, { colors }: { readonly colors: boolean }): string =>
  text
    .split(colors ? keptWithColors : kept)
    // What the group holds stands at the odd places.
    .map((piece, index) => (index % 2 === 1 ? piece : printable(piece)))
    .join('');

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
