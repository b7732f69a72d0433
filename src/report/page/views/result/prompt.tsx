import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PageResult } from '../../../results/wire.ts';
import { Copy } from '../../parts/copy.tsx';
import { Highlighted } from '../../parts/highlighted.tsx';

/** Characters of a prompt that are shown at first. */
const atFirst = 1200;

/** The prompt as it was sent. */
export function Prompt(props: {
  readonly result: PageResult;
  readonly words: readonly string[];
}): JSX.Element | null {
  const [whole, setWhole] = useState(false);
  const { prompt } = props.result;
  if (prompt === undefined) return null;
  const long = prompt.length > atFirst;
  return (
    <section class="block">
      <div class="block-head">
        <h3>Prompt</h3>
        <Copy text={prompt} of="prompt" />
      </div>
      <p class="prompt" dir="auto">
        <Highlighted text={whole || !long ? prompt : `${prompt.slice(0, atFirst)} …`} words={props.words} />
      </p>
      {long ? (
        <button type="button" class="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : 'Show all of the prompt'}
        </button>
      ) : null}
    </section>
  );
}
