import type { Value } from '../../pipeline/values/value.ts';
import type { Selection } from '../cell.ts';
import { type Filter, filterTakes, shardCount } from './selection.ts';
import type { Extras, MatrixSpace } from './space.ts';

/** Tells whether a selection wants an axis's value, by index. */
export type Wanted = (index: number) => boolean;

/**
 * Walks the combinations that are not excluded, in plan order, by indexes only. Unwanted combinations are skipped in bulk, yet counted,
 * so that positions are those of the whole plan.
 */
export class MatrixWalk {
  /** Index on each axis of the current combination. */
  readonly indices: Float64Array;
  /** Position of the current combination among all that are not excluded, from 0. */
  position = 0;
  /** The slowest axis whose value differs from the previous combination. */
  changed = 0;
  readonly #space: MatrixSpace;
  readonly #wanted: readonly (Wanted | undefined)[];
  /** State of the excludes before each axis. */
  readonly #states: Int32Array;
  #axis = 0;
  #atCombination = false;
  #ended = false;

  constructor(space: MatrixSpace, wanted: readonly (Wanted | undefined)[] = []) {
    this.#space = space;
    this.#wanted = wanted;
    this.indices = new Float64Array(space.axes.length);
    this.#states = new Int32Array(space.axes.length + 1);
    this.#states[0] = space.start;
    this.#ended = space.kept === 0;
  }

  /**
   * Moves to the next wanted combination and returns true, or false at the end. Returns undefined after a bounded number of steps without
   * one, so that other work can run; then call it again.
   */
  next(patience = 262_144): boolean | undefined {
    const last = this.indices.length - 1;
    if (this.#atCombination) this.#leave(last);
    for (let steps = 0; steps < patience && !this.#ended; steps++) {
      const axis = this.#axis;
      if (axis > last || this.#enter(axis)) {
        this.#axis = axis + 1;
        if (this.#axis <= last) this.indices[this.#axis] = 0;
        else {
          this.#atCombination = true;
          return true;
        }
      }
    }
    return this.#ended ? false : undefined;
  }

  /** Takes the value at the axis's index if there is one and it is wanted; otherwise moves past it. */
  #enter(axis: number): boolean {
    const index = this.indices[axis] as number;
    if (index >= (this.#space.axes[axis] as { size: number }).size) {
      if (axis === 0) this.#ended = true;
      else this.#advance(axis - 1);
      return false;
    }
    const state = this.#space.step(axis, this.#states[axis] as number, index);
    const count = this.#space.countFrom(axis + 1, state);
    if (count === 0 || this.#wanted[axis]?.(index) === false) {
      this.position += count;
      this.#advance(axis);
      return false;
    }
    this.#states[axis + 1] = state;
    return true;
  }

  #leave(last: number): void {
    this.#atCombination = false;
    this.position++;
    this.changed = last;
    if (last < 0) this.#ended = true;
    else this.#advance(last);
  }

  #advance(axis: number): void {
    this.#axis = axis;
    if (axis < this.changed) this.changed = axis;
    this.indices[axis] = (this.indices[axis] as number) + 1;
  }
}

/** A combination before `repeat`, still without values. */
export type Leaf =
  | { readonly position: number; readonly indices: readonly number[]; readonly extras: Extras }
  | { readonly position: number; readonly added: Readonly<Record<string, Value>> };

/** The data that determines which combinations are chosen. */
export interface LeafChoice {
  readonly filters: readonly Filter[];
  /** For each axis, the values that the filters accept. */
  readonly wanted: readonly (Wanted | undefined)[];
  readonly shard: Selection['shard'];
  readonly repeat: number;
}

/** Combinations skipped before other work can run. */
const pause = 65_536;

/**
 * Yields the chosen combinations in plan order, by indexes only, and undefined from time to time, so that other work can run. `position`
 * is the place in the plan before `repeat`, from 0.
 */
export function* chosenLeaves(
  space: MatrixSpace,
  drawn: Float64Array | undefined,
  choice: LeafChoice,
): Generator<Leaf | undefined, void, undefined> {
  const axisVariables = new Set(space.axes.flatMap(({ variables }) => variables));
  // Includes never change an axis's own variable, so only filters of other variables concern the variables that includes add.
  const onExtras = choice.filters.filter(({ variable }) => !axisVariables.has(variable));
  const takes = (leaf: Leaf): boolean => {
    if (!shardReaches(choice, leaf.position)) return false;
    if ('added' in leaf)
      return choice.filters.every((filter) => filterTakes(filter, leaf.added[filter.variable]));
    return onExtras.every((filter) => filterTakes(filter, leaf.extras[filter.variable]));
  };
  const leaves = drawn === undefined ? walkedLeaves(space, choice) : drawnLeaves(space, drawn, choice);
  for (const leaf of leaves) {
    if (leaf === undefined || takes(leaf)) yield leaf;
    else if (leaf.position % pause === 0) yield undefined;
  }
}

function* walkedLeaves(space: MatrixSpace, choice: LeafChoice): Generator<Leaf | undefined, void, undefined> {
  const walk = new MatrixWalk(space, choice.wanted);
  for (let more = walk.next(); more !== false; more = walk.next()) {
    if (more !== undefined && shardReaches(choice, walk.position)) {
      const indices = listOf(walk.indices);
      yield { position: walk.position, indices, extras: space.extrasOf(indices) };
    } else if (more === undefined || walk.position % pause === 0) yield undefined;
  }
  for (const [index, added] of space.added.entries()) yield { position: space.kept + index, added };
}

function* drawnLeaves(
  space: MatrixSpace,
  drawn: Float64Array,
  choice: LeafChoice,
): Generator<Leaf | undefined, void, undefined> {
  for (const [position, ordinal] of drawn.entries()) {
    if (ordinal >= space.product) {
      yield { position, added: space.added[ordinal - space.product] as Readonly<Record<string, Value>> };
      continue;
    }
    const indices = decode(space, ordinal);
    const wanted = choice.wanted.every((wants, axis) => wants?.(indices[axis] as number) !== false);
    if (wanted) yield { position, indices, extras: space.extrasOf(indices) };
    else if (position % pause === 0) yield undefined;
  }
}

/** Returns the index on each axis of a combination, from its index in the plain product. */
export function decode(space: MatrixSpace, ordinal: number): number[] {
  const indices: number[] = [];
  let rest = ordinal;
  for (const stride of space.strides) {
    const below = rest % stride;
    indices.push((rest - below) / stride);
    rest = below;
  }
  return indices;
}

/** Copies to an array; `Array.from` takes ten times as long. */
function listOf(indices: Float64Array): number[] {
  const list: number[] = [];
  for (let axis = 0; axis < indices.length; axis++) list.push(indices[axis] as number);
  return list;
}

/** Whether the shard contains any repeat of a combination. */
function shardReaches({ shard, repeat }: LeafChoice, position: number): boolean {
  return shard === undefined || repeatsIn(shard, repeat, position) > 0;
}

/** Counts the repeats of a combination that a shard contains. */
export function repeatsIn(shard: Selection['shard'], repeat: number, position: number): number {
  return shardCount(shard, (position + 1) * repeat) - shardCount(shard, position * repeat);
}
