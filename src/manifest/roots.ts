import { inGroups } from '../plan/resolve/load-records.ts';
import type { StateReader } from '../state/reader.ts';
import { KeySet } from './key-set.ts';

/** How far beyond all known cells a narrowed manifest searches for results that an edit of the matrix moved. */
const leastReach = 10_000;

/** Records that are loaded together. */
const loadedAtOnce = 256;

type RootReader = Pick<StateReader, 'many' | 'rootKeys'>;

/**
 * The jobs without a parent in the state, and which of them the manifest has met in the plan. It decides when a narrowed
 * manifest stops: after the last of them no cell has a result.
 */
export class Roots {
  readonly #reader: RootReader;
  readonly #known = new KeySet();
  readonly #placed = new KeySet();

  private constructor(reader: RootReader) {
    this.#reader = reader;
  }

  static async of(reader: RootReader): Promise<Roots> {
    const roots = new Roots(reader);
    for await (const key of reader.rootKeys()) roots.#known.add(key);
    return roots;
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
  async reach(): Promise<number> {
    let farthest = 0;
    for await (const keys of inGroups(this.#unplaced(), loadedAtOnce))
      for (const { origin } of (await this.#reader.many(keys)).values())
        farthest = Math.max(farthest, origin.cell);
    return Math.max(leastReach, 2 * farthest);
  }

  async *#unplaced(): AsyncGenerator<string> {
    for await (const key of this.#reader.rootKeys()) if (!this.#placed.has(key)) yield key;
  }
}
