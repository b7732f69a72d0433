import { memberAt } from '../../pipeline/values/path.ts';
import { isMapping, renderValue, type Value } from '../../pipeline/values/value.ts';
import type { Selection } from '../cell.ts';

/** The texts that a selection accepts for one variable, or one member of it. */
export interface Filter {
  readonly variable: string;
  readonly path: readonly string[];
  readonly texts: ReadonlySet<string>;
}

/**
 * Resolves a filter's axis to a variable and a member: the variable with exactly that name, else the longest variable before a dot
 * (`medium.name`). Undefined if there is none.
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

/** Returns the axes in a selection's filters that the matrix does not have, without duplicates. */
export function unknownFilters(
  matrix: { readonly variables: readonly string[] },
  selection: Selection,
): readonly string[] {
  const axes = new Set((selection.filters ?? []).map(({ axis }) => axis));
  return [...axes].filter((axis) => resolveFilter(matrix.variables, axis) === undefined);
}

/** Makes the filters of a selection: one per axis, with all its values. A filter of an unknown axis accepts no cell. */
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

/** Whether a filter accepts a variable's value. */
export function filterTakes({ path, texts }: Filter, value: Value | undefined): boolean {
  const member = value === undefined ? undefined : memberAt(value, path);
  return member !== undefined && texts.has(renderValue(member));
}

/** A requested value that its axis does not have, with the possible values. */
export interface UnmatchedFilter {
  /** Axis as in the flag: `medium`, `medium.name`. */
  readonly axis: string;
  readonly value: string;
  /** The first values of the axis or the member, as they render. */
  readonly values: readonly string[];
  /** Ranges of numbers in words: `1 to 20`, `0 to 100 in steps of 50`. */
  readonly ranges: readonly string[];
  /** Whether there are more values. */
  readonly more: boolean;
  /** Names of members of the values, if the filter names a whole mapping or a missing member. */
  readonly members: readonly string[];
}

/** Most values that a message about a filter lists. */
const maxListed = 20;

/** Finds which texts of one filter match some value. Values are added one at a time until all texts have matched. */
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

  /** Whether every text has matched, so that no further value is needed. */
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

  /** Adds all numbers of a range without enumerating them. */
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

/** Adds a text to a set of limited size. @returns false if the set is full */
function add(texts: Set<string>, text: string): boolean {
  if (texts.has(text)) return true;
  if (texts.size >= maxListed) return false;
  texts.add(text);
  return true;
}

/** Whether a shard contains the cell with this number. */
export function shardTakes(shard: Selection['shard'], number: number): boolean {
  return shard === undefined || (number - 1) % shard.of === shard.index - 1;
}

/** Returns how many of the numbers 1 to `count` a shard contains. */
export function shardCount(shard: Selection['shard'], count: number): number {
  return shard === undefined ? count : Math.floor((count - shard.index) / shard.of) + 1;
}

/** The numbers of a range axis, computed without a list. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** Returns how many numbers a range has, including its end if a step reaches it. */
export function rangeSize(range: NumberRange): number {
  const { from, to, step } = range;
  const steps = (to - from) / step;
  if (!Number.isFinite(steps) || steps < 0) return 0;
  // Ten steps of 0.1 are not exactly one: whether a step reaches the end is decided on the decimals.
  const nearest = Math.round(steps);
  return (rangeValue(range, nearest) === to ? nearest : Math.floor(steps)) + 1;
}

/** Returns the number at an index, with no more decimals than `from` and `step` have. */
export function rangeValue({ from, step }: NumberRange, index: number): number {
  const value = from + index * step;
  if (Number.isInteger(from) && Number.isInteger(step)) return value;
  return Number(value.toFixed(Math.min(100, Math.max(decimals(from), decimals(step)))));
}

/** Returns the index of the number of a range that renders as a text, or -1. */
export function rangeIndex(range: NumberRange, text: string): number {
  const index = Math.round((Number(text) - range.from) / range.step);
  return index >= 0 && index < rangeSize(range) && String(rangeValue(range, index)) === text ? index : -1;
}

function decimals(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  return Math.max(0, (mantissa.split('.')[1] ?? '').length - Number(exponent));
}
