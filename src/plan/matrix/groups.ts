import type { FilePort } from '../../pipeline/files.ts';
import type { Reduction } from '../../pipeline/pipeline.ts';
import { nextTurn, Turns } from '../../pipeline/turns.ts';
import { renderValue, type Value } from '../../pipeline/values/value.ts';
import type { Cell } from '../cell.ts';
import { type PreparedAxis, valuesAt } from './axis.ts';
import { rangeIndex } from './selection.ts';
import type { MatrixSpace } from './space.ts';
import { rowsOf } from './table.ts';
import { chosenLeaves, decode } from './walk.ts';

/**
 * Most combinations that are grouped by an index: 16 bytes each, and some 50 for a group. A plain product of whole axes, without
 * excludes, added includes and a sample, needs no index and may have any size.
 */
export const maxIndexed = 4_194_304;

/** Thrown for more than {@link maxIndexed} combinations. */
export class TooManyToGroup extends Error {}

/** The places of combinations (before `repeat`, from 0) by group. */
interface Places {
  /** Number of groups. */
  readonly count: number;
  /** Number of combinations of the largest group. */
  readonly largest: number;
  /** Returns a number of the place's group, from 0 to `count`, each used. */
  group(place: number): number;
  /** Returns the last place of the place's group. */
  last(place: number): number;
  /** Returns the places of a group, ascending. @param last its last place */
  all(last: number): readonly number[];
  /** Returns the place's index in the plain product; see `drawSample` for one that an include added. */
  ordinal(place: number): number;
}

/**
 * The groups of a matrix's cells: cells agree within a group in all axes but those that are reduced. An added include belongs to the
 * group of the values that it gives. Groups are found by arithmetic, or by an index of bounded size ({@link maxIndexed}).
 */
export class CellGroups {
  /** Number of groups. */
  readonly count: number;
  /** Number of cells of the largest group. */
  readonly largest: number;
  /** Names of the axes that are reduced. */
  readonly axes: ReadonlySet<string>;
  readonly #space: MatrixSpace;
  readonly #places: Places;
  readonly #repeat: number;
  readonly #isRepeatReduced: boolean;

