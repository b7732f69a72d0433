import type { Mask } from './secrets.ts';

/** Makes the service's words safe to show, log and store: they are untrusted, and may echo the key. */
export type Clean = (words: string) => string;

/** Longest message. Longer ones are cut: a service may answer with a whole page. */
const maxLength = 600;

/** Most characters that are read: text behind them is not shown, unless blanks come first. */
const maxRead = 65_536;

// Control characters, invisible and bidirectional formatting characters, line separators, lone surrogates.
const unprintable =
  /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Surrogate}\u{e0000}-\u{e007f}]/gu;

const visible = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}}`;

/**
 * Makes a cleaner that masks secrets (plain, in a URL, in JSON), turns line breaks and tabs into spaces and other control characters
 * into a visible `\u{1b}`, and cuts long texts.
 */
export function makeClean(mask: Mask): Clean {
  return (words) => {
    // Cut last: half a key would not be found. Masked twice: a key broken up by white space may become whole.
    const masked = mask(words);
    const read = masked.slice(0, maxRead).replace(/\s+/g, ' ').replace(unprintable, visible);
    const plain = mask(read).trim();
    if (plain.length <= maxLength && masked.length <= maxRead) return plain;
    return `${plain.slice(0, maxLength).replace(/\p{Surrogate}$/u, '')}…`;
  };
}
