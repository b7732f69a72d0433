import { type EntryKind, kinds } from '../../pipeline/kinds.ts';
import type { JobError } from '../job.ts';
import type { ImageSource } from '../job-request.ts';

/** What a file is that a request shows, or whose mask it is; or why it cannot be. */
export type ImageFile =
  | { readonly sha256: string; readonly bytes: number }
  /**
   * `input.missing` | `input.outside` (it leads out of the folder that a pipeline's files must lie in) | `input.not-image` |
   * `input.too-large`
   */
  | { readonly error: JobError };

/**
 * How resolving learns the content of the images of a pipeline. It answers synchronously, as resolving a cell does, and is
 * asked for the same file at every evaluation of a slot. So an implementation remembers, within bounds, what it has read.
 */
export interface ImageFiles {
  /**
   * @param path relative to the pipeline, as its template rendered it
   * @returns `unread`: it has to be asked for, or cannot be used here; a slot that shows it is pending and has no job yet
   */
  facts(path: string): ImageFile | 'unread';
  /**
   * Loads what `facts` did not know yet, and answered with `unread` or `input.missing`, where that has to be loaded. Absent: it knows all.
   *
   * @returns whether there was anything: what was resolved with those replies has to be resolved again
   */
  loadMissed?(): Promise<boolean>;
}

/** Stands in where nothing is said about files: none is there. */
export const noImageFiles: ImageFiles = {
  facts: (path) => ({
    error: { code: 'input.missing', message: `There is no file ${JSON.stringify(path)}.` },
  }),
};

/**
 * How many images a job makes: a task makes `one`; of a text job it is known when it is done, and undefined before.
 */
export type ImageCount = 'one' | number | undefined;

/** What is wrong with the number of images that an operation is given. */
export type CountError =
  /** Wrong for any number of images that the shown jobs may make. */
  | { readonly failure: JobError }
  /** Wrong for the number of images that they have made. */
  | { readonly shortage: JobError };

/**
 * Checks the number of images as early as possible: `blend.count`, and `image.count` where one image is meant and a text
 * job has made several.
 */
export function countError(
  kind: EntryKind,
  images: readonly ImageSource[],
  countOf: (job: string) => ImageCount,
): CountError | undefined {
  const takes = kinds[kind].images;
  if (takes === 'any') return undefined;
  const { least, most } = typeof takes === 'object' ? takes : { least: images.length, most: images.length };
  const counts = images.map((image) => ('job' in image ? countOf(image.job) : 'one'));
  const isSure = counts.every((count) => count === 'one');
  if (images.length > most || (isSure && images.length < least))
    return { failure: wrongCount(kind, images.length) };
  let total = 0;
  for (const count of counts) {
    if (count === undefined) return undefined;
    total += count === 'one' ? 1 : count;
  }
  return total >= least && total <= most ? undefined : { shortage: wrongCount(kind, total) };
}

function wrongCount(kind: EntryKind, count: number): JobError {
  const takes = kinds[kind].images;
  const images = count === 1 ? 'there is 1 image' : `there are ${count} images`;
  return typeof takes === 'object'
    ? {
        code: 'blend.count',
        message: `For this cell ${images} to ${kind}; a ${kind} takes ${takes.least} to ${takes.most}.`,
      }
    : {
        code: 'image.count',
        message: `For this cell ${images}; a ${kind} takes one for each that its step names.`,
      };
}
