import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageResult } from '../../../results/wire.ts';
import { IconButton } from '../../parts/icon.tsx';
import { isForOthers } from '../../parts/keys.ts';
import { Modal } from '../../parts/modal.tsx';
import { MarkButtons, Status } from '../../parts/pieces.tsx';
import { useApp, useLoaded } from '../../parts/use.ts';
import { indentJson } from '../../text/indent-json.ts';
import { lineOf, nameOf, placeOf, titleOf } from '../../text/names.ts';
import { panned, type View, viewAfterKey, whole, zoomed } from './pan-zoom.ts';

/** A comparison of two to four results, side by side. */
export function Compare({ ats }: { readonly ats: readonly number[] }): JSX.Element {
  const { go } = useApp();
  const [view, setView] = useState<View>(whole);
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = isForOthers(event) ? undefined : viewAfterKey(view, event.key);
    if (!next) return;
    event.preventDefault();
    setView(next);
  };
  return (
    <Modal
      name={`Compare ${ats.length} results`}
      kind="compare"
      tools={
        <>
          <IconButton of="minus" name="Zoom out" onClick={() => setView(zoomed(view, 1 / 1.5))} />
          <span class="place hint" role="status">
            {Math.round(view.scale * 100)} %
          </span>
          <IconButton of="plus" name="Zoom in" onClick={() => setView(zoomed(view, 1.5))} />
          <IconButton of="fit" name="Fit" onClick={() => setView(whole)} />
        </>
      }
      onClose={() => go(({ compare: _compare, ...others }) => others, 'push')}
      onKeyDown={onKeyDown}
    >
      <div class={`panes panes-${ats.length}`}>
        {ats.map((at) => (
          <Pane key={at} at={at} view={view} setView={setView} />
        ))}
      </div>
    </Modal>
  );
}

interface PaneProps {
  readonly at: number;
  readonly view: View;
  readonly setView: (change: (view: View) => View) => void;
}

function Pane({ at, view, setView }: PaneProps): JSX.Element {
  const { source, go } = useApp();
  const result = useLoaded(at, 0, () => source.result(at));
  const detail = useLoaded(at, 0, () => source.detail(at));
  const isJson = result?.media === 'json';
  const text = detail?.text ?? result?.text;
  return (
    <article class="pane" aria-label={result ? nameOf(result) : 'Result'}>
      {result?.media === 'image' && result.file ? (
        <Picture result={result} address={source.fileAddress(result.file)} view={view} setView={setView} />
      ) : (
        // biome-ignore lint: a text that scrolls is reached with the Tab key.
        <div class={`pane-text ${isJson ? 'code-text' : 'prose-text'}`} dir="auto" tabIndex={0}>
          {(text && (isJson ? indentJson(text) : text)) || (result?.errorMessage ?? result?.status ?? '')}
        </div>
      )}
      {result ? (
        <footer class="line spread">
          <div class="clip">
            <button
              type="button"
              class="link"
              onClick={() => go(({ compare: _compare, ...now }) => ({ ...now, open: at }), 'push')}
            >
              {titleOf(result)}
            </button>{' '}
            <span class="hint">{placeOf(result)}</span>{' '}
            {result.status === 'done' ? null : <Status of={result.status} />}
            <p class="hint clip">
              {result.vars
                .map(lineOf)
                .filter((value) => value !== '')
                .join(' · ')}
            </p>
          </div>
          {result.job === undefined ? null : (
            <div class="choices line">
              <MarkButtons result={result} name={`${titleOf(result)}, cell ${result.cell}`} />
            </div>
          )}
        </footer>
      ) : null}
    </article>
  );
}

interface PictureProps extends Omit<PaneProps, 'at'> {
  readonly result: PageResult;
  readonly address: string;
}

/** A picture that zooms with the wheel and pans with the pointer, in step with the other pictures. */
function Picture({ result, address, view, setView }: PictureProps): JSX.Element {
  const pane = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = pane.current as HTMLDivElement;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const { left, top, width, height } = element.getBoundingClientRect();
      const [x, y] = [(event.clientX - left) / width - 0.5, (event.clientY - top) / height - 0.5];
      setView((now) => zoomed(now, Math.exp(-event.deltaY / 400), x, y));
    };
    // Not as an attribute: wheel listeners are passive there, and the page would scroll.
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, []);
  return (
    <div
      ref={pane}
      class="pane-picture"
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.buttons !== 1) return;
        const { width, height } = event.currentTarget.getBoundingClientRect();
        const [x, y] = [event.movementX / width, event.movementY / height];
        setView((now) => panned(now, x, y));
      }}
      onDblClick={() => setView((now) => (now.scale > 1 ? whole : zoomed(now, 3)))}
    >
      <img
        src={address}
        alt={nameOf(result)}
        draggable={false}
        style={{ transform: `translate(${view.x * 100}%, ${view.y * 100}%) scale(${view.scale})` }}
      />
    </div>
  );
}
