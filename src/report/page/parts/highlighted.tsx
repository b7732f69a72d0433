import type { JSX } from 'preact';
import { piecesOf } from '../text/fold.ts';

/** A text with the words that were searched for. */
export function Highlighted({
  text,
  words,
}: {
  readonly text: string;
  readonly words: readonly string[];
}): JSX.Element {
  return <>{piecesOf(text, words).map(({ text: piece, hit }) => (hit ? <mark>{piece}</mark> : piece))}</>;
}
