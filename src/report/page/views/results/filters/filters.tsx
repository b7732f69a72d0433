import type { JSX } from 'preact';
import type { PageSummary } from '../../../../results/wire.ts';
import { useApp, useStore } from '../../../parts/use.ts';
import { mostJobs } from '../../../source/live.ts';
import type { Mark } from '../../../state/address.ts';
import { jobsWith } from '../../../state/marks.ts';
import { toggled } from '../../../state/query.ts';
import { count } from '../../../text/format.ts';
import { FilterGroup } from './filter-group.tsx';
import { groupsOf } from './groups.ts';

/** All that results are filtered by. */
export function Filters({ summary }: { readonly summary: PageSummary }): JSX.Element {
  const { address, go, source, marks } = useApp();
  const { query, mark } = useStore(address);
  const marked = useStore(marks);
  const chosen = (group: string): readonly string[] =>
    group === 'Step' ? (query.steps ?? []) : group === 'Status' ? (query.statuses ?? []) : [];
  const setMark = (value: Mark): void =>
    go(({ mark: _mark, ...others }) => (mark === value ? others : { ...others, mark: value }), 'replace');
  return (
    <div class="filters">
      {groupsOf(summary).map((group) => (
        <FilterGroup
          key={`${group.variable ?? ''} ${group.name}`}
          group={group}
          chosen={group.variable === undefined ? chosen(group.name) : (query.vars?.[group.name] ?? [])}
          known={group.variable === undefined ? undefined : source.valuesOf(group.variable)}
          onToggle={(value) =>
            go((now) => ({ ...now, query: toggled(now.query, group.filter(value)) }), 'replace')
          }
        />
      ))}
      <fieldset class="group">
        <legend>Marked</legend>
        <div class="values">
          {(['keep', 'reject'] as const).map((value) => (
            <label key={value} class="value">
              <input
                type="checkbox"
                aria-label={value === 'keep' ? 'kept' : 'rejected'}
                checked={mark === value}
                onChange={() => setMark(value)}
              />
              <span class="name">{value === 'keep' ? 'kept' : 'rejected'}</span>
              <span class="count">{count(jobsWith(marked, value).size)}</span>
            </label>
          ))}
        </div>
        {summary.live && mark && jobsWith(marked, mark).size > mostJobs ? (
          <p class="hint">While a run is on, the first {count(mostJobs)} are shown.</p>
        ) : null}
      </fieldset>
    </div>
  );
}
