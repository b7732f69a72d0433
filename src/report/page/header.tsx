import type { JSX } from 'preact';
import type { PageSummary } from '../results/wire.ts';
import { useApp, useStore } from './parts/use.ts';
import { type Tab, tabs } from './state/address.ts';
import { count, counted, duration, money, size, time } from './text/format.ts';

const names: Readonly<Record<Tab, string>> = { results: 'Results', charts: 'Charts', failures: 'Failures' };

/** The header: name and progress of the run, and the tabs. */
export function Header({ summary }: { readonly summary: PageSummary }): JSX.Element {
  const { planned, statuses, totals, workersStatus } = summary;
  const open = (['pending', 'submitting', 'running', 'modal', 'saving'] as const).reduce(
    (sum, status) => sum + (statuses[status] ?? 0),
    0,
  );
  const facts: readonly (readonly [value: string, name: string, tone?: string])[] = [
    ...(planned === undefined
      ? []
      : [
          [
            `${planned.percent} %`,
            `of the run's ${planned.atMost ? 'at most ' : ''}${counted(planned.total, 'slot')} settled`,
          ] as const,
        ]),
    ...(planned?.leftMs ? [[`about ${duration(planned.leftMs / 1000)}`, 'left'] as const] : []),
    [count(statuses.done ?? 0), 'done', 'good'],
    ...(open > 0 ? [[count(open), 'to come'] as const] : []),
    ...(statuses.failed ? [[count(statuses.failed), 'failed', 'bad'] as const] : []),
    ...(statuses.blocked ? [[count(statuses.blocked), 'blocked', 'bad'] as const] : []),
    ...(statuses['in-doubt'] ? [[count(statuses['in-doubt']), 'in doubt', 'bad'] as const] : []),
    ...(totals.cost === undefined ? [] : [[money(totals.cost), 'cost'] as const]),
    ...(totals.tokens > 0 ? [[count(totals.tokens), 'tokens'] as const] : []),
    ...(totals.bytes > 0 ? [[size(totals.bytes), 'of files'] as const] : []),
    ...(workersStatus === undefined
      ? []
      : [
          [count(workersStatus.workers), workersStatus.workers === 1 ? 'worker' : 'workers'] as const,
          [
            count(workersStatus.slices.waiting),
            workersStatus.slices.waiting === 1 ? 'slice waiting' : 'slices waiting',
          ] as const,
        ]),
  ];
  return (
    <header class="top">
      <div class="about-run">
        <div class="run">
          <h1>{summary.name}</h1>
          {summary.sandbox ? <span class="tag">sandbox</span> : null}
          {summary.live ? <span class="tag live">running</span> : null}
        </div>
        {summary.description ? (
          <p class="description" dir="auto">
            {summary.description}
          </p>
        ) : null}
      </div>
      <ul class="totals" aria-label="Totals">
        {facts.map(([value, name, tone = '']) => (
          <li key={name} class={tone}>
            <strong>{value}</strong> {name}
          </li>
        ))}
      </ul>
      <TabList failures={summary.failures.length} />
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
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      {tabs.map((each) => (
        <button
          key={each}
          id={`tab-${each}`}
          type="button"
          role="tab"
          aria-selected={tab === each}
          aria-controls="panel"
          tabIndex={tab === each ? 0 : -1}
          onClick={() => show(each)}
        >
          {names[each]}
          {each === 'failures' && failures > 0 ? (
            <span class="number" aria-hidden="true">
              {failures}
            </span>
          ) : null}
        </button>
      ))}
    </div>
  );
}
