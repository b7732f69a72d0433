import type { MatrixSpec, PartialCell } from '../pipeline.ts';
import { leavesOf, memberAt } from '../values/path.ts';
import { renderValue, type Value } from '../values/value.ts';

type Vars = Readonly<Record<string, Value>>;

/** Most combinations that are examined while a file is checked. */
const maxCells = 1000;

/**
 * Yields the combinations of these variables that certainly occur in some cell, as far as the file alone shows: of axes with listed
 * values, without excluded ones, and of includes that give all these variables. Yields nothing for a sampled matrix.
 */
export function* literalCells(spec: MatrixSpec, names: Iterable<string>): Generator<Vars> {
  if (spec.sample !== undefined) return;
  const wanted = [...new Set(names)];
  const excludes = spec.exclude.filter(({ values }) =>
    Object.keys(values).every((name) => wanted.includes(name)),
  );
  let left = maxCells;
  for (const vars of product(spec.axes, wanted)) {
    if (left-- === 0) return;
    if (!excludes.some((exclude) => agrees(vars, exclude))) yield vars;
  }
  for (const { values } of spec.include)
    if (wanted.every((name) => Object.hasOwn(values, name))) yield values;
}

function* product(axes: MatrixSpec['axes'], wanted: readonly string[]): Generator<Vars> {
  const [name, ...others] = wanted;
  if (name === undefined) return yield {};
  const axis = axes.find((one) => one.kind !== 'rows' && one.name === name);
  if (axis?.kind !== 'values') return;
  for (const value of axis.values) for (const rest of product(axes, others)) yield { [name]: value, ...rest };
}

/** Whether a cell matches a partial one. An object matches by the members that it names; values compare as they render. */
const agrees = (vars: Vars, { values }: PartialCell): boolean =>
  leavesOf(values).every(({ path, text }) => renderValue(memberAt(vars, path) ?? null) === text);
