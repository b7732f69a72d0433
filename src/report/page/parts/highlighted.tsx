import type { JSX } from 'preact';
import { piecesOf } from '../text/fold.ts';

/** A text in which the words of the search are highlighted. */
export function Highlighted({
  text,
  words,
}: {
  readonly text: string;
  readonly words: readonly string[];
}): JSX.Element {
  return <>{piecesOf(text, words).map(({ text: piece, hit }) => (hit ? <mark>{piece}</mark> : piece))}</>;
}
