import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LineageStop, PageDetail, PageResult } from '../../../results/wire.ts';
import { Command, Copy } from '../../parts/copy.tsx';
import { Icon, IconButton } from '../../parts/icon.tsx';
import { actOn, isForOthers } from '../../parts/keys.ts';
import { Modal } from '../../parts/modal.tsx';
import { Highlighted, MarkButtons, ResultLink, Status } from '../../parts/pieces.tsx';
import { useApp, useLoaded, useRedraw, useStore } from '../../parts/use.ts';
import type { ResultSource } from '../../source/source.ts';
import { select } from '../../state/address.ts';
import { wordsOf } from '../../text/fold.ts';
import { count } from '../../text/format.ts';
import { nameOf, pickOf, placeOf, titleOf } from '../../text/names.ts';
import { Facts } from './facts.tsx';
import { Stage } from './stage.tsx';

/** The dialog with all facts about one result. */
export function ResultDialog({ at }: { readonly at: number }): JSX.Element | null {
  const app = useApp();
  const { source, go } = app;
  useRedraw(source.subscribe);
  const changes = source.summary?.live ? source.summary.at : 0;
  const loaded = useLoaded(at, changes, () => source.result(at));
  const detail = useLoaded(at, changes, () => source.detail(at));
  const across = useLoaded(at, changes, () => acrossCells(source, at));
  const { found } = source;
  const position = found?.positionOf(at) ?? -1;
  const total = found?.total ?? 0;
  // While the result is loaded again, the one of the grid is shown, so that the dialog does not flicker.
  const result = loaded ?? found?.result(position);
  useEffect(() => {
    if (position >= 0) found?.want(Math.max(0, position - 1), position + 1);
  }, [source, position]);
  const step = (by: number): void => {
    const next = position < 0 ? undefined : found?.result(position + by);
    if (next) go((now) => ({ ...now, open: next.at }), 'replace');
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isForOthers(event)) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) step(by);
    else if (!result || !actOn(result, event.key, app)) return;
    event.preventDefault();
  };
  return (
    <Modal
      name={result ? nameOf(result) : 'Result'}
      kind="result"
      title={
        result ? (
          <>
            {titleOf(result)} <small>{placeOf(result)}</small> <small>{pickOf(result)}</small>{' '}
            <Status of={result.status} />
          </>
        ) : (
          'Result'
        )
      }
      tools={
        <>
          <IconButton of="left" name="Previous" disabled={position <= 0} onClick={() => step(-1)} />
          <span class="place hint">{position >= 0 ? `${count(position + 1)} of ${count(total)}` : ''}</span>
          <IconButton
            of="right"
            name="Next"
            disabled={position < 0 || position >= total - 1}
            onClick={() => step(1)}
          />
        </>
      }
      onClose={() => go(({ open: _open, ...others }) => others, 'push')}
      onKeyDown={onKeyDown}
    >
      <div class="dialog-body">
        {result ? <Stage result={result} detail={detail} /> : <div class="stage" />}
        <div class="about">
          {result ? <Choices result={result} /> : null}
          {result && detail ? (
            <>
              <Lineage result={result} detail={{ ...detail, ...across }} />
              <Problem result={result} detail={detail} />
              <Prompt result={result} />
              <Facts result={result} detail={detail} />
            </>
          ) : (
            <p class="hint">Reading …</p>
          )}
        </div>
      </div>
    </Modal>
  );
}

/** Returns the lineage and the children of a result with those of other cells, which are linked by picks. */
async function acrossCells(
  source: ResultSource,
  at: number,
): Promise<Pick<PageDetail, 'lineage' | 'children'>> {
  const linkTo = async (other: number): Promise<LineageStop> => {
    const result = await source.result(other);
    return { label: result ? `${titleOf(result)}, ${placeOf(result)}` : `result ${other + 1}`, at: other };
  };
  const { lineage = [], children = [] } = (await source.detail(at)) ?? {};
  let way = lineage;
  // A pick may be made from another pick. A way without an end would be a mistake of the data.
  for (let picks = 0; picks < mostPicks && way[0] !== undefined; picks += 1) {
    const first = await source.result(way[0].at);
    const above = first?.madeFrom === undefined ? null : (await source.otherCells(first)).above;
    if (above === null) break;
    const before = (await source.detail(above))?.lineage.slice(0, -1) ?? [];
    way = [...before, await linkTo(above), ...way];
  }
  const result = await source.result(at);
  const below = result?.picked === undefined ? [] : (await source.otherCells(result)).below;
  return { lineage: way, children: [...children, ...(await Promise.all(below.slice(0, most).map(linkTo)))] };
}

/** Number of picks above a result that its lineage shows. */
const mostPicks = 10;

/** Buttons that mark a result or select it for a comparison. */
function Choices({ result }: { readonly result: PageResult }): JSX.Element {
  const app = useApp();
  const selected = useStore(app.selected);
  return (
    <div class="choices flow">
      <MarkButtons result={result} />
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

interface OpenResult {
  readonly result: PageResult;
  readonly detail: PageDetail;
}

/** Number of links in a list shown at first; the rest is counted. */
const most = 60;

/** Links to the results that a result was made from and to those made from it. */
function Lineage({ result, detail: { lineage, inputs, children } }: OpenResult): JSX.Element {
  const link = ({ at, label }: LineageStop): JSX.Element => (
    <li key={at}>
      <ResultLink at={at} current={at === result.at}>
        {label}
      </ResultLink>
    </li>
  );
  const list = (name: string, stops: readonly LineageStop[]): JSX.Element | null =>
    stops.length === 0 ? null : (
      <>
        <h3>{name}</h3>
        <ul class="flow">
          {stops.slice(0, most).map(link)}
          {stops.length > most ? <li class="hint">and {stops.length - most} more</li> : null}
        </ul>
      </>
    );
  return (
    <nav class="lineage" aria-label="Lineage">
      <ol class="way flow">{lineage.map(link)}</ol>
      {list('Made of', inputs)}
      {list('Made from it', children)}
    </nav>
  );
}

function Problem({ result, detail }: OpenResult): JSX.Element | null {
  const { errorCode, errorMessage } = result;
  const { advice, commands = [] } = detail;
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
function Prompt({ result: { prompt } }: { readonly result: PageResult }): JSX.Element | null {
  const [whole, setWhole] = useState(false);
  const { query } = useStore(useApp().address);
  if (prompt === undefined) return null;
  const long = prompt.length > atFirst;
  return (
    <section>
      <div class="copy-head line spread">
        <h3>Prompt</h3>
        <Copy text={prompt} of="prompt" />
      </div>
      <p class="prompt" dir="auto">
        <Highlighted
          text={whole || !long ? prompt : `${prompt.slice(0, atFirst)} …`}
          words={wordsOf(query.search ?? '')}
        />
      </p>
      {long ? (
        <button type="button" class="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : 'Show all of the prompt'}
        </button>
      ) : null}
    </section>
  );
}
