import type { PartialCell } from '../../pipeline/pipeline.ts';
import type { Value } from '../../pipeline/values/value.ts';
import type { PreparedAxis } from './axis.ts';

/** Variables that includes add to a cell. */
export type Extras = Readonly<Record<string, Value>>;

const noExtras: Extras = Object.freeze({});

/**
 * The product of the axes without excluded combinations, and with the includes. Counting and look-up are arithmetic on the classes of the
 * axes' values, without enumerating cells.
 */
export class MatrixSpace {
  readonly axes: readonly PreparedAxis[];
  /** Size of the plain product. */
  readonly product: number;
  /** For each axis, the number of combinations of the axes after it. */
  readonly strides: readonly number[];
  /** Cells that includes add at the end, in written order. */
  readonly added: readonly Readonly<Record<string, Value>>[];
  readonly #excluded: AliveSets;
  readonly #included: AliveSets;
  readonly #counts: number[][];
  readonly #extras = new Map<number, Extras>();
  readonly #extending: readonly PartialCell[];
  readonly #excludes: number;
  readonly #variables: ReadonlySet<string>;

  constructor(
    axes: readonly PreparedAxis[],
    exclude: readonly PartialCell[],
    include: readonly PartialCell[],
  ) {
    this.axes = axes;
    // A matrix without axes is one cell, unless its includes are its cells.
    this.product = axes.length === 0 && include.length > 0 ? 0 : sizeFrom(axes, 0);
    this.strides = axes.map((_, axis) => sizeFrom(axes, axis + 1));
    this.#excludes = exclude.length;
    this.#variables = new Set(axes.flatMap(({ variables }) => variables));
    const masks = axes.map(({ classes }) => classes.masks(exclude.length + include.length));
    this.#excluded = new AliveSets(ones(exclude.length), masks);
    this.#counts = [...axes.map(() => []), []];
    this.#extending = include;
    this.#included = new AliveSets(ones(include.length) << BigInt(exclude.length), masks);
    const reached = this.#reachedIncludes();
    this.added = include.filter((_, index) => !reached.has(index)).map(({ values }) => values);
  }

  /** State before the first axis, for {@link step} and {@link countFrom}. */
  get start(): number {
    return this.#excluded.start;
  }

  /** Returns the state after an axis takes the value at an index. */
  step(axis: number, state: number, index: number): number {
    return state === 0
      ? 0
      : this.#excluded.step(axis, state, (this.axes[axis] as PreparedAxis).classAt(index));
  }

