import type { Variable } from './matrix.ts';
import { suggestion } from './near.ts';
import { type SourceEntry, toValue } from './node.ts';
import type { Axis } from './pipeline.ts';
import type { Reports } from './reports.ts';
import { isMapping, renderValue, type Value } from './value.ts';

/**
 * Excludes that can match nothing. Axes are independent, so an exclude matches some cell exactly when each of its
 * values agrees with some value of its axis: no cell is looked at. What a column of a table holds is not known here.
 */
export function checkExclude(
  entries: readonly SourceEntry[],
  variables: ReadonlyMap<string, Variable>,
  complete: boolean,
  reports: Reports,
): void {
  const names = [...variables.values()].filter(({ axis }) => axis !== undefined).map(({ name }) => name);
  for (const { key, keySpan, value } of entries) {
    const axis = variables.get(key)?.axis;
    if (axis === undefined) {
      if (!complete) continue;
      const hint = variables.has(key)
        ? 'Only an include has it, and includes come after excludes.'
        : () => suggestion(key, names, 'variables of the matrix');
      reports.error(
        'matrix.unknown-variable',
        keySpan,
        `The matrix has no variable "${key}" to exclude by.`,
        hint,
      );
    } else if (!canMatch(toValue(value), axis)) {
      const hint = 'An object matches by the members it names; values compare as they render.';
      reports.error(
        'matrix.exclude-nothing',
        value.span,
        `No value of "${key}" is this, so nothing is excluded.`,
        hint,
      );
    }
  }
}

function canMatch(partial: Value, axis: Axis): boolean {
  switch (axis.kind) {
    case 'rows':
      return true;
    case 'range':
      return inRange(renderValue(partial), axis);
    case 'values':
      // An axis without values is a mistake of its own.
      return axis.values.length === 0 || axis.values.some((value) => agrees(partial, value));
  }
}

function inRange(text: string, { from, to, step }: { from: number; to: number; step: number }): boolean {
  const number = Number(text);
  if (text === '' || String(number) !== text) return false;
  const index = Math.round((number - from) / step);
  // The tolerance is for steps such as 0.1, of which three are not quite 0.3.
  const tolerance = step * 1e-6;
  return Math.abs(from + index * step - number) <= tolerance && index >= 0 && number <= to + tolerance;
}

/** A partial value agrees with a value when each scalar it names is there and renders alike. */
function agrees(partial: Value, value: Value | undefined): boolean {
  if (value === undefined) return false;
  if (Array.isArray(partial)) {
    return (
      Array.isArray(value) && partial.every((item: Value, index) => agrees(item, (value as Value[])[index]))
    );
  }
  if (isMapping(partial)) {
    if (!isMapping(value)) return false;
    return Object.keys(partial).every((name) =>
      agrees(partial[name] as Value, Object.hasOwn(value, name) ? value[name] : undefined),
    );
  }
  return renderValue(partial) === renderValue(value);
}
