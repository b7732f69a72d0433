import type { FileProblem } from './files.ts';
import type { LeftOut } from './samples.ts';

/** What a data set has, and what it has not. */
export interface Exported {
  readonly rows: number;
  /** Files that lie in the data set; rows may share one. */
  readonly files: number;
  /** Rows by step, in the order of the plan. */
  readonly steps: ReadonlyMap<string, number>;
  readonly parts: readonly { readonly part: string; readonly rows: number }[];
  readonly leftOut: LeftOut;
  /** Rows that are no image, in a form that takes images alone. */
  readonly withoutImage: number;
  /** Rows that are left out because their file is not what the run recorded. */
  readonly problems: Readonly<Record<FileProblem, number>> & {
    /** Names of some of them. */
    readonly examples: readonly string[];
  };
}
