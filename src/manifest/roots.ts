import type { StateReader } from '../state/store.ts';
import { KeySet } from './key-set.ts';

/** How far beyond all known cells a narrowed manifest searches for results that an edit of the matrix moved. */
const leastReach = 10_000;

/**
 * The jobs without a parent in the state, and which of them the manifest has met in the plan. It decides when a narrowed
 * manifest stops: after the last of them no cell has a result.
 */
export class Roots {
  readonly #reader: StateReader;
  readonly #known = new KeySet();
  readonly #placed = new KeySet();

  constructor(reader: StateReader) {
    this.#reader = reader;
    for (const key of reader.rootKeys()) this.#known.add(key);
  }

  /** Every root of the state has its place in the plan. */
  get allPlaced(): boolean {
    return this.#placed.size === this.#known.size;
  }

  place(key: string): void {
    if (this.#known.has(key)) this.#placed.add(key);
  }

  /**
   * The number of the last cell in which the roots that are not placed yet can still be found.
   *
   * A root that no cell asks for any more (its prompt was edited) is never placed, and would make every `--limit 10` go
   * through the whole matrix. So the search ends at twice the farthest cell that any of them came from, and not before
   * 10,000 cells: its effort follows what the state holds, not what the plan could hold.
   */
  reach(): number {
    let farthest = 0;
    for (const key of this.#reader.rootKeys()) {
      if (this.#placed.has(key)) continue;
      farthest = Math.max(farthest, this.#reader.get(key)?.origin.cell ?? 0);
    }
    return Math.max(leastReach, 2 * farthest);
  }
}
