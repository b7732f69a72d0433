import { distance } from 'fastest-levenshtein';

/** Length of the longest word that is compared: comparing takes time, and longer words are rarely typing errors of each other. */
const longestCompared = 64;

const maxCompared = 2000;

const letters = (word: string): string => word.split('').sort().join('');

/** Returns the number of typing errors between two words; letters in another order count as one. */
function mistypings(a: string, b: string): number {
  return a.length === b.length && letters(a) === letters(b) ? Math.min(1, distance(a, b)) : distance(a, b);
}

/** Least length of a word that may abbreviate a name: `--retry` means `--retry-failed`, though they differ in many letters. */
const leastBeginning = 3;

/** Finds the candidate that a mistyped word most likely meant: it begins with the word, or at most a third of the letters differ. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > longestCompared) return undefined;
  const small = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  let compared = 0;
  for (const candidate of candidates) {
    compared += 1;
    if (compared > maxCompared) break;
    if (candidate.length > longestCompared || candidate === word) continue;
    const begins = word.length >= leastBeginning && candidate.startsWith(word);
    const found = begins ? 1 : mistypings(small, candidate.toLowerCase());
    if (found >= bestDistance) continue;
    best = candidate;
    bestDistance = found;
  }
  return best;
}

/** Matches the plural ending of the first noun in a phrase: branches, other steps, variables of the matrix. */
const plural = /(?<=ch)es\b|s\b/;

const quote = (word: string): string => `"${word}"`;

/** Formats a list for a sentence, shortened when it is long: `"a", "b" and 3 more`. */
export function listing(words: readonly string[], most = 12): string {
  if (words.length <= most) return words.map(quote).join(', ');
  return `${words.slice(0, most).map(quote).join(', ')} and ${words.length - most} more`;
}

/** Returns a hint for an unknown word: the nearest candidate, else the list of candidates. `what` is their plural: `variables`. */
export function suggestion(word: string, candidates: readonly string[], what: string): string {
  const near = nearest(word, candidates);
  if (near !== undefined) return `Did you mean "${near}"?`;
  if (candidates.length === 0) return `There are no ${what}.`;
  if (candidates.length === 1) return `The only ${what.replace(plural, '')} is ${listing(candidates)}.`;
  return `The ${what} are ${listing(candidates)}.`;
}
