/** A text as searches compare it: case and accents aside. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return beyondAscii.test(lower) ? lower.normalize('NFD').replace(marks, '') : lower;
}

const beyondAscii = /[\u0080-\uffff]/;
const marks = /\p{M}/gu;

/** The words of a search, folded; each must be found. At most {@link mostWords}. */
export function wordsOf(search: string): readonly string[] {
  const words = fold(search)
    .split(/\s/)
    .filter((word) => word !== '');
  return [...new Set(words)].slice(0, mostWords);
}

/** More words than anybody types; a pasted prompt has more, and its first ones find it. */
const mostWords = 30;

/** A piece of a text, and whether it is a word that was searched for. */
export interface Piece {
  readonly text: string;
  readonly hit: boolean;
}

/** Cuts a text where the folded words of a search are. */
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

/** The folded text, and for each of its units the place in the text that it comes from. */
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
