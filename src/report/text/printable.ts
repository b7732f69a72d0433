import { stripVTControlCharacters } from 'node:util';
import { printable as visible } from '../../pipeline/diagnostics/terminal-text.ts';

/**
 * Text from a file or a service as one line that is safe to show: what a service says must not move the cursor, fake a
 * line or turn the direction of writing.
 */
export const shownLine = (text: string): string =>
  visible(stripVTControlCharacters(text).replaceAll(/\s+/gu, ' '));

/** The same as a sentence that another one may follow: what a service says often ends without a full stop. */
export function sentence(text: string): string {
  const line = shownLine(text).trim();
  return /[.!?…。．｡！？]["'”’»›)\]）」』】]*$/u.test(line) ? line : `${line}.`;
}

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
