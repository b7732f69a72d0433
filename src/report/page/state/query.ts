import type { PageQuery } from '../../results/wire.ts';

/** One value that results are filtered by. */
export type Filter =
  | { readonly by: 'step' | 'status' | 'error' | 'search'; readonly value: string }
  | { readonly by: 'variable'; readonly name: string; readonly value: string };

/** All values that a query filters by, in the order of the side panel. */
export function filtersOf(query: PageQuery): readonly Filter[] {
  return [
    ...(query.search ? [{ by: 'search', value: query.search } as const] : []),
    ...(query.steps ?? []).map((value) => ({ by: 'step', value }) as const),
    ...(query.statuses ?? []).map((value) => ({ by: 'status', value }) as const),
    ...(query.errorCode === undefined ? [] : [{ by: 'error', value: query.errorCode } as const]),
    ...Object.entries(query.vars ?? {}).flatMap(([name, values]) =>
      values.map((value) => ({ by: 'variable', name, value }) as const),
    ),
  ];
}

/** A query that filters by one value more, or by one less. */
export function toggled(query: PageQuery, filter: Filter): PageQuery {
  const { search, steps, statuses, errorCode, vars = {}, sort } = query;
  const lists = { search, steps, statuses, errorCode, vars };
  switch (filter.by) {
    case 'search':
      return made({ ...lists, search: search === filter.value ? undefined : filter.value }, sort);
    case 'step':
      return made({ ...lists, steps: flipped(steps, filter.value) }, sort);
    case 'status':
      return made({ ...lists, statuses: flipped(statuses, filter.value) as PageQuery['statuses'] }, sort);
    case 'error':
      return made({ ...lists, errorCode: errorCode === filter.value ? undefined : filter.value }, sort);
    case 'variable': {
      const values = flipped(vars[filter.name], filter.value);
      return made({ ...lists, vars: { ...vars, [filter.name]: values ?? [] } }, sort);
    }
  }
}

/** A query that searches for these words. */
export const searching = (query: PageQuery, search: string): PageQuery =>
  made({ ...query, search: search === '' ? undefined : search }, query.sort);

/** A query in another order. */
export const sorted = (query: PageQuery, sort: PageQuery['sort']): PageQuery => made(query, sort);

/** The same order without any filter. */
export const unfiltered = (query: PageQuery): PageQuery => made({}, query.sort);

function flipped(values: readonly string[] = [], value: string): readonly string[] | undefined {
  const others = values.filter((each) => each !== value);
  if (others.length === values.length) return [...values, value];
  return others.length > 0 ? others : undefined;
}

type Parts = { readonly [Name in Exclude<keyof PageQuery, 'sort'>]?: PageQuery[Name] | undefined };

/** Only what filters is named, so that equal queries have equal addresses. */
function made(parts: Parts, sort: PageQuery['sort']): PageQuery {
  const { search, steps, statuses, errorCode, vars = {} } = parts;
  const used = Object.entries(vars).filter(([, values]) => values.length > 0);
  return {
    ...(search ? { search } : {}),
    ...(steps ? { steps } : {}),
    ...(statuses ? { statuses } : {}),
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(used.length > 0 ? { vars: Object.fromEntries(used) } : {}),
    ...(sort && sort !== 'plan' ? { sort } : {}),
  };
}
