import { SelectorLexer } from './lexer.ts';
import { type Atom, escapeQuoted } from './token.ts';

/**
 * Names of branches. A branch has the name of its selector in the file, with single blanks, `→` for `->`, without quotes and `?`, and
 * with ` | ` between alternatives. A pattern keeps its slashes. In an address, a name stands in quotes if it could be read in another way
 * (it has a comma, an arrow, or a `/` without being a pattern).
 */

/** Normalises a name, so that names with the same meaning are equal. */
export const normalName = (text: string): string =>
  text.normalize('NFC').replaceAll('->', '→').replace(/\s+/gu, ' ').trim();

/** Returns the name of one alternative. */
export const atomName = (atom: Atom): string =>
  normalName(atom.form === 'pattern' ? `/${atom.text}/` : atom.text);

/** Returns the name of a selector with these alternatives. */
export const joinNames = (names: readonly string[]): string => names.join(' | ');

/** Formats a label so that it parses back to the same label, in quotes only if needed. */
export function writeLabel(text: string, options: { readonly slash: boolean }): string {
  const lexer = new SelectorLexer(text, options);
  lexer.read();
  const [atom, ...more] = lexer.tokens;
  const same =
    lexer.diagnostics.length === 0 &&
    more.length === 0 &&
    atom?.kind === 'atom' &&
    atom.form === 'plain' &&
    atom.text === text &&
    atom.dots === undefined &&
    atom.star === undefined;
  return same ? text : `"${escapeQuoted(text)}"`;
}