  private constructor(space: MatrixSpace, places: Places, repeat: number, axes: ReadonlySet<string>) {
    this.axes = axes;
    this.#space = space;
    this.#places = places;
    this.#repeat = repeat;
    this.#isRepeatReduced = axes.has('repeat');
    this.count = places.count * (this.#isRepeatReduced ? 1 : repeat);
    this.largest = places.largest * (this.#isRepeatReduced ? repeat : 1);
  }

  /**
   * @param drawn the sample; undefined: all combinations
   * @throws TooManyToGroup
   * @throws TableError
   * @throws the signal's reason when it is aborted
   */
  static async of(
    space: MatrixSpace,
    drawn: Float64Array | undefined,
    repeat: number,
    axes: readonly string[],
    files: FilePort,
    signal?: AbortSignal,
  ): Promise<CellGroups> {
    const reduced = new Set(axes);
    const isWhole = space.axes.every(({ variables }) => !isInPart(variables, reduced));
    const isPlain = drawn === undefined && space.kept === space.product && space.added.length === 0;
    const places =
      isPlain && isWhole
        ? new ProductPlaces(space, reduced)
        : await indexedPlaces(space, drawn, reduced, files, signal);
    return new CellGroups(space, places, repeat, reduced);
  }

  /** Whether a cell is the last of its group. */
  isLast(cell: number): boolean {
    return this.last(cell) === cell;
  }

  /** Returns the number of the last cell of a cell's group. */
  last(cell: number): number {
    const { place, repeat } = this.#placeOf(cell);
    return this.#places.last(place) * this.#repeat + (this.#isRepeatReduced ? this.#repeat : repeat);
  }

  /** Returns the number of a cell's group, from 1 to {@link count}. */
  groupOf(cell: number): number {
    const { place, repeat } = this.#placeOf(cell);
    const group = this.#places.group(place);
    return (this.#isRepeatReduced ? group : group * this.#repeat + repeat - 1) + 1;
  }

  /** Returns the numbers of the cells of a group, ascending. @param last number of its last cell */
  numbers(last: number): readonly number[] {
    const { place, repeat } = this.#placeOf(last);
    return this.#places
      .all(place)
      .flatMap((at) =>
        this.#isRepeatReduced
          ? Array.from({ length: this.#repeat }, (_, index) => at * this.#repeat + index + 1)
          : [at * this.#repeat + repeat],
      );
  }

  /** Returns a cell of the group of another one. @param of has the values that are equal within the group */
  cell(number: number, of: Cell): Cell {
    const { place, repeat } = this.#placeOf(number);
    const ordinal = this.#places.ordinal(place);
    const { product, added } = this.#space;
    if (ordinal >= product)
      return { number, repeat, vars: added[ordinal - product] as Readonly<Record<string, Value>> };
    const indices = decode(this.#space, ordinal);
    const vars: Record<string, Value> = {};
    // Rows of a large table are not at hand, but no column of it is reduced: they are equal.
    for (const [at, axis] of this.#space.axes.entries())
      for (const [name, value] of valuesAt(axis, indices[at] as number) ??
        axis.variables.map((name) => [name, of.vars[name]] as const))
        vars[name] = value as Value;
    return { number, repeat, vars: { ...vars, ...this.#space.extrasOf(indices) } };
  }

  #placeOf(cell: number): { readonly place: number; readonly repeat: number } {
    const repeat = ((cell - 1) % this.#repeat) + 1;
    return { place: (cell - repeat) / this.#repeat, repeat };
  }
}

/** Whether some but not all columns of a table are reduced. */
const isInPart = (variables: readonly string[], reduced: ReadonlySet<string>): boolean => {
  const count = variables.filter((name) => reduced.has(name)).length;
  return count > 0 && count < variables.length;
};

/** The names by which equal reductions are recognised. */
export const reductionId = ({ axes }: Pick<Reduction, 'axes'>): string => JSON.stringify(axes);

/** The groups of a plain product of axes, by arithmetic. */
class ProductPlaces implements Places {
  readonly count: number;
  readonly largest: number;
  /** Of each axis, slowest first. */
  readonly #axes: readonly { readonly stride: number; readonly size: number; readonly isReduced: boolean }[];

  constructor({ axes, strides, product }: MatrixSpace, reduced: ReadonlySet<string>) {
    this.#axes = axes.map(({ size, variables: [name = ''] }, axis) => ({
      stride: strides[axis] as number,
      size,
      isReduced: reduced.has(name),
    }));
    this.largest = this.#axes.reduce((most, { size, isReduced }) => most * (isReduced ? size : 1), 1);
    this.count = product / this.largest;
  }

  group(place: number): number {
    let group = 0;
    for (const { stride, size, isReduced } of this.#axes)
      if (!isReduced) group = group * size + (Math.floor(place / stride) % size);
    return group;
  }

  last(place: number): number {
    let last = place;
    for (const { stride, size, isReduced } of this.#axes)
      if (isReduced) last += (size - 1 - (Math.floor(place / stride) % size)) * stride;
    return last;
  }

  all(last: number): readonly number[] {
    let places = [last];
    for (const { stride, size, isReduced } of this.#axes)
      if (isReduced)
        places = places.flatMap((place) =>
          Array.from({ length: size }, (_, index) => place - (size - 1 - index) * stride),
        );
    return places;
  }

  ordinal(place: number): number {
    return place;
  }
}

/** The groups of any matrix, by an index of its combinations. */
class IndexedPlaces implements Places {
  largest = 0;
  readonly #ids: Uint32Array;
  /** 1 more than the previous place of the same group; 0 for its first. */
  readonly #previous: Uint32Array;
  readonly #ordinals: Float64Array;
  readonly #numbers = new Map<number | string, number>();
  readonly #lasts: number[] = [];
  readonly #sizes: number[] = [];
  #length = 0;

  constructor(length: number) {
    this.#ids = new Uint32Array(length);
    this.#previous = new Uint32Array(length);
    this.#ordinals = new Float64Array(length);
  }

  /** Adds the next place. @param group equal for the places of a group */
  add(group: number | string, ordinal: number): void {
    const place = this.#length++;
    let id = this.#numbers.get(group);
    if (id === undefined) {
      id = this.#lasts.length;
      this.#numbers.set(group, id);
      this.#sizes.push(0);
    } else this.#previous[place] = (this.#lasts[id] as number) + 1;
    this.#lasts[id] = place;
    this.#sizes[id] = (this.#sizes[id] as number) + 1;
    this.largest = Math.max(this.largest, this.#sizes[id] as number);
    this.#ids[place] = id;
    this.#ordinals[place] = ordinal;
  }

  /** Frees what only adding needs. */
  end(): this {
    this.#numbers.clear();
    return this;
  }

  get count(): number {
    return this.#lasts.length;
  }

  group(place: number): number {
    return this.#ids[place] as number;
  }

  last(place: number): number {
    return this.#lasts[this.#ids[place] as number] as number;
  }

  all(last: number): readonly number[] {
    const places: number[] = [];
    for (let next = last + 1; next > 0; next = this.#previous[next - 1] as number) places.push(next - 1);
    return places.toReversed();
  }

  ordinal(place: number): number {
    return this.#ordinals[place] as number;
  }
}

async function indexedPlaces(
  space: MatrixSpace,
  drawn: Float64Array | undefined,
  reduced: ReadonlySet<string>,
  files: FilePort,
  signal: AbortSignal | undefined,
): Promise<Places> {
  const length = drawn?.length ?? space.kept + space.added.length;
  if (length > maxIndexed) throw new TooManyToGroup();
  const keys: AxisKeys[] = [];
  for (const axis of space.axes)
    keys.push(await axisKeys(axis, reduced, space.added.length > 0, files, signal));
  const places = new IndexedPlaces(length);
  const everything = { filters: [], wanted: [], shard: undefined, repeat: 1 };
  const added = new Map(space.added.map((values, index) => [values, index]));
  const turns = new Turns();
  for (const leaf of chosenLeaves(space, drawn, everything)) {
    if (turns.isOver) await turns.next(signal);
    if (leaf === undefined) await nextTurn(signal);
    else if ('added' in leaf) {
      const group = addedGroup(space, keys, leaf.added, reduced);
      places.add(group, space.product + (added.get(leaf.added) as number));
    } else {
      let group = 0;
      let ordinal = 0;
      for (const [axis, { size, keyAt }] of keys.entries()) {
        const index = leaf.indices[axis] as number;
        if (keyAt !== undefined) group = group * size + keyAt(index);
        ordinal += index * (space.strides[axis] as number);
      }
      places.add(group, ordinal);
    }
  }
  return places.end();
}

/** How the values of an axis tell groups apart. */
interface AxisKeys {
  /** Number of different keys. */
  readonly size: number;
  /** Returns the key of the value at an index; absent for a reduced axis. */
  readonly keyAt?: (index: number) => number;
  /** Returns the key of values that an include gives; undefined where the axis has no such value. */
  readonly keyOf: (values: Readonly<Record<string, Value>>) => number | undefined;
}

const same = (index: number): number => index;
const none = (): undefined => undefined;

/** @param isLookedUp whether values of includes are compared with those of the axis */
async function axisKeys(
  { source, size, variables }: PreparedAxis,
  reduced: ReadonlySet<string>,
  isLookedUp: boolean,
  files: FilePort,
  signal: AbortSignal | undefined,
): Promise<AxisKeys> {
  const left = variables.filter((name) => !reduced.has(name));
  if (left.length === 0) return { size: 1, keyOf: () => 0 };
  if (source.kind === 'range') {
    const { name, range } = source;
    const keyOf = (values: Readonly<Record<string, Value>>): number | undefined => {
      const index = rangeIndex(range, renderValue(values[name] ?? null));
      return index < 0 ? undefined : index;
    };
    return { size, keyAt: same, keyOf };
  }
  const textOf = (values: Readonly<Record<string, Value>>): string =>
    JSON.stringify(left.map((name) => renderValue(values[name] ?? null)));
  if (source.kind === 'values') {
    if (!isLookedUp) return { size, keyAt: same, keyOf: none };
    const texts = new Map(
      source.values.map((value, index) => [textOf({ [source.name]: value }), index] as const).toReversed(),
    );
    return { size, keyAt: same, keyOf: (values) => texts.get(textOf(values)) };
  }
  if (!isLookedUp && left.length === variables.length) return { size, keyAt: same, keyOf: none };
  // Whole rows are told apart by their places, as values of other axes are.
  const isWhole = left.length === variables.length;
  const classes = new Uint32Array(size);
  const texts = new Map<string, number>();
  let row = 0;
  for await (const rows of rowsOf(source.table, files)) {
    signal?.throwIfAborted();
    for (const values of rows) {
      const text = textOf(values);
      const known = texts.get(text) ?? (isWhole ? row : texts.size);
      texts.set(text, known);
      classes[row++] = known;
    }
  }
  return {
    size: isWhole ? size : texts.size,
    keyAt: isWhole ? same : (index) => classes[index] as number,
    keyOf: (values) => texts.get(textOf(values)),
  };
}

/** The group of a cell that an include added: that of the axes' values if they have its values, else one of its own values. */
function addedGroup(
  { axes, added: all }: MatrixSpace,
  keys: readonly AxisKeys[],
  added: Readonly<Record<string, Value>>,
  reduced: ReadonlySet<string>,
): number | string {
  let group = 0;
  let isKnown = axes.length > 0;
  for (const { size, keyAt, keyOf } of keys) {
    if (keyAt === undefined) continue;
    const key = keyOf(added);
    isKnown &&= key !== undefined;
    group = group * size + (key ?? 0);
  }
  if (isKnown) return group;
  const axisNames = axes.flatMap(({ variables }) => variables);
  const names = axes.length > 0 ? axisNames : all.flatMap((values) => Object.keys(values));
  const left = [...new Set(names)].filter((name) => !reduced.has(name)).toSorted();
  return JSON.stringify(left.map((name) => renderValue(added[name] ?? null)));
}
