import type { JSX } from 'preact';
import type { PageResult } from '../../../../results/wire.ts';
import { Icon } from '../../../parts/icon.tsx';
import { Highlighted, markNames, pictureOf, proportions, Status } from '../../../parts/pieces.tsx';
import type { ResultSource } from '../../../source/source.ts';
import type { Mark } from '../../../state/address.ts';
import { lineOf, nameOf, pickOf, placeOf, titleOf } from '../../../text/names.ts';

interface CardProps {
  readonly source: ResultSource;
  readonly result: PageResult;
  readonly position: number;
  /** Whether the card receives the focus of the Tab key. */
  readonly active: boolean;
  readonly selected: boolean;
  /** Whether it is the first visible card of its cell. */
  readonly begins: boolean;
  readonly mark: Mark | undefined;
  readonly words: readonly string[];
  readonly onOpen: (result: PageResult, position: number) => void;
  readonly onSelect: (result: PageResult) => void;
}

/** The card of a result in the grid. Its button covers the card; the text is outside of the button for screen readers. */
export function Card(props: CardProps): JSX.Element {
  const { source, result, position, active, selected, begins, mark, words, onOpen, onSelect } = props;
  const tab = active ? 0 : -1;
  return (
    <div class={`card ${selected ? 'selected' : ''} ${mark ? `marked-${mark}` : ''}`}>
      <div class="face">
        <Face source={source} result={result} words={words} />
      </div>
      <div class="caption">
        <button
          type="button"
          class="open clip"
          aria-label={nameOf(result)}
          data-position={position}
          tabIndex={tab}
          onClick={() => onOpen(result, position)}
        >
          {titleOf(result)}
        </button>
        <input
          type="checkbox"
          class="select"
          aria-label={`Select ${nameOf(result)}`}
          tabIndex={tab}
          checked={selected}
          onChange={() => onSelect(result)}
        />
        <span class="line hint">
          {result.errorCode && result.errorCode !== result.status ? <Status of={result.status} /> : null}
          <span class="clip">
            <span class={begins ? 'begins' : ''}>{placeOf(result)}</span>
            {valuesOf(source, result)}
          </span>
        </span>
      </div>
      {mark ? (
        <span class={`mark-sign ${mark}`}>
          <Icon of={mark} />
          <span class="sr">{markNames[mark]}</span>
        </span>
      ) : null}
    </div>
  );
}

/** Returns the values of the variables on one line, numbers with the name of their variable; behind them the pick. */
function valuesOf({ summary }: ResultSource, result: PageResult): string {
  const named = result.vars.map((value, n) =>
    value !== '' && Number.isFinite(Number(value))
      ? `${summary?.variables[n]?.name ?? ''} ${value}`
      : lineOf(value),
  );
  return [...named, pickOf(result)]
    .filter((value) => value !== '')
    .map((value) => ` · ${value}`)
    .join('');
}

/** A text with fewer characters is shown in a larger font. */
const short = 120;

function Face({ source, result, words }: Pick<CardProps, 'source' | 'result' | 'words'>): JSX.Element {
  const { status, media, text, prompt, errorCode, errorMessage } = result;
  const isQuiet = status === 'skipped' || status === 'accepted';
  if (status === 'failed' || status === 'in-doubt' || status === 'blocked' || isQuiet)
    return (
      <span class={`words ${status}`}>
        <span class="code">
          <Icon of={isQuiet ? 'minus' : 'alert'} /> {errorCode ?? status}
        </span>
        {errorMessage ? (
          <span class="hint">
            <Highlighted text={errorMessage.slice(0, 240)} words={words} />
          </span>
        ) : null}
        {prompt && status !== 'blocked' ? (
          <span class="hint asked" dir="auto">
            <Highlighted text={prompt.slice(0, 240)} words={words} />
          </span>
        ) : null}
      </span>
    );
  const picture = pictureOf(source, result);
  if (picture)
    return (
      <>
        <img
          src={picture}
          alt=""
          loading="lazy"
          decoding="async"
          draggable={false}
          style={proportions(result)}
        />
        {media === 'video' ? (
          <span class="badge">
            <Icon of="play" /> video
          </span>
        ) : null}
      </>
    );
  if (text)
    return (
      <span
        class={`words ${media === 'json' ? 'json' : text.length <= short ? 'prose short' : 'prose'}`}
        dir="auto"
      >
        <Highlighted text={text} words={words} />
      </span>
    );
  if (status === 'done')
    return (
      <span class="waiting line">
        <Icon of={media === 'video' ? 'play' : 'file'} /> {media ?? 'no file'}
      </span>
    );
  return (
    <span class="waiting line">
      <Icon of="clock" /> {status}
    </span>
  );
}
