import type { PartialCell } from '../../pipeline/pipeline.ts';
import { memberAt } from '../../pipeline/values/path.ts';
import { renderValue, type Value } from '../../pipeline/values/value.ts';
import { type PairHashes, pairHash, RangeHashes, ValueHashes } from './hash.ts';
import { type NumberRange, rangeIndex, rangeSize, rangeValue } from './selection.ts';
import type { MatrixTable } from './table.ts';
import { AxisClasses, ClassList } from './value-class.ts';

/** An axis prepared for enumeration: its number of values, their classes, and access to each value. */
export interface PreparedAxis {
  readonly variables: readonly string[];
  readonly size: number;
  readonly classes: AxisClasses;
  classAt(index: number): number;
  /** Number of values in each class. */
  readonly weights: readonly number[];
  /** Hashes by which a sample ranks the values. */
  readonly hashes: () => PairHashes;
  readonly source: AxisSource;
}

/** The source of an axis's values. */
type AxisSource =
  | { readonly kind: 'values'; readonly name: string; readonly values: readonly Value[] }
  | { readonly kind: 'range'; readonly name: string; readonly range: NumberRange }
  | { readonly kind: 'rows'; readonly table: MatrixTable };

/** Returns the variables that an axis's value gives; undefined where a row must be read first. */
export function valuesAt(
  { source }: PreparedAxis,
  index: number,
): Iterable<readonly [string, Value]> | undefined {
  switch (source.kind) {
    case 'values':
      return [[source.name, source.values[index] as Value]];
    case 'range':
      return [[source.name, rangeValue(source.range, index)]];
    case 'rows': {
      const row = source.table.kept?.[index];
      return row && source.table.columns.map((name) => [name, row[name] as Value] as const);
    }
  }
}

/** Returns the text that a partial value is compared with at a path; a missing member counts as null. */
export const textAt = (value: Value, path: readonly string[]): string =>
  renderValue(memberAt(value, path) ?? null);

export function valuesAxis(
  name: string,
  values: readonly Value[],
  partials: readonly PartialCell['values'][],
): PreparedAxis {
  const classes = new AxisClasses([name], partials);
  const ids = new ClassList();
  for (const value of values) ids.push(classes.classOf((probe) => textAt(value, probe.path)));
  let hashes: PairHashes | undefined;
  return {
    variables: [name],
    size: values.length,
    classes,
    classAt: (index) => ids.get(index),
    weights: weigh(ids, classes.count),
    hashes: () => {
      hashes ??= new ValueHashes(values.map((value) => pairHash(name, renderValue(value))));
      return hashes;
    },
    source: { kind: 'values', name, values },
  };
}

export function rangeAxis(
  name: string,
  range: NumberRange,
  partials: readonly PartialCell['values'][],
): PreparedAxis {
  const classes = new AxisClasses([name], partials);
  const size = rangeSize(range);
  const usual = classes.classOf(({ path }) => (path.length === 0 ? undefined : ''));
  const special = new Map<number, number>();
  for (const probe of classes.probes) {
    if (probe.path.length > 0) continue;
    for (const text of probe.partials.keys()) {
      const index = rangeIndex(range, text);
      if (index >= 0)
        special.set(
          index,
          classes.classOf(({ path }) => (path.length === 0 ? text : '')),
        );
    }
  }
  const weights = Array.from({ length: classes.count }, () => 0);
  weights[usual] = size - special.size;
  for (const id of special.values()) weights[id] = (weights[id] as number) + 1;
  let hashes: PairHashes | undefined;
  return {
    variables: [name],
    size,
    classes,
    classAt: special.size === 0 ? () => usual : (index) => special.get(index) ?? usual,
    weights,
    hashes: () => {
      hashes ??= new RangeHashes(size, (index) => pairHash(name, String(rangeValue(range, index))));
      return hashes;
    },
    source: { kind: 'range', name, range },
  };
}

export function rowsAxis(
  table: MatrixTable,
  classes: AxisClasses,
  ids: ClassList,
  hashes: PairHashes | undefined,
): PreparedAxis {
  return {
    variables: table.columns,
    size: table.rows,
    classes,
    classAt: classes.probes.length === 0 ? () => 0 : (index) => ids.get(index),
    weights: classes.probes.length === 0 ? [table.rows] : weigh(ids, classes.count),
    hashes: () => {
      if (hashes === undefined)
        throw new Error('Internal error: rows are hashed only where there is a sample');
      return hashes;
    },
    source: { kind: 'rows', table },
  };
}

function weigh(ids: ClassList, classes: number): number[] {
  const weights = Array.from({ length: classes }, () => 0);
  for (let index = 0; index < ids.length; index++) {
    const id = ids.get(index);
    weights[id] = (weights[id] as number) + 1;
  }
  return weights;
}
