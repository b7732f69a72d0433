import { isMapping, renderValue, type Value } from '../../../src/pipeline/values/value.ts';
import type { Cell, Selection } from '../../../src/plan/cell.ts';
import { pairHash, rankOf } from '../../../src/plan/matrix/hash.ts';
import type { SpecParts } from './spec.ts';

type Vars = Readonly<Record<string, Value>>;

/** The axes with every value written out, each as the variables it sets. */
export type EagerAxes = readonly (readonly Vars[])[];

/** The same rules as the matrix, written the slow and obvious way: everything is a list. */
export function eagerCells(axes: EagerAxes, parts: SpecParts): Cell[] {
  const { exclude = [], include = [], sample, repeat = 1 } = parts;
  let product: Vars[] = axes.length === 0 && include.length > 0 ? [] : [{}];
  for (const axis of axes) product = product.flatMap((vars) => axis.map((value) => ({ ...vars, ...value })));
  const variables = new Set(axes.flatMap((axis) => axis.flatMap((value) => Object.keys(value))));
  const kept = product.filter((vars) => !exclude.some((partial) => agrees(partial, vars)));
  const extended = kept.map((vars) => ({ ranked: vars, vars: { ...vars } as Record<string, Value> }));
  const added: Vars[] = [];
  for (const partial of include) {
    const filter = Object.fromEntries(Object.entries(partial).filter(([name]) => variables.has(name)));
    const extra = Object.fromEntries(Object.entries(partial).filter(([name]) => !variables.has(name)));
    const matches = extended.filter(({ ranked }) => agrees(filter, ranked));
    for (const cell of matches) Object.assign(cell.vars, extra);
    if (matches.length === 0) added.push(partial);
  }
  let cells = [...extended, ...added.map((vars) => ({ ranked: vars, vars }))];
  if (sample !== undefined) cells = lowestRanks(cells, sample.count, sample.seed);
  return cells
    .flatMap(({ vars }) => Array.from({ length: repeat }, (_, index) => ({ vars, repeat: index + 1 })))
    .map((cell, index) => ({ number: index + 1, ...cell }));
}

export function eagerSelection(cells: readonly Cell[], selection: Selection): Cell[] {
  const axes = new Set(selection.filters?.map(({ axis }) => axis));
  const chosen = cells.filter(({ number, vars }) => {
    const { shard } = selection;
    if (shard !== undefined && (number - 1) % shard.of !== shard.index - 1) return false;
    return [...axes].every((axis) =>
      selection.filters?.some((filter) => {
        const value = axis
          .split('.')
          .reduce<Value | undefined>((at, name) => (isMapping(at) ? at[name] : undefined), vars);
        return filter.axis === axis && value !== undefined && renderValue(value) === filter.value;
      }),
    );
  });
  return chosen.slice(0, selection.limit);
}

function lowestRanks<T extends { ranked: Vars }>(cells: readonly T[], count: number, seed: number): T[] {
  const seedHash = pairHash('seed', String(seed));
  const ranks = cells.map(({ ranked }, index) => {
    const hashes = Object.entries(ranked).map(([name, value]) => pairHash(name, renderValue(value)));
    const sum = hashes.reduce((to, { a, b }) => ({ a: (to.a + a) | 0, b: (to.b + b) | 0 }), { a: 0, b: 0 });
    return { index, rank: rankOf(sum.a, sum.b, seedHash) };
  });
  const drawn = ranks.sort((x, y) => x.rank - y.rank || x.index - y.index).slice(0, count);
  return drawn.sort((x, y) => x.index - y.index).map(({ index }) => cells[index] as T);
}

function agrees(partial: Value, value: Value | undefined): boolean {
  if (Array.isArray(partial)) {
    return partial.every((item: Value, index) =>
      agrees(item, Array.isArray(value) ? value[index] : undefined),
    );
  }
  if (isMapping(partial)) {
    return Object.keys(partial).every((name) =>
      agrees(
        partial[name] as Value,
        isMapping(value) && Object.hasOwn(value, name) ? value[name] : undefined,
      ),
    );
  }
  return renderValue(partial) === renderValue(value ?? null);
}