  /** Counts the combinations of this axis and the later ones that are not excluded. */
  countFrom(axis: number, state: number): number {
    if (state === 0) return axis === 0 ? this.product : (this.strides[axis - 1] as number);
    if (axis === this.axes.length) return 0;
    const known = this.#counts[axis] as number[];
    const count = known[state];
    if (count !== undefined) return count;
    let sum = 0;
    for (const [id, weight] of (this.axes[axis] as PreparedAxis).weights.entries()) {
      if (weight > 0) sum += weight * this.countFrom(axis + 1, this.#excluded.step(axis, state, id));
    }
    known[state] = sum;
    return sum;
  }

  /** Number of cells of the product that are not excluded. */
  get kept(): number {
    return this.countFrom(0, this.start);
  }

  /** Returns the variables that includes add to a combination that is not excluded; later includes override earlier ones. */
  extrasOf(indices: ArrayLike<number>): Extras {
    if (this.#extending.length === 0) return noExtras;
    let set = this.#included.start;
    for (let axis = 0; axis < this.axes.length && set !== 0; axis++) {
      set = this.#included.step(
        axis,
        set,
        (this.axes[axis] as PreparedAxis).classAt(indices[axis] as number),
      );
    }
    if (set === 0) return noExtras;
    let extras = this.#extras.get(set);
    if (extras === undefined) {
      extras = this.#mergeExtras(this.#included.members(set));
      this.#extras.set(set, extras);
    }
    return extras;
  }

  /** Whether an exclude matches no combination: some axis has no matching value, or the exclude names an unknown variable. */
  excludesNothing(exclude: PartialCell, index: number): boolean {
    return (
      Object.keys(exclude.values).some((name) => !this.#variables.has(name)) ||
      this.axes.some((axis) => classesFor(axis, index).length === 0)
    );
  }

  #mergeExtras(members: bigint): Extras {
    const extras: Record<string, Value> = {};
    for (const bit of bitsOf(members)) {
      const { values } = this.#extending[bit - this.#excludes] as PartialCell;
      for (const [name, value] of Object.entries(values))
        if (!this.#variables.has(name)) extras[name] = value;
    }
    return extras;
  }

  /** Returns the includes that extend at least one cell, by classes. */
  #reachedIncludes(): Set<number> {
    const reached = new Set<number>();
    if (this.product === 0) return reached;
    for (const index of this.#extending.keys()) {
      const classes = this.axes.map((axis) => classesFor(axis, this.#excludes + index));
      if (classes.every(({ length }) => length > 0) && this.#reaches(classes)) reached.add(index);
    }
    return reached;
  }

  /** Whether some combination of these classes, one of each axis, is not excluded. */
  #reaches(classes: readonly (readonly number[])[]): boolean {
    const seen = new Set<string>();
    const from = (axis: number, state: number): boolean => {
      if (state === 0) return true;
      const key = `${axis} ${state}`;
      if (axis === classes.length || seen.has(key)) return false;
      seen.add(key);
      return (classes[axis] as readonly number[]).some((id) =>
        from(axis + 1, this.#excluded.step(axis, state, id)),
      );
    };
    return from(0, this.start);
  }
}

/** Returns the non-empty classes of an axis that do not contradict a partial. */
function classesFor({ classes, weights }: PreparedAxis, partial: number): readonly number[] {
  const ids = classes.classesFor(partial) ?? Array.from(weights.keys());
  return ids.filter((id) => (weights[id] as number) > 0);
}

function sizeFrom(axes: readonly PreparedAxis[], from: number): number {
  return axes.slice(from).reduce((product, axis) => product * axis.size, 1);
}

const ones = (count: number): bigint => (1n << BigInt(count)) - 1n;

/** Returns the positions of the set bits, ascending. */
function bitsOf(mask: bigint): number[] {
  const digits = mask.toString(16);
  const bits: number[] = [];
  for (let place = 0; place < digits.length; place++) {
    const digit = Number.parseInt(digits[digits.length - 1 - place] as string, 16);
    for (let bit = 0; bit < 4; bit++) if ((digit & (1 << bit)) !== 0) bits.push(place * 4 + bit);
  }
  return bits;
}

/**
 * Sets of partials that no axis has contradicted yet. Axes are visited from the slowest to the fastest; at each, the class of the value
 * removes some partials. Sets are numbered in order of appearance; number 0 is the empty set.
 */
export class AliveSets {
  /** Number of the set before the first axis. */
  readonly start: number;
  readonly #masks: readonly (readonly bigint[])[];
  readonly #sets: bigint[] = [0n];
  readonly #numbers = new Map<bigint, number>([[0n, 0]]);
  readonly #steps: (number | undefined)[][][];

  /**
   * @param partials the tracked partials, as bits
   * @param masks for each axis and class, the partials that the class does not contradict
   */
  constructor(partials: bigint, masks: readonly (readonly bigint[])[]) {
    this.#masks = masks;
    this.#steps = masks.map(() => []);
    this.start = this.#number(partials);
  }

  /** Returns the set after an axis whose value is of this class. */
  step(axis: number, set: number, classId: number): number {
    if (set === 0) return 0;
    const bySet = this.#steps[axis] as (number | undefined)[][];
    const row = (bySet[set] ??= []);
    return (row[classId] ??= this.#number(
      (this.#sets[set] as bigint) & ((this.#masks[axis] as readonly bigint[])[classId] as bigint),
    ));
  }

  /** Returns the partials of a set, as bits. */
  members(set: number): bigint {
    return this.#sets[set] as bigint;
  }

  #number(mask: bigint): number {
    let number = this.#numbers.get(mask);
    if (number === undefined) {
      number = this.#sets.length;
      this.#sets.push(mask);
      this.#numbers.set(mask, number);
    }
    return number;
  }
}
