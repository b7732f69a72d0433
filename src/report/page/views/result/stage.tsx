import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PageDetail, PageResult } from '../../../results/wire.ts';
import { Copy } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Highlighted, pictureOf, proportions } from '../../parts/pieces.tsx';
import { useApp, useStore } from '../../parts/use.ts';
import { wordsOf } from '../../text/fold.ts';
import { indentJson } from '../../text/indent-json.ts';
import { nameOf } from '../../text/names.ts';

/** Number of characters of a text shown at first: a browser is slow with more. */
const atFirst = 20_000;

interface StageProps {
  readonly result: PageResult;
  readonly detail: PageDetail | undefined;
}

/** The picture, video or text of a result. */
export function Stage({ result, detail }: StageProps): JSX.Element {
  const { source } = useApp();
  const { media, file, status } = result;
  const address = file && source.fileAddress(file);
  if (address && media === 'image')
    return (
      <div class="stage">
        <Picture key={address} result={result} address={address} />
      </div>
    );
  if (address && media === 'video')
    return (
      <div class="stage">
        <video
          key={address}
          controls
          playsInline
          preload="metadata"
          src={address}
          poster={pictureOf(source, result)}
          aria-label={nameOf(result)}
          style={proportions(result)}
        />
      </div>
    );
  const text = detail?.text ?? result.text;
  if (text)
    return (
      <div class="stage text">
        <Words text={media === 'json' ? indentJson(text) : text} json={media === 'json'} />
      </div>
    );
  if (address)
    return (
      <div class="stage none">
        <Icon of="file" />
        <a href={address} target="_blank" rel="noreferrer">
          Open {file}
        </a>
      </div>
    );
  return (
    <div class="stage none">
      <Icon
        of={
          status === 'failed' || status === 'in-doubt' || status === 'blocked'
            ? 'alert'
            : status === 'skipped' || status === 'accepted'
              ? 'minus'
              : 'clock'
        }
      />
      <p dir="auto">
        {result.errorMessage ?? (status === 'done' ? 'There is no file.' : `Nothing yet: ${status}.`)}
      </p>
    </div>
  );
}

interface PictureProps {
  readonly result: PageResult;
  readonly address: string;
}

/** A picture scaled to the available room; its thumbnail is shown while it loads. A click shows it in full size. */
function Picture({ result, address }: PictureProps): JSX.Element {
  const { source } = useApp();
  const [large, setLarge] = useState(false);
  const [broken, setBroken] = useState(false);
  if (broken)
    return (
      <p class="hint">
        {result.file} cannot be shown. Is it still beside the report? <code>promptpress verify</code> says.
      </p>
    );
  return (
    <>
      <button
        type="button"
        class={`picture ${large ? 'large' : ''}`}
        aria-label={large ? 'Show the whole picture' : 'Show in full size'}
        aria-pressed={large}
        onClick={() => setLarge(!large)}
      >
        <img
          src={address}
          alt={result.prompt ? result.prompt.slice(0, 300) : nameOf(result)}
          style={{
            ...proportions(result),
            backgroundImage: result.thumbnail
              ? `url("${source.thumbnailAddress(result.thumbnail)}")`
              : 'none',
          }}
          width={result.width}
          height={result.height}
          onError={() => setBroken(true)}
        />
      </button>
      <a class="hint" href={address} target="_blank" rel="noreferrer">
        <Icon of="open" /> Open file
      </a>
    </>
  );
}

function Words({ text, json }: { readonly text: string; readonly json: boolean }): JSX.Element {
  const { address } = useApp();
  const words = wordsOf(useStore(address).query.search ?? '');
  const [shown, show] = useState(atFirst);
  useEffect(() => show(atFirst), [text]);
  return (
    <>
      <div class="copy-head line">
        <Copy text={text} of="text" />
      </div>
      <div class={json ? 'code-text' : 'prose-text'} dir="auto">
        <Highlighted text={text.slice(0, shown)} words={words} />
      </div>
      {text.length > shown ? (
        <button type="button" class="quiet" onClick={() => show(shown * 4)}>
          Show more of the text
        </button>
      ) : null}
    </>
  );
}
