import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';

/** `Did you mean --x?`, or nothing. @param prefix of the names as the user writes them */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string | undefined {
  const candidate = nearest(word, known);
  return candidate === undefined ? undefined : `Did you mean ${prefix}${candidate}?`;
}
