import type { ComponentChildren, JSX } from 'preact';
import { Icon } from '../../../parts/icon.tsx';
import { markNames } from '../../../parts/pieces.tsx';
import { useApp, useStore } from '../../../parts/use.ts';
import { type Filter, filtersOf, queryOf, toggled } from '../../../state/query.ts';
import { lineOf } from '../../../text/names.ts';

/** The active filters, each with a button that removes it. */
export function Chips(): JSX.Element | null {
  const { address, go } = useApp();
  const { query, mark } = useStore(address);
  const filters = filtersOf(query);
  if (filters.length === 0 && !mark) return null;
  return (
    <ul class="chips flow" aria-label="Filters">
      {filters.map((filter) =>
        chipOf(labelOf(filter), labelOf(filter), () =>
          go((now) => ({ ...now, query: toggled(now.query, filter) }), 'replace'),
        ),
      )}
      {mark
        ? chipOf(markNames[mark], 'on marks', () => go(({ mark: _mark, ...others }) => others, 'replace'))
        : null}
      <li>
        <ClearFilters as="quiet">Clear all</ClearFilters>
      </li>
    </ul>
  );
}

const chipOf = (label: string, name: string, remove: () => void): JSX.Element => (
  <li key={name}>
    <button type="button" class="chip line" aria-label={`Remove filter ${name}`} onClick={remove}>
      <span class="clip" dir="auto">
        {label}
      </span>
      <Icon of="close" />
    </button>
  </li>
);

interface ClearFiltersProps {
  readonly as: 'quiet' | 'primary';
  readonly children: ComponentChildren;
}

/** A button that removes all filters and keeps the order. */
export function ClearFilters({ as, children }: ClearFiltersProps): JSX.Element {
  const { go } = useApp();
  const clear = (): void =>
    go(({ mark: _mark, ...now }) => ({ ...now, query: queryOf({ sort: now.query.sort }) }), 'replace');
  return (
    <button type="button" class={as} onClick={clear}>
      {children}
    </button>
  );
}

function labelOf(filter: Filter): string {
  const value = filter.value === '' ? '(empty)' : lineOf(filter.value);
  if (filter.by === 'search') return `“${value}”`;
  return `${filter.by === 'variable' ? filter.name : filter.by}: ${value}`;
}
