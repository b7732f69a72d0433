import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Header } from './header.tsx';
import { useApp, useRedraw, useStore } from './parts/use.ts';
import { Charts } from './views/charts/charts.tsx';
import { Compare } from './views/compare/compare.tsx';
import { Failures } from './views/failures.tsx';
import { ResultDialog } from './views/result/dialog.tsx';
import { Results } from './views/results/results.tsx';

const views = { results: Results, charts: Charts, failures: Failures } as const;

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
      <main class="empty" aria-busy="true">
        <p role="status">Reading results …</p>
      </main>
    );
  const View = views[tab];
  const problems = [
    lost && 'The connection is lost. What is shown may be out of date; it is tried again.',
    problem,
  ];
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('panel')?.focus()}>
        Skip to the results
      </button>
      <Header summary={summary} />
      {problems.map((text) =>
        text ? (
          <p key={text} class="notice" role="alert">
            {text}
          </p>
        ) : null,
      )}
      {summary.totals.sameFiles ? <p class="notice">{summary.totals.sameFiles}</p> : null}
      <main>
        <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
          <View summary={summary} />
        </div>
      </main>
      {open === undefined ? null : <ResultDialog at={open} />}
      {compare && open === undefined ? <Compare ats={compare} /> : null}
    </>
  );
}
