import type { MatrixSpace } from './matrix-space.ts';

/** Says of an axis's value, by index, whether a selection wants it. */
export type Wanted = (index: number) => boolean;

/**
 * Goes through the combinations that are not excluded, in plan order, on indices alone. What a selection does not
 * want is stepped over whole, yet counted, so that positions are those of the whole plan.
 */
export class MatrixWalk {
  /** Index on each axis of the current combination. */
  readonly indices: Float64Array;
  /** Position of the current combination among all that are not excluded, from 0. */
  position = 0;
  /** The slowest axis whose value has changed since the combination before. */
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
   * Moves to the next wanted combination: true. False at the end. Undefined after so many steps without one that
   * it is fair to let others have a turn; call again.
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

  /** Takes the value at the axis's index, where there is one and it is wanted; otherwise moves past it. */
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
