import { aMapping, aNumber, aText, either, listOf, type Shape } from '../../pipeline/values/shape.ts';
import { isMapping, isObject, type Value, WrittenNumber } from '../../pipeline/values/value.ts';
import type { Cell } from '../../plan/cell.ts';
import { documentOf } from '../postgres/engine-error.ts';

/** A JSON value in which numbers keep their original spelling. */
type Packed = string | number | boolean | null | readonly Packed[] | { readonly [name: string]: Packed };

/** Key of an object for a number that JSON would write differently: `{"$": "6.0"}`. */
const written = '$';

function packed(value: Value): Packed {
  if (value instanceof WrittenNumber) return { [written]: value.source };
  if (Array.isArray(value)) return value.map((item: Value) => packed(item));
  if (!isMapping(value)) return value as Packed;
  // As entries, because a user's mapping may have any keys.
  return { of: Object.entries(value).map(([name, item]) => [name, packed(item)]) };
}

function unpacked(value: Packed): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Packed[]).map(unpacked);
  const { [written]: source, of } = value as { readonly [name: string]: Packed };
  if (typeof source === 'string') return new WrittenNumber(source, Number(source));
  return Object.fromEntries(
    (of as readonly (readonly [string, Packed])[]).map(([name, item]) => [name, unpacked(item)]),
  );
}

/** The cells of a slice with their values, so that workers do not need the tables. */
interface PackedSlice {
  readonly names: readonly string[];
  /** Number, repeat, and the values by `names`; `null` where the cell has other names, whose values follow as entries. */
  readonly cells: readonly (readonly [number, number, readonly Packed[] | null, Packed?])[];
  /** Numbers of the cells whose groups are worked on in another slice. */
  readonly elsewhere?: readonly number[];
}

/** Serializes the cells of a slice. */
export function packCells(cells: readonly Cell[]): string {
  const names = Object.keys(cells[0]?.vars ?? {});
  const elsewhere = cells.flatMap(({ number, groupsElsewhere }) => (groupsElsewhere ? [number] : []));
  const slice: PackedSlice = {
    names,
    cells: cells.map(({ number, repeat, vars }) => {
      const own = Object.keys(vars);
      const isAlike = own.length === names.length && own.every((name, at) => name === names[at]);
      return isAlike
        ? [number, repeat, names.map((name) => packed(vars[name] as Value))]
        : [number, repeat, null, packed(vars)];
    }),
    ...(elsewhere.length > 0 && { elsewhere }),
  };
  return JSON.stringify(slice);
}

const isSlice = aMapping(
  {
    names: listOf(aText),
    cells: listOf(
      (cell) =>
        Array.isArray(cell) &&
        aNumber(cell[0]) &&
        aNumber(cell[1]) &&
        (cell[2] === null ? isPacked(cell[3]) && isObject(cell[3]) : listOf(isPacked)(cell[2])),
    ),
  },
  { elsewhere: listOf(aNumber) },
) as (value: unknown) => value is PackedSlice;

const isPacked: Shape = either(
  (value) => typeof value !== 'object' || value === null,
  aMapping({ [written]: aText }),
  aMapping({
    of: (entries) =>
      listOf((entry) => Array.isArray(entry) && aText(entry[0]) && isPacked(entry[1]))(entries),
  }),
  (value) => listOf(isPacked)(value),
);

/**
 * Parses the cells of a serialized slice; an empty text has none.
 *
 * @throws EngineError `engine.damaged` where the text is invalid; `shown` is the engine's address
 */
export function unpackCells(text: string, shown: string): readonly Cell[] {
  if (text === '') return [];
  const { names, cells, elsewhere = [] } = documentOf(text, isSlice, shown, 'a slice');
  const marked = new Set(elsewhere);
  return cells.map(([number, repeat, values, vars]) => ({
    number,
    repeat,
    vars:
      values === null
        ? (unpacked(vars as Packed) as Cell['vars'])
        : Object.fromEntries(names.map((name, at) => [name, unpacked(values[at] as Packed)])),
    ...(marked.has(number) && { groupsElsewhere: true }),
  }));
}
