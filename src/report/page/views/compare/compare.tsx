import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageResult } from '../../../results/wire.ts';
import { Icon } from '../../parts/icon.tsx';
import { typing, withModifier } from '../../parts/keys.ts';
import { Status } from '../../parts/media.tsx';
import { Modal } from '../../parts/modal.tsx';
import { useApp, useLoaded, useStore } from '../../parts/use.ts';
import type { Mark } from '../../state/address.ts';
import { indentJson } from '../../text/indent-json.ts';
import { lineOf, nameOf, placeOf, titleOf } from '../../text/names.ts';
import { panned, type View, viewAfterKey, whole, zoomed } from './pan-zoom.ts';

/** A comparison of two to four results, side by side. */
export function Compare({ ats }: { readonly ats: readonly number[] }): JSX.Element {
  const { go } = useApp();
  const [view, setView] = useState<View>(whole);
  const close = (): void => go(({ compare: _compare, ...others }) => others, 'push');
  const onKeyDown = (event: KeyboardEvent): void => {
    if (typing(event) || withModifier(event)) return;
    const next = viewAfterKey(view, event.key);
    if (!next) return;
    event.preventDefault();
    setView(next);
  };
  return (
    <Modal name={`Compare ${ats.length} results`} kind="compare" onClose={close} onKeyDown={onKeyDown}>
      <div class="dialog-head">
        <h2>Compare {ats.length} results</h2>
        <div class="tools">
          <button
            type="button"
            class="quiet square"
            aria-label="Zoom out"
            onClick={() => setView(zoomed(view, 1 / 1.5))}
          >
            <Icon of="minus" />
          </button>
          <span class="place" role="status">
            {Math.round(view.scale * 100)} %
          </span>
          <button
            type="button"
            class="quiet square"
            aria-label="Zoom in"
            onClick={() => setView(zoomed(view, 1.5))}
          >
            <Icon of="plus" />
          </button>
          <button type="button" class="quiet square" aria-label="Fit" onClick={() => setView(whole)}>
            <Icon of="fit" />
          </button>
          <button type="button" class="quiet square" aria-label="Close" onClick={close}>
            <Icon of="close" />
          </button>
        </div>
      </div>
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
  const text = detail?.text ?? result?.text;
  return (
    <article class="pane" aria-label={result ? nameOf(result) : 'Result'}>
      {result?.media === 'image' && result.file ? (
        <Picture result={result} address={source.fileAddress(result.file)} view={view} setView={setView} />
      ) : (
        // biome-ignore lint: a text that scrolls is reached with the Tab key.
        <div
          class={`pane-text ${result?.media === 'json' ? 'code-text' : 'prose-text'}`}
          dir="auto"
          tabIndex={0}
        >
          {text
            ? result?.media === 'json'
              ? indentJson(text)
              : text
            : (result?.errorMessage ?? result?.status ?? '')}
        </div>
      )}
      {result ? (
        <footer class="pane-foot">
          <div class="pane-title">
            <button
              type="button"
              class="link"
              onClick={() => go(({ compare: _compare, ...now }) => ({ ...now, open: at }), 'push')}
            >
              {titleOf(result)}
            </button>{' '}
            <span class="hint">{placeOf(result)}</span>{' '}
            {result.status === 'done' ? null : <Status of={result.status} />}
          </div>
          <p class="hint values">
            {result.vars
              .map(lineOf)
              .filter((value) => value !== '')
              .join(' · ')}
          </p>
          <Marks result={result} />
        </footer>
      ) : null}
    </article>
  );
}

function Marks({ result: { job, ...result } }: { readonly result: PageResult }): JSX.Element | null {
  const app = useApp();
  const marks = useStore(app.marks);
  if (job === undefined) return null;
  const button = (mark: Mark, label: string): JSX.Element => (
    <button
      type="button"
      class={`toggle small ${mark}`}
      aria-pressed={marks.get(job) === mark}
      aria-label={`${label} ${titleOf(result)}, cell ${result.cell}`}
      onClick={() => app.flip(job, mark)}
    >
      <Icon of={mark} /> {label}
    </button>
  );
  return (
    <div class="choices">
      {button('keep', 'Keep')}
      {button('reject', 'Reject')}
    </div>
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
