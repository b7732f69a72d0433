/**
 * Which partials no axis so far has contradicted. The axes are gone through from the slowest to the fastest; at each,
 * the class of the value strikes some partials out. Sets are numbered as they turn up; number 0 is the empty set.
 */
export class AliveSets {
  /** The number of the set before the first axis. */
  readonly start: number;
  readonly #masks: readonly (readonly bigint[])[];
  readonly #sets: bigint[] = [0n];
  readonly #numbers = new Map<bigint, number>([[0n, 0]]);
  readonly #steps: (number | undefined)[][][];

  /**
   * @param partials the partials followed, as bits
   * @param masks for each axis and class, the partials it does not contradict
   */
  constructor(partials: bigint, masks: readonly (readonly bigint[])[]) {
    this.#masks = masks;
    this.#steps = masks.map(() => []);
    this.start = this.#number(partials);
  }

  /** The set after an axis whose value is of this class. */
  step(axis: number, set: number, classId: number): number {
    if (set === 0) return 0;
    const bySet = this.#steps[axis] as (number | undefined)[][];
    const row = (bySet[set] ??= []);
    return (row[classId] ??= this.#number(
      (this.#sets[set] as bigint) & ((this.#masks[axis] as readonly bigint[])[classId] as bigint),
    ));
  }

  /** The partials of a set, as bits. */
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
