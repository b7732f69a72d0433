import type { PageQuery, PageSort, PageStatus } from '../../results/wire.ts';
import { queryOf } from './query.ts';

export const tabs = ['results', 'charts', 'failures'] as const;
export type Tab = (typeof tabs)[number];

export const sorts = ['plan', 'newest', 'cost', 'duration'] as const satisfies readonly PageSort[];

/** The user's mark on a result. */
export type Mark = 'keep' | 'reject';

/** What the page shows: the contents of its address, which can be shared. */
export interface Address {
  readonly tab: Tab;
  readonly query: PageQuery;
  /** Shows only results with this mark; `none`: only results without a mark. */
  readonly mark?: Mark;
  /** Starts a new row for each cell. */
  readonly rows?: 'cells';
  /** The open result. */
  readonly open?: number;
  /** Results in the comparison. */
  readonly compare?: readonly number[];
}

export const start: Address = { tab: 'results', query: {} };

/** Largest number of results in a comparison. */
export const maxCompared = 4;

/** Reads the part of an address behind `#`. Unknown parts are ignored. */
export function readAddress(hash: string): Address {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const one = (name: string): string | undefined => fields.get(name) || undefined;
  const names = [...new Set(fields.keys())].filter((name) => name.startsWith('var.'));
  const mark = (['keep', 'reject'] as const).find((each) => each === one('mark'));
  const open = place(one('open'));
  const compare = one('compare')
    ?.split(',')
    .map(place)
    .filter((at) => at !== undefined);
  return {
    tab: tabs.find((each) => each === one('tab')) ?? 'results',
    query: queryOf({
      search: one('search'),
      steps: fields.getAll('step'),
      statuses: fields.getAll('status') as PageStatus[],
      errorCode: one('error'),
      vars: Object.fromEntries(names.map((name) => [name.slice(4), fields.getAll(name)])),
      sort: sorts.find((sort) => sort === one('sort')),
    }),
    ...(mark ? { mark } : {}),
    ...(one('rows') === 'cells' ? { rows: 'cells' } : {}),
    ...(open === undefined ? {} : { open }),
    ...(compare && compare.length >= 2 ? { compare: [...new Set(compare)].slice(0, maxCompared) } : {}),
  };
}

/** Writes the part of an address behind `#`, without it. It is empty for the initial view. */
export function writeAddress({ tab, query, mark, rows, open, compare }: Address): string {
  const fields = new URLSearchParams();
  if (tab !== 'results') fields.set('tab', tab);
  if (query.search) fields.set('search', query.search);
  for (const step of query.steps ?? []) fields.append('step', step);
  for (const status of query.statuses ?? []) fields.append('status', status);
  if (query.errorCode !== undefined) fields.set('error', query.errorCode);
  for (const [name, values] of Object.entries(query.vars ?? {}))
    for (const value of values) fields.append(`var.${name}`, value);
  if (query.sort && query.sort !== 'plan') fields.set('sort', query.sort);
  if (mark) fields.set('mark', mark);
  if (rows) fields.set('rows', rows);
  if (open !== undefined) fields.set('open', String(open));
  if (compare) fields.set('compare', compare.join(','));
  return fields.toString();
}

function place(text: string | undefined): number | undefined {
  const at = Number(text || Number.NaN);
  return Number.isSafeInteger(at) && at >= 0 ? at : undefined;
}

/** Adds a result to a selection, or removes it. Beyond {@link maxCompared} the oldest ones are removed. */
export function select(selected: readonly number[], at: number): readonly number[] {
  return selected.includes(at)
    ? selected.filter((each) => each !== at)
    : [...selected, at].slice(-maxCompared);
}
