import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Header } from './header.tsx';
import { useApp, useRedraw, useStore } from './parts/use.ts';
import { Charts } from './views/charts/charts.tsx';
import { Compare } from './views/compare/compare.tsx';
import { Failures } from './views/failures/failures.tsx';
import { ResultDialog } from './views/result/dialog.tsx';
import { Results } from './views/results/results.tsx';

/** The root component of the page. */
export function Page(): JSX.Element {
  const { source, address } = useApp();
  useRedraw(source.subscribe);
  const { tab, open, compare } = useStore(address);
  const { summary, problem, lost } = source;
  useEffect(() => {
    if (summary) document.title = `${summary.name} · promptpress`;
  }, [summary?.name]);
  if (!summary)
    return problem ? (
      <main class="empty">
        <h1>The results cannot be shown</h1>
        <p role="alert">{problem}</p>
      </main>
    ) : (
      <main class="opening" aria-busy="true">
        <p role="status">Reading results …</p>
      </main>
    );
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('panel')?.focus()}>
        Skip to the results
      </button>
      <Header summary={summary} />
      {lost ? (
        <p class="notice" role="alert">
          The connection is lost. What is shown may be out of date; it is tried again.
        </p>
      ) : null}
      {problem ? (
        <p class="notice" role="alert">
          {problem}
        </p>
      ) : null}
      {summary.totals.sameFiles ? <p class="notice">{summary.totals.sameFiles}</p> : null}
      <main>
        <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
          {tab === 'results' ? <Results summary={summary} /> : null}
          {tab === 'charts' ? <Charts summary={summary} /> : null}
          {tab === 'failures' ? <Failures summary={summary} /> : null}
        </div>
      </main>
      {open === undefined ? null : <ResultDialog at={open} />}
      {compare && open === undefined ? <Compare ats={compare} /> : null}
    </>
  );
}
