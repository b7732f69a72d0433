/** Removes case and accents from a text for searching. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return beyondAscii.test(lower) ? lower.normalize('NFD').replace(marks, '') : lower;
}

const beyondAscii = /[\u0080-\uffff]/;
const marks = /\p{M}/gu;

/** Splits a search into folded words, all of which must match; at most {@link maxWords}. */
export function wordsOf(search: string): readonly string[] {
  const words = fold(search)
    .split(/\s/)
    .filter((word) => word !== '');
  return [...new Set(words)].slice(0, maxWords);
}

/** Nobody types this many words; the first words of a pasted prompt suffice to find it. */
const maxWords = 30;

/** A piece of a text, and whether it matches a search word. */
export interface Piece {
  readonly text: string;
  readonly hit: boolean;
}

/** Splits a text at the matches of folded search words. */
export function piecesOf(text: string, words: readonly string[]): readonly Piece[] {
  if (words.length === 0 || text === '') return [{ text, hit: false }];
  const { folded, places } = foldWithPlaces(text);
  const hit = new Uint8Array(text.length);
  for (const word of words) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length))
      hit.fill(1, places[at], places[at + word.length] ?? text.length);
  }
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = 1; at <= text.length; at += 1) {
    if (at < text.length && hit[at] === hit[from]) continue;
    pieces.push({ text: text.slice(from, at), hit: hit[from] === 1 });
    from = at;
  }
  return pieces;
}

/** Folds a text and records for each unit of the result its place in the text. */
function foldWithPlaces(text: string): { readonly folded: string; readonly places: readonly number[] } {
  const places: number[] = [];
  let folded = '';
  let at = 0;
  for (const character of text) {
    const piece = fold(character);
    for (let unit = 0; unit < piece.length; unit += 1) places.push(at);
    folded += piece;
    at += character.length;
  }
  return { folded, places };
}
