/** Numbers that are kept, at most. */
const mostKept = 4096;

/**
 * The distribution of any number of numbers. Up to some thousand it is exact; of more, every second, fourth, eighth … is kept, so
 * that the same numbers in the same order always give the same.
 */
export class Sample {
  #kept: number[] = [];
  #every = 1;
  #count = 0;
  #most = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#count;
  }

  /** The largest of all. */
  get most(): number {
    return this.#most;
  }

  add(value: number): void {
    if (this.#count % this.#every === 0) {
      if (this.#kept.length === mostKept) {
        this.#kept = this.#kept.filter((_, index) => index % 2 === 0);
        this.#every *= 2;
      }
      if (this.#count % this.#every === 0) this.#kept.push(value);
    }
    this.#count += 1;
    this.#most = Math.max(this.#most, value);
  }

  /** The smallest numbers that as many are not larger than, for each of these parts of all (0 to 1); NaN where there is none. */
  quantiles(parts: readonly number[]): readonly number[] {
    const sorted = [...this.#kept].sort((a, b) => a - b);
    return parts.map((part) => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN);
  }
}
