/** Matches control characters, direction marks and line separators, which could change the terminal or the line. */
const harmful =
  /[\p{Cc}\u{2028}\u{2029}\u{202A}-\u{202E}\u{2066}-\u{206F}\u{200E}\u{200F}\u{61C}\u{FEFF}\u{FFF9}-\u{FFFB}\p{Cs}]/gu;

/** Characters that stay in a text of several lines. */
const kept = /([\n\t])/;

/** Matches the same, or the colour codes of diagnostics: bold, dim, red, yellow, and their ends. */
// oxlint-disable-next-line no-control-regex -- the escape that a colour begins with
const keptWithColors = /([\n\t]|\u001b\[(?:1|2|22|31|33|39)m)/;

/** Returns a printable picture of a control character, where Unicode has one. */
function picture(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\uFFFD';
}

/** Replaces every character that could control a terminal. */
export const printable = (text: string): string => text.replace(harmful, picture);

/** Replaces control characters in a text of several lines. Line ends and tabs stay, and on request our own colour codes. */
export const printableText = (text: string, { colors }: { readonly colors: boolean }): string =>
  text
    .split(colors ? keptWithColors : kept)
    // The captured separators stand at the odd indexes.
    .map((piece, index) => (index % 2 === 1 ? piece : printable(piece)))
    .join('');

const longestText = 2000;

/** Cuts a text to a readable length: names in a hostile file can be as long as the file. */
export const cutText = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText)}…`;
