import { SelectorLexer } from './lexer.ts';
import { type Atom, escapeQuoted } from './token.ts';

/**
 * Names of branches. A branch is named by what the file says: blanks are single, `->` is `→`, quotes and `?` are
 * left out, alternatives are joined by ` | `. A pattern keeps its slashes. In an address, a name that could be
 * read otherwise (it has a `/` and is no pattern, a comma, an arrow, …) stands in quotes.
 */

/** One spelling for names that mean the same. */
export const normalName = (text: string): string =>
  text.normalize('NFC').replaceAll('->', '→').replace(/\s+/gu, ' ').trim();

/** The name of one alternative. */
export const atomName = (atom: Atom): string =>
  normalName(atom.form === 'pattern' ? `/${atom.text}/` : atom.text);

/** The name of a selector with these alternatives. */
export const joinNames = (names: readonly string[]): string => names.join(' | ');

/** A text that is read back as the same label, in quotes only where it needs them. */
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
