import { quoted } from '../../report/text/printable.ts';

/** A command line without its mistake: what a message ends with, to be copied. */
export interface Correction {
  /** `example`: it is right, but the value in it is the user's to choose. */
  readonly kind: 'mended' | 'example';
  /**
   * The words behind `promptpress`, changed; undefined where they cannot be.
   *
   * @param words as they were given
   */
  words(words: readonly string[]): readonly string[] | undefined;
}

/** A longer command line is not copied from a message. */
const longest = 400;

/** `Write: promptpress run foxes.yaml --sandbox`, as a shell takes it; undefined where there is nothing to write. */
export function correctedLine(correction: Correction, words: readonly string[]): string | undefined {
  const changed = correction.words(words);
  if (changed === undefined || changed.join(' ') === words.join(' ')) return undefined;
  const line = ['promptpress', ...changed.map(quoted)].join(' ');
  return line.length > longest
    ? undefined
    : `${correction.kind === 'mended' ? 'Write' : 'For example'}: ${line}`;
}

/** The given words in the place of all. */
export const writing = (...words: readonly string[]): Correction => ({ kind: 'mended', words: () => words });

/** Flags and their values at the end, before operands that stand behind `--`. */
export const adding = (...more: readonly string[]): Correction => ({
  kind: 'mended',
  words: (words) => {
    const end = words.indexOf('--');
    return end < 0 ? [...words, ...more] : [...words.slice(0, end), ...more, ...words.slice(end)];
  },
});

/** Another word in the place of one, wherever it stands behind the name of the command. */
export const exchangingWord = (
  word: string,
  by: string,
  kind: Correction['kind'] = 'mended',
): Correction => ({
  kind,
  words: (words) => words.map((one, at) => (at > 0 && one === word ? by : one)),
});

/** Other words in the place of one. @param index behind the name of the command */
export const exchanging = (
  index: number,
  by: readonly string[],
  kind: Correction['kind'] = 'mended',
): Correction => ({
  kind,
  words: (words) => [...words.slice(0, index + 1), ...by, ...words.slice(index + 2)],
});

/**
 * A flag with other values, which may be none: `--filter animal=fox,owl` becomes `--filter animal=fox --filter animal=owl`.
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

/** A flag with a value: in the place of the one it has, else at the end. @param name with its hyphens */
export const giving = (name: string, value: string): Correction => ({
  kind: 'mended',
  words: (words) => {
    const kept = withoutFlag(words, name, true);
    return adding(name, value).words(kept);
  },
});

/** Without a switch, or without a flag and whatever its value is. @param name with its hyphens */
export const without = (name: string, valued = false): Correction => ({
  kind: 'mended',
  words: (words) => withoutFlag(words, name, valued),
});

const withoutFlag = (words: readonly string[], name: string, valued: boolean): readonly string[] =>
  words.filter(
    (word, at) =>
      word !== name && !word.startsWith(`${name}=`) && !(valued && at > 0 && words[at - 1] === name),
  );
