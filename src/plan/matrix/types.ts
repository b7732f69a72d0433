import type { Cell, Selection } from '../cell.ts';
import type { CellGroups } from './groups.ts';
import type { UnmatchedFilter } from './selection.ts';

/** A table of the matrix, as `run.json` and a frozen plan name it. */
export interface TableFacts {
  /** Absolute path. */
  readonly file: string;
  /** Path as the pipeline gives it. */
  readonly declared: string;
  /** SHA-256 of the file's bytes, in hexadecimal. */
  readonly sha256: string;
  readonly rows: number;
}

/**
 * A matrix whose cells are enumerated lazily: axes multiply in written order, the first slowest, then exclude, include, sample, repeat. A
 * cell's repeats follow each other, each with its own number. Numbers are positions in the whole matrix, from 1, whatever a selection
 * chooses.
 */
export interface Matrix {
  /** Number of cells, computed from the axes for any size. */
  readonly cellCount: number;
  /** Variables in the pipeline's order; see `MatrixSpec.variables`. */
  readonly variables: readonly string[];
  readonly tables: readonly TableFacts[];
  /** The groups of cells by which steps are reduced, by `reductionId`. A shard takes whole groups. */
  readonly groups: ReadonlyMap<string, CellGroups>;
  /**
   * Yields the chosen cells by ascending number; the repeats of a combination share one `vars`. Makes only as many cells as the reader
   * takes (a sample is drawn first, from the whole matrix). Reading may stop at any time.
   *
   * @throws TableError while it is read: `table.changed` if a table has changed since the matrix was prepared
   */
  cells(selection?: Selection, signal?: AbortSignal): AsyncGenerator<Cell, void, undefined>;
  /**
   * Returns the values in a selection's filters that nothing in the matrix has. A table is read until all are found.
   *
   * @throws TableError
   */
  unmatched(selection: Selection, signal?: AbortSignal): Promise<readonly UnmatchedFilter[]>;
  /**
   * Counts the cells that {@link cells} would yield.
   *
   * @param lastOf counts only the last cells of these groups
   * @throws TableError
   */
  chosen(selection?: Selection, signal?: AbortSignal, lastOf?: CellGroups): Promise<number>;
}
