import { distance } from 'fastest-levenshtein';

/** The known word that was probably meant, or nothing when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({
      candidate,
      // `--retry` for `--retry-failed` is far in letters, and near in meaning.
      // Swapped letters are two edits, and one slip.
      edits:
        (word.length >= 3 && candidate.startsWith(word)) || sameLetters(word, candidate)
          ? 1
          : distance(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(
      ({ candidate, edits }) => edits <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3)),
    )
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.candidate;
}

const sameLetters = (one: string, other: string): boolean => sorted(one) === sorted(other);

const sorted = (word: string): string => word.toLowerCase().split('').sort().join('');

/** `Did you mean "x"?`, or nothing. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string | undefined {
  const candidate = nearest(word, known);
  return candidate === undefined ? undefined : `Did you mean ${prefix}${candidate}?`;
}
