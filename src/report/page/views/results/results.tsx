import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PageSummary } from '../../../results/wire.ts';
import { Icon } from '../../parts/icon.tsx';
import { Modal } from '../../parts/modal.tsx';
import { Empty } from '../../parts/pieces.tsx';
import { useApp, useRedraw, useStore } from '../../parts/use.ts';
import { jobsWith, marksTable } from '../../state/marks.ts';
import { count } from '../../text/format.ts';
import { Chips, ClearFilters } from './filters/chips.tsx';
import { Filters } from './filters/filters.tsx';
import { Grid } from './grid/grid.tsx';
import { Toolbar } from './toolbar.tsx';

/** The tab with the results. */
export function Results({ summary }: { readonly summary: PageSummary }): JSX.Element {
  const { source, address, marks } = useApp();
  useRedraw(source.subscribe);
  const { query, mark } = useStore(address);
  const marked = useStore(marks);
  const [size, setSize] = useState(() => (innerWidth < 600 ? 150 : 220));
  const [drawer, setDrawer] = useState(false);
  const bar = useRef<HTMLDivElement>(null);
  const [covered, setCovered] = useState(0);
  const wide = useWide();
  useEffect(() => {
    source.ask(mark ? { ...query, jobs: jobsWith(marked, mark) } : query);
  }, [source, query, mark, mark ? marked : undefined]);
  useLayoutEffect(() => {
    const element = bar.current as HTMLDivElement;
    const observer = new ResizeObserver(() =>
      setCovered(getComputedStyle(element).position === 'sticky' ? element.offsetHeight : 0),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const { found, progress } = source;
  return (
    <div class="results">
      {wide ? (
        <aside class="side" aria-label="Filters">
          <Filters summary={summary} />
        </aside>
      ) : null}
      <div class="main">
        <div ref={bar} class="bar">
          <Toolbar size={size} onSize={setSize} onFilters={() => setDrawer(true)} />
          <div class="state flow">
            <p class="total" role="status">
              {found ? `${count(found.total)} of ${count(summary.results)} results` : 'Reading results …'}
            </p>
            {progress ? (
              <p class="line hint">
                <progress value={progress.done} max={progress.of} aria-label={`Reading ${progress.what}`} />
                {progress.what === 'texts' ? 'Searching long texts' : 'Reading'} {count(progress.done)} of{' '}
                {count(progress.of)}
              </p>
            ) : null}
            <Chips />
          </div>
        </div>
        {!found ? <Skeletons /> : found.total === 0 && !progress ? <NoResults summary={summary} /> : null}
        {found && found.total > 0 ? <Grid found={found} size={size} covered={covered} /> : null}
        <SelectionBar />
      </div>
      {drawer && !wide ? (
        <Modal name="Filters" kind="drawer" onClose={() => setDrawer(false)}>
          <Filters summary={summary} />
          <button type="button" class="primary" onClick={() => setDrawer(false)}>
            Show {found ? count(found.total) : ''} results
          </button>
        </Modal>
      ) : null}
    </div>
  );
}

/** Whether the window is wide enough for the side panel. */
function useWide(): boolean {
  const query = useRef(matchMedia('(min-width: 860px)'));
  const [wide, setWide] = useState(query.current.matches);
  useEffect(() => {
    const changed = (): void => setWide(query.current.matches);
    query.current.addEventListener('change', changed);
    return () => query.current.removeEventListener('change', changed);
  }, []);
  return wide;
}

const Skeletons = (): JSX.Element => (
  <div class="skeletons" aria-hidden="true">
    {Array.from({ length: 12 }, (_, n) => (
      <div key={n} class="card skeleton" />
    ))}
  </div>
);

/** Says why no results are shown, and what to do. */
const NoResults = ({ summary }: { readonly summary: PageSummary }): JSX.Element =>
  summary.results === 0 ? (
    <Empty title="No results yet">
      <p>
        The run has planned nothing, or has not begun. Start it with <code>promptpress run</code>; what it
        makes is shown here.
      </p>
    </Empty>
  ) : (
    <Empty title="No result matches">
      <p>All words of a search must be in one result. Fewer words, or fewer filters, find more.</p>
      <ClearFilters as="primary">Clear all filters</ClearFilters>
    </Empty>
  );

/** A bar with actions for selected or marked results. */
function SelectionBar(): JSX.Element | null {
  const app = useApp();
  const [selected, marks] = [useStore(app.selected), useStore(app.marks)];
  const { summary } = app.source;
  if (selected.length === 0 && marks.size === 0) return null;
  const download = (): void => {
    const address = URL.createObjectURL(new Blob([marksTable(marks)], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${summary?.name ?? 'results'}-selection.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return (
    <div class="selection-bar flow" role="region" aria-label="Selection">
      {selected.length > 0 ? (
        <div class="flow">
          <span>{count(selected.length)} selected</span>
          <button
            type="button"
            class="primary"
            disabled={selected.length < 2}
            title={selected.length < 2 ? 'Select two to four results' : undefined}
            onClick={() => app.go((now) => ({ ...now, compare: selected }), 'push')}
          >
            Compare
          </button>
          <button type="button" class="quiet" onClick={() => app.selected.set([])}>
            Clear selection
          </button>
        </div>
      ) : null}
      {marks.size > 0 ? (
        <div class="flow">
          <span class="tally keep">
            <Icon of="keep" /> {count(jobsWith(marks, 'keep').size)} kept
          </span>
          <span class="tally reject">
            <Icon of="reject" /> {count(jobsWith(marks, 'reject').size)} rejected
          </span>
          <button type="button" class="quiet" onClick={download}>
            <Icon of="download" /> Download selection
          </button>
        </div>
      ) : null}
    </div>
  );
}
