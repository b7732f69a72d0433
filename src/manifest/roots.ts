import { inGroups } from '../plan/resolve/load-records.ts';
import type { StateReader } from '../state/reader.ts';
import { KeySet } from './key-set.ts';

/** Number of cells beyond the known ones that a narrowed manifest searches for results that an edit of the matrix moved. */
const leastReach = 10_000;

/** Number of records that are loaded together. */
const loadedAtOnce = 256;

type RootReader = Pick<StateReader, 'many' | 'rootKeys'>;

/**
 * The jobs of a state that have no parent (roots), and which of them the manifest has found in the plan. A narrowed manifest stops after
 * the last root: later cells have no result.
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

  /** True once every root of the state was found in the plan. */
  get allPlaced(): boolean {
    return this.#placed.size === this.#known.size;
  }

  place(key: string): void {
    if (this.#known.has(key)) this.#placed.add(key);
  }

  /**
   * Returns the number of the last cell that may contain a root that was not found yet.
   *
   * A root that no cell uses any more (its prompt was edited) is never found, and would make every `--limit 10` read the whole matrix. So
   * the search ends at twice the farthest cell of any known root, and not before 10,000 cells.
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
