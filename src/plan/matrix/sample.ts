import { nextTurn } from '../../pipeline/turns.ts';
import { renderValue } from '../../pipeline/values/value.ts';
import { type PairHash, type PairHashes, pairHash, rankOf } from './hash.ts';
import type { MatrixSpace } from './space.ts';
import { MatrixWalk } from './walk.ts';

/**
 * Draws `count` cells without replacement: those with the lowest ranks. A cell's rank is a hash of the seed and of its variables' names
 * and rendered values, so it does not depend on the cell's position, and adding a cell to the matrix changes the sample by at most one
 * cell. Variables that includes add to a cell do not count: a note on some cells does not change the sample. Memory is 16 bytes per drawn
 * cell.
 *
 * @returns the drawn cells in plan order, as indexes into the plain product; a cell that an include added has the product's size plus its
 * index. Undefined: the matrix has at most `count` cells, and all are drawn.
 */
export async function drawSample(
  space: MatrixSpace,
  sample: { readonly count: number; readonly seed: number },
  signal?: AbortSignal,
): Promise<Float64Array | undefined> {
  if (sample.count >= space.kept + space.added.length) return undefined;
  const seed = pairHash('seed', String(sample.seed));
  const lowest = new Lowest(sample.count);
  await rankProduct(space, seed, lowest, signal);
  for (const [index, values] of space.added.entries()) {
    let a = 0;
    let b = 0;
    for (const [name, value] of Object.entries(values)) {
      const hash = pairHash(name, renderValue(value));
      a = (a + hash.a) | 0;
      b = (b + hash.b) | 0;
    }
    lowest.offer(rankOf(a, b, seed), space.product + index);
  }
  return lowest.chosenIndices();
}

/** Hashes are summed axis by axis, only from the first changed axis on. */
async function rankProduct(
  space: MatrixSpace,
  seed: PairHash,
  lowest: Lowest,
  signal: AbortSignal | undefined,
): Promise<void> {
  const axes = space.axes.length;
  const hashes = space.axes.map((axis) => axis.hashes());
  const walk = new MatrixWalk(space);
  const a = new Int32Array(axes + 1);
  const b = new Int32Array(axes + 1);
  const ordinals = new Float64Array(axes + 1);
  let untilPause = 1 << 18;
  for (let more = walk.next(); more !== false; more = walk.next()) {
    if (more === undefined || --untilPause === 0) {
      untilPause = 1 << 18;
      await nextTurn(signal);
      if (more === undefined) continue;
    }
    for (let axis = Math.max(0, walk.changed); axis < axes; axis++) {
      const index = walk.indices[axis] as number;
      const hash = hashes[axis] as PairHashes;
      a[axis + 1] = (a[axis] as number) + hash.a(index);
      b[axis + 1] = (b[axis] as number) + hash.b(index);
      ordinals[axis + 1] = (ordinals[axis] as number) + index * (space.strides[axis] as number);
    }
    lowest.offer(rankOf(a[axes] as number, b[axes] as number, seed), ordinals[axes] as number);
  }
}

/** Keeps the items with the lowest ranks, in a heap with the highest of them on top. */
class Lowest {
  readonly #ranks: Float64Array;
  readonly #items: Float64Array;
  #size = 0;

  constructor(count: number) {
    this.#ranks = new Float64Array(count);
    this.#items = new Float64Array(count);
  }

  /** Adds an item. Items come in ascending order, so that of equal ranks the first stays. */
  offer(rank: number, item: number): void {
    if (this.#size < this.#ranks.length) this.#rise(this.#size++, rank, item);
    else if (this.#size > 0 && rank < (this.#ranks[0] as number)) this.#sink(rank, item);
  }

  /** Returns the items in ascending order. The heap cannot be used afterwards. */
  chosenIndices(): Float64Array {
    return this.#items.sort();
  }

  #rise(from: number, rank: number, item: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#above(rank, item, parent)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, rank, item);
  }

  #sink(rank: number, item: number): void {
    let at = 0;
    for (let child = 1; child < this.#size; child = 2 * at + 1) {
      const right = child + 1;
      if (
        right < this.#size &&
        this.#above(this.#ranks[right] as number, this.#items[right] as number, child)
      ) {
        child = right;
      }
      if (this.#above(rank, item, child)) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, rank, item);
  }

  /** Whether an item belongs nearer to the top than the one at an index of the heap. */
  #above(rank: number, item: number, place: number): boolean {
    const other = this.#ranks[place] as number;
    return rank > other || (rank === other && item > (this.#items[place] as number));
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#ranks[from] as number, this.#items[from] as number);
  }

  #put(at: number, rank: number, item: number): void {
    this.#ranks[at] = rank;
    this.#items[at] = item;
  }
}
