import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PageSummary } from '../../../../results/wire.ts';
import { useApp, useStore } from '../../../parts/use.ts';
import { mostJobs } from '../../../source/live.ts';
import type { Mark } from '../../../state/address.ts';
import { jobsWith } from '../../../state/marks.ts';
import { toggled } from '../../../state/query.ts';
import { fold } from '../../../text/fold.ts';
import { count } from '../../../text/format.ts';
import { lineOf } from '../../../text/names.ts';
import { type Group, groupsOf } from './groups.ts';

/** The side panel with all filters. */
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

/** Groups with more values than this get a search box. */
const few = 10;
/** Number of values shown at once. */
const shown = 100;

interface FilterGroupProps {
  readonly group: Group;
  readonly chosen: readonly string[];
  /** All values of the variable, if more are known than the summary lists. */
  readonly known: readonly string[] | undefined;
  readonly onToggle: (value: string) => void;
}

const shownAs = (value: string): string => (value === '' ? '(empty)' : lineOf(value));

/** The values of a variable, a step or a status as a list of checkboxes. */
function FilterGroup({ group, chosen, known, onToggle }: FilterGroupProps): JSX.Element {
  const [sought, seek] = useState('');
  const counts = new Map(group.values);
  const all = group.distinct > group.values.length && known ? known : group.values.map(([value]) => value);
  const folded = fold(sought);
  const fitting = folded === '' ? all : all.filter((value) => fold(value).includes(folded));
  const exact = sought !== '' && !all.includes(sought) && group.distinct > all.length ? [sought] : [];
  const missing = chosen.filter((value) => !fitting.includes(value) && !exact.includes(value));
  const listed = [...missing, ...exact, ...fitting.slice(0, shown)];
  return (
    <fieldset class="group">
      <legend>{group.name}</legend>
      {group.distinct > few ? (
        <input
          type="search"
          class="find"
          aria-label={`Find ${group.name}`}
          placeholder={`Find one of ${count(group.distinct)}`}
          value={sought}
          onInput={(event) => seek(event.currentTarget.value)}
        />
      ) : null}
      <div class="values">
        {listed.map((value) => (
          <label key={value} class="value">
            <input
              type="checkbox"
              aria-label={shownAs(value)}
              checked={chosen.includes(value)}
              onChange={() => onToggle(value)}
            />
            <span class="name" title={value}>
              <bdi>{shownAs(value)}</bdi>
            </span>
            <span class="count">{counts.has(value) ? count(counts.get(value) ?? 0) : ''}</span>
          </label>
        ))}
      </div>
      {fitting.length > shown ? (
        <p class="hint">{count(fitting.length - shown)} more: type to find one</p>
      ) : null}
      {listed.length === 0 ? <p class="hint">None</p> : null}
    </fieldset>
  );
}
