import { memberAt } from '../pipeline/values/path.ts';
import { renderValue, type Value } from '../pipeline/values/value.ts';
import type { Selection } from './cell.ts';

/** All that a selection wants of one place of a variable: any of these texts. */
export interface Filter {
  readonly variable: string;
  readonly path: readonly string[];
  readonly texts: ReadonlySet<string>;
}

/**
 * The variable and member that a filter's axis names: the variable of that very name, else the longest variable
 * before a dot (`medium.name`). Undefined where there is none.
 */
function resolveFilter(
  variables: readonly string[],
  axis: string,
): { readonly variable: string; readonly path: readonly string[] } | undefined {
  if (variables.includes(axis)) return { variable: axis, path: [] };
  let longest: string | undefined;
  for (const variable of variables) {
    if (axis.startsWith(`${variable}.`) && variable.length > (longest?.length ?? 0)) longest = variable;
  }
  if (longest === undefined) return undefined;
  return { variable: longest, path: axis.slice(longest.length + 1).split('.') };
}

/** Axes that filters of a selection name and the matrix does not have, each once. */
export function unknownFilters(
  matrix: { readonly variables: readonly string[] },
  selection: Selection,
): readonly string[] {
  const axes = new Set((selection.filters ?? []).map(({ axis }) => axis));
  return [...axes].filter((axis) => resolveFilter(matrix.variables, axis) === undefined);
}

/**
 * The filters of a selection: one for each axis named, with all its values. A filter of an unknown axis wants what no
 * cell has.
 */
export function filtersOf(variables: readonly string[], selection: Selection): readonly Filter[] {
  const texts = new Map<string, Set<string>>();
  for (const { axis, value } of selection.filters ?? []) {
    texts.set(axis, (texts.get(axis) ?? new Set()).add(value));
  }
  return [...texts].map(([axis, wanted]) => ({
    ...(resolveFilter(variables, axis) ?? { variable: axis, path: [] }),
    texts: wanted,
  }));
}

/** Whether a variable's value is one of those that a filter wants. */
export function filterTakes({ path, texts }: Filter, value: Value | undefined): boolean {
  const member = value === undefined ? undefined : memberAt(value, path);
  return member !== undefined && texts.has(renderValue(member));
}

/** Whether a shard takes the cell of this number. */
export function shardTakes(shard: Selection['shard'], number: number): boolean {
  return shard === undefined || (number - 1) % shard.of === shard.index - 1;
}

/** How many of the numbers 1 to `count` a shard takes. */
export function shardCount(shard: Selection['shard'], count: number): number {
  if (shard === undefined) return count;
  return count < shard.index ? 0 : Math.floor((count - shard.index) / shard.of) + 1;
}
