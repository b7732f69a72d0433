import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PageResult } from '../../../../results/wire.ts';
import { actOn, isForOthers } from '../../../parts/keys.ts';
import { useApp, useStore } from '../../../parts/use.ts';
import type { Found } from '../../../source/source.ts';
import { select } from '../../../state/address.ts';
import { wordsOf } from '../../../text/fold.ts';
import { Card } from './card.tsx';
import { fullRows, moved, rowsByCell } from './layout.ts';
import { useRows } from './rows.ts';

/** Height in pixels of the lines below a picture, with the space around the card. */
const below = 54;
const gap = 12;

interface GridProps {
  readonly found: Found;
  /** Preferred width of a card, in pixels. */
  readonly size: number;
  /** Height in pixels of the bar that covers the top of the window. */
  readonly covered: number;
}

/** The grid of results, with as many columns as fit. */
export function Grid({ found, size, covered }: GridProps): JSX.Element {
  const app = useApp();
  const { source, go } = app;
  const [marks, selected, address] = [useStore(app.marks), useStore(app.selected), useStore(app.address)];
  const list = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [active, setActive] = useState(0);
  /** Whether the active card should get the focus, or has got it. */
  const focusing = useRef<'no' | 'wanted' | 'given'>('no');
  /** Element that had the focus before a card should get it. */
  const left = useRef<Element | null>(null);
  useLayoutEffect(() => {
    const element = list.current as HTMLDivElement;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  const columns = Math.max(width < 280 ? 1 : 2, Math.floor((width + gap) / (size + gap)));
  const card = Math.max(1, Math.floor((width - gap * (columns - 1)) / columns));
  const byCell = address.rows === 'cells' && !address.query.sort;
  const layout = useMemo(
    () =>
      byCell && found.cellOf
        ? rowsByCell(found.total, columns, found.cellOf)
        : fullRows(found.total, columns),
    [found, columns, byCell],
  );
  const rowCount = width === 0 ? 0 : layout.rows;
  const rows = useRows(list, rowCount, card + below + gap, covered);
  const items = rows.virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => found.want(layout.first(first), layout.first(last + 1) - 1), [found, first, last, layout]);

  const here = Math.min(active, Math.max(0, found.total - 1));
  const focus = (position: number): void => {
    setActive(position);
    focusing.current = 'wanted';
    left.current = document.activeElement;
    rows.reveal(layout.rowOf(position));
  };
  useEffect(() => {
    const now = document.activeElement;
    const isElsewhere = now !== document.body && !list.current?.contains(now);
    // A row that is redrawn while the list settles loses the focus; its card gets it back, unless the user has focused another element.
    if (isElsewhere && (focusing.current === 'given' || now !== left.current)) focusing.current = 'no';
    if (focusing.current === 'no') return;
    const button = list.current?.querySelector<HTMLElement>(`[data-position="${here}"]`);
    if (!button || (focusing.current === 'given' && now !== document.body)) return;
    focusing.current = 'given';
    button.focus({ preventScroll: true });
  });
  // After the dialog closes, the result that it showed last becomes active.
  const wasOpen = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (address.open !== undefined || address.compare) wasOpen.current = address.open;
    else if (wasOpen.current !== undefined) {
      const position = found.positionOf(wasOpen.current);
      wasOpen.current = undefined;
      if (position >= 0) focus(position);
    }
  }, [address.open, address.compare]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (isForOthers(event)) return;
    const page = Math.max(1, Math.floor((innerHeight - covered) / (card + below + gap)));
    const to = moved(event.key, here, found.total, layout, page);
    const result = found.result(here);
    if (to !== undefined) focus(to);
    else if (!result || !actOn(result, event.key, app)) return;
    event.preventDefault();
  };
  const words = wordsOf(address.query.search ?? '');
  const onOpen = (result: PageResult, position: number): void => {
    setActive(position);
    go((now) => ({ ...now, open: result.at }), 'push');
  };
  // If the active card is not drawn, the Tab key focuses the first drawn card.
  const drawn = here >= layout.first(first) && here < layout.first(last + 1);
  const tabStop = drawn ? here : layout.first(first);
  return (
    <div
      ref={list}
      class="grid"
      role="grid"
      aria-label="Results"
      aria-rowcount={layout.rows}
      aria-colcount={columns}
      style={{ height: `${rows.height}px` }}
      onKeyDown={onKeyDown}
      onFocusIn={({ target }) => {
        const position = target instanceof HTMLElement ? target.dataset['position'] : undefined;
        if (position !== undefined) setActive(Number(position));
      }}
    >
      {items.map(({ index, start }) => (
        <div
          key={index}
          class="row"
          role="row"
          aria-rowindex={index + 1}
          style={{
            transform: `translateY(${rows.top(start)}px)`,
            gridTemplateColumns: `repeat(${columns}, ${card}px)`,
            gap: `${gap}px`,
            height: `${card + below}px`,
          }}
        >
          {Array.from({ length: layout.count(index) }, (_, column) => {
            const position = layout.first(index) + column;
            const result = found.result(position);
            return (
              <div key={position} role="gridcell" aria-colindex={column + 1}>
                {result ? (
                  <Card
                    source={source}
                    result={result}
                    position={position}
                    active={position === tabStop}
                    selected={selected.includes(result.at)}
                    begins={found.result(position - 1)?.cell !== result.cell}
                    mark={result.job ? marks.get(result.job) : undefined}
                    words={words}
                    onOpen={onOpen}
                    onSelect={({ at }) => app.selected.set(select(app.selected.value, at))}
                  />
                ) : (
                  <div class="card skeleton" aria-label="loading" />
                )}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}
