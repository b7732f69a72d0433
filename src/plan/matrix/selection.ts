import { memberAt } from '../../pipeline/values/path.ts';
import { isMapping, renderValue, type Value } from '../../pipeline/values/value.ts';
import type { Selection } from '../cell.ts';

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

/** A value that a selection asks for and no value of its axis has, with what could be asked for instead. */
export interface UnmatchedFilter {
  /** As the flag names it: `medium`, `medium.name`. */
  readonly axis: string;
  readonly value: string;
  /** The first values of the axis, or of that member of them, as they render. */
  readonly values: readonly string[];
  /** The numbers of a range in words: `1 to 20`, `0 to 100 in steps of 50`. */
  readonly ranges: readonly string[];
  /** True where there are more values than those. */
  readonly more: boolean;
  /** Names of the members that values have, where the filter names a whole mapping, or a member that is not there. */
  readonly members: readonly string[];
}

/** Values that a message about a filter lists at most. */
const mostListed = 20;

/** Finds which texts of one filter some value has. Values are noted one at a time until all texts were met. */
export class FilterWatch {
  readonly filter: Filter;
  readonly #missing: Set<string>;
  readonly #values = new Set<string>();
  readonly #ranges = new Set<string>();
  readonly #members = new Set<string>();
  #more = false;

  constructor(filter: Filter) {
    this.filter = filter;
    this.#missing = new Set(filter.texts);
  }

  /** True once every text was met: no further value need be noted. */
  get isMet(): boolean {
    return this.#missing.size === 0;
  }

  note(value: Value | undefined): void {
    if (value === undefined) return;
    const member = memberAt(value, this.filter.path);
    const named = member ?? value;
    if (isMapping(named)) for (const name of Object.keys(named)) add(this.#members, name);
    if (member === undefined) return;
    const text = renderValue(member);
    this.#missing.delete(text);
    this.#more = !add(this.#values, text) || this.#more;
  }

  /** Notes the numbers of a range without going through them. */
  noteRange(range: NumberRange): void {
    if (this.filter.path.length > 0) return;
    for (const text of this.filter.texts) if (rangeIndex(range, text) >= 0) this.#missing.delete(text);
    const { step } = range;
    this.#ranges.add(`${range.from} to ${range.to}${step === 1 ? '' : ` in steps of ${step}`}`);
  }

  unmatched(): readonly UnmatchedFilter[] {
    const axis = [this.filter.variable, ...this.filter.path].join('.');
    const known = {
      values: [...this.#values],
      ranges: [...this.#ranges],
      more: this.#more,
      members: [...this.#members],
    };
    return [...this.#missing].map((value) => ({ axis, value, ...known }));
  }
}

/** Adds a text to a set that stays small. @returns false where it was full */
function add(texts: Set<string>, text: string): boolean {
  if (texts.has(text)) return true;
  if (texts.size >= mostListed) return false;
  texts.add(text);
  return true;
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

/** The numbers of a range axis, by arithmetic: no list of them ever exists. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** How many numbers a range has, its end included where a step falls on it. */
export function rangeSize(range: NumberRange): number {
  const { from, to, step } = range;
  const steps = (to - from) / step;
  if (!Number.isFinite(steps) || steps < 0) return 0;
  // Ten steps of 0.1 are not quite one: whether one falls on the end is decided on the decimals.
  const nearest = Math.round(steps);
  return (rangeValue(range, nearest) === to ? nearest : Math.floor(steps)) + 1;
}

/** The number at an index, with no more decimals than `from` and `step` have. */
export function rangeValue({ from, step }: NumberRange, index: number): number {
  const value = from + index * step;
  if (Number.isInteger(from) && Number.isInteger(step)) return value;
  return Number(value.toFixed(Math.min(100, Math.max(decimals(from), decimals(step)))));
}

/** The index at which a range has the number that renders so; -1 for none. */
export function rangeIndex(range: NumberRange, text: string): number {
  if (text === '') return -1;
  const index = Math.round((Number(text) - range.from) / range.step);
  return index >= 0 && index < rangeSize(range) && String(rangeValue(range, index)) === text ? index : -1;
}

function decimals(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  return Math.max(0, (mantissa.split('.')[1] ?? '').length - Number(exponent));
}
