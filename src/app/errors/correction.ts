import { quoted } from '../../report/text/printable.ts';

/** A corrected command line that ends a message, to be copied. */
export interface Correction {
  /** `mended`: ready to run; `example`: correct, but the user must choose the value in it. */
  readonly kind: 'mended' | 'example';
  /**
   * Returns the corrected words after `promptpress`; undefined where they cannot be corrected.
   *
   * @param words as the user gave them
   */
  words(words: readonly string[]): readonly string[] | undefined;
}

/** Longest command line that a message shows, in characters. */
const longest = 400;

/** Returns a line such as `Write: promptpress run foxes.yaml --sandbox`, quoted for a shell; undefined if there is no correction. */
export function correctedLine(correction: Correction, words: readonly string[]): string | undefined {
  const changed = correction.words(words);
  if (changed === undefined || changed.join(' ') === words.join(' ')) return undefined;
  const line = ['promptpress', ...changed.map(quoted)].join(' ');
  return line.length > longest
    ? undefined
    : `${correction.kind === 'mended' ? 'Write' : 'For example'}: ${line}`;
}

/** Replaces all words by these. */
export const writing = (...words: readonly string[]): Correction => ({ kind: 'mended', words: () => words });

/** Adds flags and their values at the end, before operands after `--`. */
export const adding = (...more: readonly string[]): Correction => ({
  kind: 'mended',
  words: (words) => {
    const end = words.indexOf('--');
    return end < 0 ? [...words, ...more] : [...words.slice(0, end), ...more, ...words.slice(end)];
  },
});

/** Replaces one word, anywhere after the name of the command. */
export const exchangingWord = (
  word: string,
  by: string,
  kind: Correction['kind'] = 'mended',
): Correction => ({
  kind,
  words: (words) => words.map((one, at) => (at > 0 && one === word ? by : one)),
});

/** Replaces one word by others. @param index position after the name of the command */
export const exchanging = (
  index: number,
  by: readonly string[],
  kind: Correction['kind'] = 'mended',
): Correction => ({
  kind,
  words: (words) => [...words.slice(0, index + 1), ...by, ...words.slice(index + 2)],
});

/**
 * Replaces all values of a flag: `--filter animal=fox,owl` becomes `--filter animal=fox --filter animal=owl`.
 *
 * @param name with its hyphens
 */
export const revaluing = (
  name: string,
  value: string,
  by: readonly string[],
  kind: Correction['kind'] = 'mended',
): Correction => ({
  kind,
  words: (words) => {
    const inline = words.indexOf(`${name}=${value}`);
    const apart = words.findIndex((word, at) => word === name && words[at + 1] === value);
    const flags = by.flatMap((one) => [name, one]);
    if (inline >= 0) return [...words.slice(0, inline), ...flags, ...words.slice(inline + 1)];
    if (apart >= 0) return [...words.slice(0, apart), ...flags, ...words.slice(apart + 2)];
    return undefined;
  },
});

/** Sets the value of a flag, or adds the flag at the end. @param name with its hyphens */
export const giving = (name: string, value: string): Correction => ({
  kind: 'mended',
  words: (words) => {
    const kept = withoutFlag(words, name, true);
    return adding(name, value).words(kept);
  },
});

/** Removes a switch, or a flag with its value. @param name with its hyphens */
export const without = (name: string, valued = false): Correction => ({
  kind: 'mended',
  words: (words) => withoutFlag(words, name, valued),
});

const withoutFlag = (words: readonly string[], name: string, valued: boolean): readonly string[] =>
  words.filter(
    (word, at) =>
      word !== name && !word.startsWith(`${name}=`) && !(valued && at > 0 && words[at - 1] === name),
  );
