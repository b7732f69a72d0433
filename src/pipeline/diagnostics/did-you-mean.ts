import { distance } from 'fastest-levenshtein';

/** Longer words are not typing errors of each other, and comparing them takes time. */
const longestCompared = 64;

/** No more candidates are compared: a message could not list that many names either. */
const mostCompared = 2000;

const letters = (word: string): string => word.split('').sort().join('');

/** How many mistypings lie between two words; letters in another order are one. */
function mistypings(a: string, b: string): number {
  return a.length === b.length && letters(a) === letters(b) ? Math.min(1, distance(a, b)) : distance(a, b);
}

/**
 * This many letters at the beginning of a name identify the name: `--retry` means `--retry-failed`, though the two differ
 * in many letters.
 */
const leastBeginning = 3;

/** The candidate that a mistyped word most likely meant: the word begins it, or at most a third of the word's letters differ. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > longestCompared) return undefined;
  const small = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  let compared = 0;
  for (const candidate of candidates) {
    compared += 1;
    if (compared > mostCompared) break;
    if (candidate.length > longestCompared || candidate === word) continue;
    const begins = word.length >= leastBeginning && candidate.startsWith(word);
    const found = begins ? 1 : mistypings(small, candidate.toLowerCase());
    if (found >= bestDistance) continue;
    best = candidate;
    bestDistance = found;
  }
  return best;
}

/** The end of the first plural in a phrase: branches, other steps, variables of the matrix. */
const plural = /(?<=ch)es\b|s\b/;

const quote = (word: string): string => `"${word}"`;

/** A list for a sentence, cut when it is long: `"a", "b" and 3 more`. */
export function listing(words: readonly string[], most = 12): string {
  if (words.length <= most) return words.map(quote).join(', ');
  return `${words.slice(0, most).map(quote).join(', ')} and ${words.length - most} more`;
}

/** A hint for a word that is not known: the near miss, else what there is. `what` is plural: `variables`, `branches there`. */
export function suggestion(word: string, candidates: readonly string[], what: string): string {
  const near = nearest(word, candidates);
  if (near !== undefined) return `Did you mean "${near}"?`;
  if (candidates.length === 0) return `There are no ${what}.`;
  if (candidates.length === 1) return `The only ${what.replace(plural, '')} is ${listing(candidates)}.`;
  return `The ${what} are ${listing(candidates)}.`;
}
