import type { JSX } from 'preact';
import { Icon } from '../../../parts/icon.tsx';
import { useApp, useStore } from '../../../parts/use.ts';
import { type Filter, filtersOf, toggled, unfiltered } from '../../../state/query.ts';
import { lineOf } from '../../../text/names.ts';

/** The active filters, each with a button that removes it. */
export function Chips(): JSX.Element | null {
  const { address, go } = useApp();
  const { query, mark } = useStore(address);
  const filters = filtersOf(query);
  if (filters.length === 0 && !mark) return null;
  return (
    <ul class="chips" aria-label="Filters">
      {filters.map((filter) => (
        <li key={labelOf(filter)}>
          <button
            type="button"
            class="chip"
            aria-label={`Remove filter ${labelOf(filter)}`}
            onClick={() => go((now) => ({ ...now, query: toggled(now.query, filter) }), 'replace')}
          >
            <span dir="auto">{labelOf(filter)}</span>
            <Icon of="close" />
          </button>
        </li>
      ))}
      {mark ? (
        <li>
          <button
            type="button"
            class="chip"
            aria-label="Remove filter on marks"
            onClick={() => go(({ mark: _mark, ...others }) => others, 'replace')}
          >
            {mark === 'keep' ? 'kept' : 'rejected'}
            <Icon of="close" />
          </button>
        </li>
      ) : null}
      <li>
        <button
          type="button"
          class="quiet"
          onClick={() =>
            go(({ mark: _mark, ...now }) => ({ ...now, query: unfiltered(now.query) }), 'replace')
          }
        >
          Clear all
        </button>
      </li>
    </ul>
  );
}

function labelOf(filter: Filter): string {
  const value = filter.value === '' ? '(empty)' : lineOf(filter.value);
  switch (filter.by) {
    case 'search':
      return `“${value}”`;
    case 'variable':
      return `${filter.name}: ${value}`;
    case 'step':
    case 'status':
    case 'error':
      return `${filter.by}: ${value}`;
  }
}
