import type { FileProblem } from './files.ts';
import type { LeftOut } from './samples.ts';

/** Counts of what an export wrote and what it left out. */
export interface Exported {
  readonly rows: number;
  /** Number of files in the data set; several rows may share one. */
  readonly files: number;
  /** Number of rows of each step, in plan order. */
  readonly steps: ReadonlyMap<string, number>;
  readonly parts: readonly { readonly part: string; readonly rows: number }[];
  readonly leftOut: LeftOut;
  /** Number of rows left out because the format takes only images. */
  readonly withoutImage: number;
  /** Number of rows left out because their file is missing or changed. */
  readonly problems: Readonly<Record<FileProblem, number>> & {
    /** Names of some of these files. */
    readonly examples: readonly string[];
  };
}
