import type { Cell, Selection } from '../cell.ts';
import type { UnmatchedFilter } from './selection.ts';

/** A table that the matrix reads, as `run.json` and a frozen plan name it. */
export interface TableFacts {
  /** Absolute path. */
  readonly file: string;
  /** The path as the pipeline gives it. */
  readonly declared: string;
  /** SHA-256 of the file's bytes, in hexadecimal. */
  readonly sha256: string;
  readonly rows: number;
}

/**
 * The expansion of a matrix, enumerated lazily: axes multiply in written order, the first
 * slowest, then exclude, include, sample, repeat. A cell's repeats follow each other, each with a number of its
 * own. Numbers are positions in this whole expansion, from 1, whatever a selection chooses.
 */
export interface Matrix {
  /** Computed from the axes, for any size. */
  readonly cellCount: number;
  /** In the pipeline's order; see `MatrixSpec.variables`. */
  readonly variables: readonly string[];
  readonly tables: readonly TableFacts[];
  /**
   * The chosen cells by ascending number; the repeats of a combination share one `vars`. Produces only as many cells as the
   * reader takes (a sample is drawn first, from the whole matrix). Stop reading whenever you like.
   *
   * @throws TableError while it is read: `table.changed` when a table is not what it was when the matrix was prepared
   */
  cells(selection?: Selection, signal?: AbortSignal): AsyncGenerator<Cell, void, undefined>;
  /**
   * The values that filters of a selection ask for and nothing in the matrix has. A table is read until all were found.
   *
   * @throws TableError
   */
  unmatched(selection: Selection, signal?: AbortSignal): Promise<readonly UnmatchedFilter[]>;
  /** How many cells {@link cells} would give. @throws TableError */
  chosen(selection?: Selection, signal?: AbortSignal): Promise<number>;
}
