import { stripVTControlCharacters } from 'node:util';
import { printable as visible } from '../../pipeline/diagnostics/terminal-text.ts';

/** Makes a text of a file or service safe to print on one line: it cannot move the cursor, fake a line or change the writing direction. */
export const shownLine = (text: string): string =>
  visible(stripVTControlCharacters(text).replaceAll(/\s+/gu, ' '));

/** Like {@link shownLine}, with a full stop at the end if it is missing. */
export function sentence(text: string): string {
  const line = shownLine(text).trim();
  return /[.!?…。．｡！？]["'”’»›)\]）」』】]*$/u.test(line) ? line : `${line}.`;
}

/** Quotes a word for a shell. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
