import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageSort } from '../../../results/wire.ts';
import { Icon } from '../../parts/icon.tsx';
import { isForOthers } from '../../parts/keys.ts';
import { useApp, useStore } from '../../parts/use.ts';
import { sorts } from '../../state/address.ts';
import { queryOf } from '../../state/query.ts';

const sortNames: Readonly<Record<PageSort, string>> = {
  plan: 'Plan order',
  newest: 'Newest first',
  cost: 'Highest cost',
  duration: 'Longest',
};

interface ToolbarProps {
  readonly size: number;
  readonly onSize: (size: number) => void;
  readonly onFilters: () => void;
}

/** The toolbar with search, order and card size. */
export function Toolbar({ size, onSize, onFilters }: ToolbarProps): JSX.Element {
  const { address, go, source } = useApp();
  const { query, rows } = useStore(address);
  return (
    <div class="toolbar flow">
      <button type="button" class="toggle drawer-button" onClick={onFilters}>
        <Icon of="filter" /> Filters
      </button>
      <SearchBox />
      <label class="field line hint">
        <span>Sort by</span>
        <select
          value={query.sort ?? 'plan'}
          onChange={(event) => {
            const sort = event.currentTarget.value as PageSort;
            go((now) => ({ ...now, query: queryOf({ ...now.query, sort }) }), 'replace');
          }}
        >
          {sorts.map((sort) => (
            <option key={sort} value={sort}>
              {sortNames[sort]}
            </option>
          ))}
        </select>
      </label>
      {source.found?.cellOf && !query.sort ? (
        <button
          type="button"
          class="toggle"
          aria-pressed={rows === 'cells'}
          onClick={() =>
            go(({ rows: now, ...others }) => (now ? others : { ...others, rows: 'cells' }), 'replace')
          }
        >
          Rows by cell
        </button>
      ) : null}
      <label class="field size line hint">
        <span>Size</span>
        <input
          type="range"
          min={110}
          max={420}
          step={10}
          value={size}
          onInput={(event) => onSize(Number(event.currentTarget.value))}
        />
      </label>
    </div>
  );
}

/** Milliseconds after the last key press before a search begins. */
const quiet = 20;

function SearchBox(): JSX.Element {
  const { address, go } = useApp();
  const { query } = useStore(address);
  const box = useRef<HTMLInputElement>(null);
  const [typed, type] = useState(query.search ?? '');
  const sent = useRef(query.search ?? '');
  useEffect(() => {
    // The search may change elsewhere: by the address, or with all filters.
    if ((query.search ?? '') === sent.current) return;
    sent.current = query.search ?? '';
    type(sent.current);
  }, [query.search]);
  useEffect(() => {
    if (typed === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = typed;
      go((now) => ({ ...now, query: queryOf({ ...now.query, search: typed }) }), 'replace');
    }, quiet);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    const toSearch = (event: KeyboardEvent): void => {
      if (event.key !== '/' || isForOthers(event) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      box.current?.focus();
      box.current?.select();
    };
    addEventListener('keydown', toSearch);
    return () => removeEventListener('keydown', toSearch);
  }, []);
  return (
    <div class="search line" role="search">
      <Icon of="search" />
      <input
        ref={box}
        type="search"
        aria-label="Search"
        placeholder="Search prompts, texts and errors"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  );
}
