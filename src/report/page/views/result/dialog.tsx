import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PageDetail, PageResult } from '../../../results/wire.ts';
import { Command, Copy } from '../../parts/copy.tsx';
import { Highlighted } from '../../parts/highlighted.tsx';
import { Icon } from '../../parts/icon.tsx';
import { typing, withModifier } from '../../parts/keys.ts';
import { Status } from '../../parts/media.tsx';
import { Modal } from '../../parts/modal.tsx';
import { useApp, useLoaded, useRedraw, useStore } from '../../parts/use.ts';
import type { Mark } from '../../state/address.ts';
import { select } from '../../state/address.ts';
import { wordsOf } from '../../text/fold.ts';
import { count } from '../../text/format.ts';
import { nameOf, placeOf, titleOf } from '../../text/names.ts';
import { Facts } from './facts.tsx';
import { Lineage } from './lineage.tsx';
import { Stage } from './stage.tsx';

/** The dialog with all facts about one result. */
export function ResultDialog({ at }: { readonly at: number }): JSX.Element | null {
  const app = useApp();
  const { source, go } = app;
  useRedraw(source.subscribe);
  const changes = source.summary?.live ? source.summary.at : 0;
  const result = useLoaded(at, changes, () => source.result(at));
  const detail = useLoaded(at, changes, () => source.detail(at));
  const position = source.found?.positionOf(at) ?? -1;
  const total = source.found?.total ?? 0;
  const last = useLast(result, at);
  useEffect(() => {
    if (position >= 0) source.found?.want(Math.max(0, position - 1), position + 1);
  }, [source, position]);
  const close = (): void => go(({ open: _open, ...others }) => others, 'push');
  const step = (by: number): void => {
    const next = position < 0 ? undefined : source.found?.result(position + by);
    if (next) go((now) => ({ ...now, open: next.at }), 'replace');
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (typing(event) || withModifier(event)) return;
    if (event.key === 'ArrowLeft') step(-1);
    else if (event.key === 'ArrowRight') step(1);
    else if (event.key === 'k' && last?.job) app.flip(last.job, 'keep');
    else if (event.key === 'x' && last?.job) app.flip(last.job, 'reject');
    else if (event.key === 's') app.selected.set(select(app.selected.value, at));
    else return;
    event.preventDefault();
  };
  return (
    <Modal name={last ? nameOf(last) : 'Result'} kind="result" onClose={close} onKeyDown={onKeyDown}>
      <div class="dialog-head">
        <h2>
          {last ? titleOf(last) : 'Result'} {last ? <small>{placeOf(last)}</small> : null}{' '}
          {last ? <Status of={last.status} /> : null}
        </h2>
        <div class="tools">
          <button
            type="button"
            class="quiet square"
            aria-label="Previous"
            disabled={position <= 0}
            onClick={() => step(-1)}
          >
            <Icon of="left" />
          </button>
          <span class="place">{position >= 0 ? `${count(position + 1)} of ${count(total)}` : ''}</span>
          <button
            type="button"
            class="quiet square"
            aria-label="Next"
            disabled={position < 0 || position >= total - 1}
            onClick={() => step(1)}
          >
            <Icon of="right" />
          </button>
          <button type="button" class="quiet square" aria-label="Close" onClick={close}>
            <Icon of="close" />
          </button>
        </div>
      </div>
      <div class="dialog-body">
        {last ? <Stage result={last} detail={detail} /> : <div class="stage" />}
        <div class="about">
          {last ? <Choices result={last} /> : null}
          {last && detail ? <Body result={last} detail={detail} /> : <p class="hint">Reading …</p>}
        </div>
      </div>
    </Modal>
  );
}

/** Returns the result, or the previous one while it loads, so that the dialog does not flicker. */
function useLast(result: PageResult | undefined, at: number): PageResult | undefined {
  const { source } = useApp();
  return result ?? source.found?.result(source.found.positionOf(at));
}

function Body({ result, detail }: { readonly result: PageResult; readonly detail: PageDetail }): JSX.Element {
  const { address } = useApp();
  const words = wordsOf(useStore(address).query.search ?? '');
  return (
    <>
      <Lineage result={result} detail={detail} />
      <Problem result={result} detail={detail} />
      <Prompt result={result} words={words} />
      <Facts result={result} detail={detail} />
    </>
  );
}

/** Buttons that mark a result or select it for a comparison. */
function Choices({ result }: { readonly result: PageResult }): JSX.Element {
  const app = useApp();
  const [marks, selected] = [useStore(app.marks), useStore(app.selected)];
  const { job } = result;
  const mark = (value: Mark, label: string): JSX.Element => (
    <button
      type="button"
      class={`toggle ${value}`}
      aria-pressed={job !== undefined && marks.get(job) === value}
      disabled={job === undefined}
      onClick={() => job !== undefined && app.flip(job, value)}
    >
      <Icon of={value} /> {label}
      <kbd aria-hidden="true">{value === 'keep' ? 'k' : 'x'}</kbd>
    </button>
  );
  return (
    <div class="choices">
      {mark('keep', 'Keep')}
      {mark('reject', 'Reject')}
      <button
        type="button"
        class="toggle"
        aria-pressed={selected.includes(result.at)}
        onClick={() => app.selected.set(select(selected, result.at))}
      >
        Select<kbd aria-hidden="true">s</kbd>
      </button>
      {selected.length >= 2 ? (
        <button
          type="button"
          class="quiet"
          onClick={() => app.go(({ open: _open, ...now }) => ({ ...now, compare: selected }), 'push')}
        >
          Compare {selected.length}
        </button>
      ) : null}
    </div>
  );
}

/** The error of a result, with advice. */
function Problem(props: { readonly result: PageResult; readonly detail: PageDetail }): JSX.Element | null {
  const { errorCode, errorMessage } = props.result;
  const { advice, commands = [] } = props.detail;
  if (errorCode === undefined && errorMessage === undefined && advice === undefined) return null;
  return (
    <section class="problem" aria-label="Error">
      <h3>
        <Icon of="alert" /> {errorCode ?? 'Error'}
      </h3>
      {errorMessage ? <p dir="auto">{errorMessage}</p> : null}
      {advice ? <p class="advice">{advice}</p> : null}
      {commands.map((line) => (
        <Command key={line} line={line} />
      ))}
    </section>
  );
}

/** Number of characters of a prompt shown at first. */
const atFirst = 1200;

/** The prompt exactly as it was sent. */
function Prompt(props: {
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
