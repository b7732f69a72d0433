/**
 * Index of each result among all results, from the cells in order and their numbers of results. It finds the index of a cell, and the
 * cell at an index, in logarithmic time (a Fenwick tree; https://en.wikipedia.org/wiki/Fenwick_tree), with 16 bytes a cell.
 */
export class Places {
  #cells = new Float64Array(1024);
  /** Sums of the tree, from position 1. The sum at n covers as many cells, up to n, as the lowest set bit of n says. */
  #sums = new Float64Array(1025);
  #length = 0;
  #total = 0;

  get total(): number {
    return this.#total;
  }

  get length(): number {
    return this.#length;
  }

  cellAt(position: number): number {
    return this.#cells[position] ?? Number.POSITIVE_INFINITY;
  }

  append(cell: number, results: number): void {
    if (this.#length > 0 && cell <= this.cellAt(this.#length - 1))
      throw new Error(`Internal error: cell ${cell} comes too late.`);
    if (this.#length === this.#cells.length) this.#grow();
    this.#cells[this.#length] = cell;
    this.#length += 1;
    const position = this.#length;
    let sum = results;
    for (let step = 1; step < (position & -position); step *= 2) sum += this.#sums[position - step] ?? 0;
    this.#sums[position] = sum;
    this.#total += results;
  }

  change(cell: number, by: number): void {
    if (by === 0) return;
    for (let at = this.positionOf(cell) + 1; at <= this.#length; at += at & -at)
      this.#sums[at] = (this.#sums[at] ?? 0) + by;
    this.#total += by;
  }

  /** Returns the index of a cell's first result; undefined for an unknown cell. */
  firstOf(cell: number): number | undefined {
    const position = this.positionOf(cell);
    if (this.cellAt(position) !== cell) return undefined;
    let sum = 0;
    for (let at = position; at > 0; at -= at & -at) sum += this.#sums[at] ?? 0;
    return sum;
  }

  /** Finds the cell of the result at an index, and the index of the result in its cell, from 0. */
  find(place: number): { readonly cell: number; readonly index: number } | undefined {
    if (place < 0 || place >= this.#total) return undefined;
    let position = 0;
    let rest = place;
    for (let step = 2 ** Math.floor(Math.log2(this.#length)); step >= 1; step /= 2) {
      const sum = this.#sums[position + step] ?? 0;
      if (position + step > this.#length || sum > rest) continue;
      position += step;
      rest -= sum;
    }
    return { cell: this.cellAt(position), index: rest };
  }

  /** Returns the position of a cell, from 0, or the position where it would be inserted. */
  positionOf(cell: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.cellAt(middle) < cell) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(): void {
    const [cells, sums] = [this.#cells, this.#sums];
    this.#cells = new Float64Array(cells.length * 2);
    this.#cells.set(cells);
    this.#sums = new Float64Array(cells.length * 2 + 1);
    this.#sums.set(sums);
  }
}
