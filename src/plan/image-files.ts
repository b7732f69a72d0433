import type { JobError } from './job.ts';

/** What a file is that a request shows, or whose mask it is; or why it cannot be. */
export type ImageFile =
  | { readonly sha256: string; readonly bytes: number }
  /**
   * `input.missing` | `input.outside` (it leads out of the folder that a pipeline's files must lie in) | `input.not-image` |
   * `input.too-large`
   */
  | { readonly error: JobError };

/**
 * How resolving learns what the images of a pipeline hold. It answers at once, as resolving a cell does, and is asked for
 * the same file again with every look at a slot: whoever implements it remembers, within bounds, what it has read.
 */
export interface ImageFiles {
  /** @param path relative to the pipeline, as its template rendered it */
  facts(path: string): ImageFile;
}

/** Stands in where nothing is said about files: none is there. */
export const noImageFiles: ImageFiles = {
  facts: (path) => ({
    error: { code: 'input.missing', message: `There is no file ${JSON.stringify(path)}.` },
  }),
};
