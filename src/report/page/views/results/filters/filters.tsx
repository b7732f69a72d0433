import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PageSummary } from '../../../../results/wire.ts';
import { markNames } from '../../../parts/pieces.tsx';
import { useApp, useStore } from '../../../parts/use.ts';
import { maxJobs } from '../../../source/live.ts';
import type { Mark } from '../../../state/address.ts';
import { jobsWith } from '../../../state/marks.ts';
import { type Filter, toggled } from '../../../state/query.ts';
import { fold } from '../../../text/fold.ts';
import { count } from '../../../text/format.ts';
import { lineOf } from '../../../text/names.ts';

/** A group of values that results are filtered by. */
interface Group {
  readonly name: string;
  readonly values: readonly (readonly [value: string, results: number | undefined])[];
  readonly chosen: readonly string[];
  readonly toggle: (value: string) => void;
  /** Number of values, if there are more than {@link values}. */
  readonly distinct?: number;
  /** All values, if more are known than {@link values}. */
  readonly known?: readonly string[] | undefined;
  /** Returns the text for a value. */
  readonly shownAs?: (value: string) => string;
}

/** The side panel with all filters. */
export function Filters({ summary }: { readonly summary: PageSummary }): JSX.Element {
  const { address, go, source, marks } = useApp();
  const { query, mark } = useStore(address);
  const marked = useStore(marks);
  const toggle = (filter: Filter): void =>
    go((now) => ({ ...now, query: toggled(now.query, filter) }), 'replace');
  const countOf = (each: Mark): number => jobsWith(marked, each).size;
  const groups: readonly Group[] = [
    {
      name: 'Status',
      values: Object.entries(summary.statuses),
      chosen: query.statuses ?? [],
      toggle: (value) => toggle({ by: 'status', value }),
    },
    {
      name: 'Step',
      values: summary.steps.map(({ name, results }) => [name, results]),
      chosen: query.steps ?? [],
      toggle: (value) => toggle({ by: 'step', value }),
    },
    ...summary.variables.map(({ name, values, distinct }, n) => ({
      name,
      values,
      distinct,
      known: source.valuesOf(n),
      chosen: query.vars?.[name] ?? [],
      toggle: (value: string) => toggle({ by: 'variable', name, value }),
    })),
    {
      name: 'Marked',
      values: (['keep', 'reject'] as const).map((each) => [each, countOf(each)]),
      chosen: mark ? [mark] : [],
      toggle: (value) =>
        go(
          ({ mark: now, ...others }) => (now === value ? others : { ...others, mark: value as Mark }),
          'replace',
        ),
      shownAs: (value) => markNames[value as Mark],
    },
  ];
  return (
    <div class="filters">
      {groups.map((group, n) => (
        <FilterGroup key={`${n} ${group.name}`} {...group} />
      ))}
      {summary.live && mark && countOf(mark) > maxJobs ? (
        <p class="hint">While a run is on, the first {count(maxJobs)} are shown.</p>
      ) : null}
    </div>
  );
}

/** Groups with more values than this get a search box. */
const few = 10;
const shown = 100;

const valueText = (value: string): string => (value === '' ? '(empty)' : lineOf(value));

function FilterGroup(group: Group): JSX.Element {
  const { name, values, chosen, toggle, distinct = values.length, known, shownAs = valueText } = group;
  const [sought, seek] = useState('');
  const counts = new Map(values);
  const all = distinct > values.length && known ? known : values.map(([value]) => value);
  const folded = fold(sought);
  const fitting = folded === '' ? all : all.filter((value) => fold(value).includes(folded));
  const exact = sought !== '' && !all.includes(sought) && distinct > all.length ? [sought] : [];
  const missing = chosen.filter((value) => !fitting.includes(value) && !exact.includes(value));
  const listed = [...missing, ...exact, ...fitting.slice(0, shown)];
  return (
    <fieldset>
      <legend>{name}</legend>
      {distinct > few ? (
        <input
          type="search"
          class="find"
          aria-label={`Find ${name}`}
          placeholder={`Find one of ${count(distinct)}`}
          value={sought}
          onInput={(event) => seek(event.currentTarget.value)}
        />
      ) : null}
      <div class="choosable">
        {listed.map((value) => (
          <label key={value} class="line">
            <input
              type="checkbox"
              aria-label={shownAs(value)}
              checked={chosen.includes(value)}
              onChange={() => toggle(value)}
            />
            <bdi class="clip" title={value}>
              {shownAs(value)}
            </bdi>
            <span class="hint">{counts.has(value) ? count(counts.get(value) ?? 0) : ''}</span>
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
