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
  const { search, steps, statuses, errorCode, vars = {} } = query;
  const { by, value } = filter;
  switch (by) {
    case 'search':
      return queryOf({ ...query, search: search === value ? undefined : value });
    case 'step':
      return queryOf({ ...query, steps: flipped(steps, value) });
    case 'status':
      return queryOf({ ...query, statuses: flipped(statuses, value) as PageQuery['statuses'] });
    case 'error':
      return queryOf({ ...query, errorCode: errorCode === value ? undefined : value });
    case 'variable':
      return queryOf({ ...query, vars: { ...vars, [filter.name]: flipped(vars[filter.name], value) } });
  }
}

function flipped(values: readonly string[] = [], value: string): readonly string[] {
  const others = values.filter((each) => each !== value);
  return others.length === values.length ? [...values, value] : others;
}

type Parts = { readonly [Name in keyof PageQuery]?: PageQuery[Name] | undefined };

/** Makes a query without empty members, so that equal queries have equal addresses. */
export function queryOf({ search, steps, statuses, errorCode, vars = {}, sort }: Parts): PageQuery {
  const used = Object.entries(vars).filter(([, values]) => values.length > 0);
  return {
    ...(search ? { search } : {}),
    ...(steps?.length ? { steps } : {}),
    ...(statuses?.length ? { statuses } : {}),
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(used.length > 0 ? { vars: Object.fromEntries(used) } : {}),
    ...(sort && sort !== 'plan' ? { sort } : {}),
  };
}
