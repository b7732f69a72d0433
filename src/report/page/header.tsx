import type { JSX } from 'preact';
import type { PageSummary } from '../results/wire.ts';
import { useApp, useStore } from './parts/use.ts';
import { type Tab, tabs } from './state/address.ts';
import { count, counted, duration, money, size, time } from './text/format.ts';

const names: Readonly<Record<Tab, string>> = { results: 'Results', charts: 'Charts', failures: 'Failures' };

const some = (value: number | undefined): string | undefined => (value ? count(value) : undefined);
const plural = (value: number | undefined): string => (value === 1 ? '' : 's');

/** The header: name and progress of the run, and the tabs. */
export function Header({ summary }: { readonly summary: PageSummary }): JSX.Element {
  const { planned, statuses, totals, workersStatus: workers } = summary;
  const open = (['pending', 'submitting', 'running', 'modal', 'saving'] as const).reduce(
    (sum, status) => sum + (statuses[status] ?? 0),
    0,
  );
  const facts: readonly (readonly [value: string | undefined, name: string, tone?: string])[] = [
    [
      planned && `${planned.percent} %`,
      `of the run's ${planned?.atMost ? 'at most ' : ''}${counted(planned?.total ?? 0, 'slot')} settled`,
    ],
    [planned?.leftMs ? `about ${duration(planned.leftMs / 1000)}` : undefined, 'left'],
    [count(statuses.done ?? 0), 'done', 'good'],
    [some(open), 'to come'],
    [some(statuses.failed), 'failed', 'bad'],
    [some(statuses.blocked), 'blocked', 'bad'],
    [some(statuses.accepted), 'failed or blocked as accepted'],
    [some(statuses['in-doubt']), 'in doubt', 'bad'],
    [totals.cost === undefined ? undefined : money(totals.cost), 'cost'],
    [some(totals.tokens), 'tokens'],
    [totals.bytes > 0 ? size(totals.bytes) : undefined, 'of files'],
    [workers && count(workers.workers), `worker${plural(workers?.workers)}`],
    [workers && count(workers.waiting), `slice${plural(workers?.waiting)} waiting`],
  ];
  return (
    <header class="top">
      <div>
        <div class="flow">
          <h1>{summary.name}</h1>
          {summary.sandbox ? <span class="tag sandbox">sandbox</span> : null}
          {summary.live ? <span class="tag live">running</span> : null}
        </div>
        {summary.description ? (
          <p class="description" dir="auto">
            {summary.description}
          </p>
        ) : null}
      </div>
      <ul class="totals flow hint" aria-label="Totals">
        {facts.map(([value, name, tone = '']) =>
          value === undefined ? null : (
            <li key={name} class={tone}>
              <strong>{value}</strong> {name}
            </li>
          ),
        )}
      </ul>
      <TabList failures={summary.failures.filter(({ accepted }) => !accepted).length} />
      <p class="made hint">
        {summary.madeBy}, {time(summary.at)}
      </p>
    </header>
  );
}

function TabList({ failures }: { readonly failures: number }): JSX.Element {
  const { address, go } = useApp();
  const { tab } = useStore(address);
  const show = (next: Tab): void =>
    go(({ open: _open, compare: _compare, ...now }) => ({ ...now, tab: next }), 'push');
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next =
      { Home: tabs[0], End: tabs.at(-1) }[event.key] ??
      (by && tabs.at((tabs.indexOf(tab) + by) % tabs.length));
    if (!next) return;
    event.preventDefault();
    show(next);
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <div class="tabs line" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      {tabs.map((each) => (
        <button
          key={each}
          id={`tab-${each}`}
          type="button"
          class="line"
          role="tab"
          aria-selected={tab === each}
          aria-controls="panel"
          tabIndex={tab === each ? 0 : -1}
          onClick={() => show(each)}
        >
          {names[each]}
          {each === 'failures' && failures > 0 ? (
            <span class="tag failed" aria-hidden="true">
              {failures}
            </span>
          ) : null}
        </button>
      ))}
    </div>
  );
}
