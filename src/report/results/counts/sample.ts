/** Largest number of values kept. */
const mostKept = 4096;

/**
 * A distribution of numbers. With few numbers it is exact; of more it keeps every second, fourth, eighth … Equal numbers in equal order
 * give equal results.
 */
export class Sample {
  #kept: number[] = [];
  #every = 1;
  #count = 0;
  #most = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#count;
  }

  /** The largest number. */
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

  /** Returns the quantiles for shares between 0 and 1; NaN if there are no numbers. */
  quantiles(parts: readonly number[]): readonly number[] {
    const sorted = [...this.#kept].sort((a, b) => a - b);
    return parts.map((part) => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN);
  }
}
