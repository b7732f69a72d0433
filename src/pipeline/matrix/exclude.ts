import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { listing, nearest, suggestion } from '../diagnostics/did-you-mean.ts';
import type { Axis } from '../pipeline.ts';
import { leavesOf, memberAt, type PartialLeaf } from '../values/path.ts';
import { renderValue, type Value } from '../values/value.ts';
import { type SourceEntry, toValue } from '../yaml/node.ts';
import type { Variable } from './draft.ts';

/**
 * Reports excludes that cannot match any cell. Axes are independent, so an exclude matches some cell exactly if each of its values agrees
 * with a value of its axis; no cell is enumerated. Values in columns of a table are not known here.
 */
export function checkExclude(
  entries: readonly SourceEntry[],
  variables: ReadonlyMap<string, Variable>,
  complete: boolean,
  collector: DiagnosticCollector,
): void {
  const matchers = new Map<Axis, Matcher>();
  const names = [...variables.values()].filter(({ axis }) => axis !== undefined).map(({ name }) => name);
  for (const { key, keySpan, value } of entries) {
    const axis = variables.get(key)?.axis;
    if (axis === undefined) {
      if (!complete) continue;
      const hint = variables.has(key)
        ? 'Only an include has it, and includes come after excludes.'
        : () => suggestion(key, names, 'variables of the matrix');
      const message = `The matrix has no variable "${key}" to exclude by.`;
      collector.error('matrix.unknown-variable', keySpan, message, hint);
    } else {
      const matcher = matchers.get(axis) ?? matcherOf(axis);
      matchers.set(axis, matcher);
      if (matcher(toValue(value))) continue;
      const message = `"${key}" has no such value, so nothing is excluded.`;
      const hint = (): string => hintForValue(toValue(value), axis);
      collector.error('matrix.exclude-nothing', value.span, message, hint);
    }
  }
}

/** Suggests the axis value that a mistyped one most likely means, and lists the values. */
function hintForValue(partial: Value, axis: Axis): string {
  if (axis.kind === 'range') return `The range is ${axis.from} to ${axis.to}, in steps of ${axis.step}.`;
  const [leaf] = leavesOf(partial);
  if (axis.kind === 'rows' || leaf === undefined) return rule;
  const texts = [...new Set(axis.values.map((value) => textAt(value, leaf.path)))];
  const near = nearest(leaf.text, texts);
  const there = `${leaf.path.length === 0 ? 'The values are' : `The values of "${leaf.path.join('.')}" are`} ${listing(texts)}.`;
  if (leavesOf(partial).length > 1) return rule;
  // A text in place of a mapping probably means the member with this text.
  const owner = axis.values
    .flatMap((value) => leavesOf(value))
    .find(({ path, text }) => path.length > 0 && text === leaf.text);
  if (leaf.path.length === 0 && owner !== undefined)
    return `An object matches by its members: { ${owner.path.join('.')}: ${leaf.text} }.`;
  if (axis.values.some((value) => typeof value === 'object') && leaf.path.length === 0) return rule;
  return near === undefined ? there : `Did you mean "${near}"? ${there}`;
}

const rule = 'An object matches by the members it names; values compare as they render.';

/** Whether a partial value agrees with some value of the axis. */
type Matcher = (partial: Value) => boolean;

function matcherOf(axis: Axis): Matcher {
  switch (axis.kind) {
    case 'rows':
      return () => true;
    case 'range':
      return (partial) => inRange(renderValue(partial), axis);
    case 'values':
      // An axis without values is reported by another check.
      return axis.values.length === 0 ? () => true : listMatcher(axis.values);
  }
}

/** Indexes values by one leaf, so that many excludes of a long axis do not take the product of both. */
function listMatcher(values: readonly Value[]): Matcher {
  const byPath = new Map<string, ReadonlyMap<string, readonly Value[]>>();
  const agreeing = ({ path, text }: PartialLeaf): readonly Value[] => {
    const name = JSON.stringify(path);
    const index = byPath.get(name) ?? indexOf(values, path);
    byPath.set(name, index);
    return index.get(text) ?? [];
  };
  return (partial) => {
    const leaves = leavesOf(partial);
    const fewest = leaves
      .map(agreeing)
      .reduce((best, next) => (next.length < best.length ? next : best), values);
    return fewest.some((value) => leaves.every(({ path, text }) => textAt(value, path) === text));
  };
}

function indexOf(values: readonly Value[], path: readonly string[]): ReadonlyMap<string, readonly Value[]> {
  const index = new Map<string, Value[]>();
  for (const value of values) {
    const text = textAt(value, path);
    const same = index.get(text);
    if (same === undefined) index.set(text, [value]);
    else same.push(value);
  }
  return index;
}

/** Renders the member of a value at a path; a missing one is null, as in the expanded matrix. */
const textAt = (value: Value, path: readonly string[]): string => renderValue(memberAt(value, path) ?? null);

/** Whether a text is a number of a range, as that number renders. */
export function inRange(
  text: string,
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
): boolean {
  const number = Number(text);
  if (text === '' || String(number) !== text) return false;
  const index = Math.round((number - from) / step);
  // The tolerance is for steps such as 0.1, of which three are not quite 0.3.
  const tolerance = step * 1e-6;
  return Math.abs(from + index * step - number) <= tolerance && index >= 0 && number <= to + tolerance;
}
