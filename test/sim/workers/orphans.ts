/** Slices that a worker holds at most when it takes over another whose cells it does not want. */
const maxHeld = 64;

/** The slices that silent workers have left, as one worker counts them from time to time. */
export class Orphans {
  readonly #silent: () => number;
  readonly #tell: (areThere: boolean) => void;
  /** As they were counted last, without those that were taken since. */
  #left = 0;

  /**
   * @param silent how many slices of others were not kept for their lease
   * @param tell is told whether there are any, when that changes
   */
  constructor(silent: () => number, tell: (areThere: boolean) => void) {
    this.#silent = silent;
    this.#tell = tell;
  }

  onTaken(): void {
    this.#note(this.#left - 1);
  }

  /** @param held how many slices the worker holds */
  count(held: number): void {
    this.#note(Math.min(this.#silent(), maxHeld - held));
  }

  #note(left: number): void {
    const [were, are] = [this.#left > 0, left > 0];
    this.#left = Math.max(0, left);
    if (were !== are) this.#tell(are);
  }
}
