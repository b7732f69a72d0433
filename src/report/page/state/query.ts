import type { PageQuery } from '../../results/wire.ts';

/** One active filter: a value that results must have. */
export type Filter =
  | { readonly by: 'step' | 'status' | 'error' | 'search'; readonly value: string }
  | { readonly by: 'variable'; readonly name: string; readonly value: string };

/** Returns the active filters of a query, in the order of the side panel. */
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

/** Adds a filter to a query, or removes it if it is active. */
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

/** Sets the search words of a query. */
export const searching = (query: PageQuery, search: string): PageQuery =>
  made({ ...query, search: search === '' ? undefined : search }, query.sort);

/** Sets the order of a query. */
export const sorted = (query: PageQuery, sort: PageQuery['sort']): PageQuery => made(query, sort);

/** Removes all filters from a query and keeps its order. */
export const unfiltered = (query: PageQuery): PageQuery => made({}, query.sort);

function flipped(values: readonly string[] = [], value: string): readonly string[] | undefined {
  const others = values.filter((each) => each !== value);
  if (others.length === values.length) return [...values, value];
  return others.length > 0 ? others : undefined;
}

type Parts = { readonly [Name in Exclude<keyof PageQuery, 'sort'>]?: PageQuery[Name] | undefined };

/** Leaves out empty members, so that equal queries have equal addresses. */
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
