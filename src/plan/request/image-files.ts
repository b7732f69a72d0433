import { type EntryKind, kinds } from '../../pipeline/kinds.ts';
import type { JobError } from '../job.ts';
import type { ImageSource } from '../job-request.ts';

/** Facts about an image or mask file of a request, or the reason why it cannot be used. */
export type ImageFile =
  | { readonly sha256: string; readonly bytes: number }
  /** `input.missing` | `input.outside` (not in the folder that must contain a pipeline's files) | `input.not-image` | `input.too-large` */
  | { readonly error: JobError };

/**
 * The port by which resolving reads the content of a pipeline's images. It answers synchronously, like the resolving of cells, and
 * receives the same file at every evaluation of a slot. So an implementation caches results, within limits.
 */
export interface ImageFiles {
  /**
   * @param path relative to the pipeline, as its template rendered it
   * @returns `unread`: the file must be loaded first, or cannot be used here; a slot that shows it is pending and has no job yet
   */
  facts(path: string): ImageFile | 'unread';
  /**
   * Loads the files for which `facts` answered `unread` or `input.missing`, if needed. Absent: all files are known.
   *
   * @returns whether a file was loaded: then slots with such answers must be resolved again
   */
  loadMissed?(): Promise<boolean>;
}

/** An {@link ImageFiles} without any file, for use when nothing is known about files. */
export const noImageFiles: ImageFiles = {
  facts: (path) => ({
    error: { code: 'input.missing', message: `There is no file ${JSON.stringify(path)}.` },
  }),
};

/** The number of images of a job: `one` for a task; for a text job a number once it is done, and undefined before. */
export type ImageCount = 'one' | number | undefined;

/** An error in the number of images of an operation. */
export type CountError =
  /** Wrong for any number of images that the shown jobs may make. */
  | { readonly failure: JobError }
  /** Wrong for the number of images that the shown jobs have made. */
  | { readonly shortage: JobError };

/**
 * Checks the number of images as early as possible: `blend.count`, and `image.count` if one image is meant and a text job has made
 * several.
 */
export function countError(
  kind: EntryKind,
  images: readonly ImageSource[],
  countOf: (job: string) => ImageCount,
): CountError | undefined {
  const takes = kinds[kind].images;
  if (takes === 'any') return undefined;
  const { least, most } = typeof takes === 'object' ? takes : { least: images.length, most: images.length };
  const counts = images.map((image) =>
    'job' in image && image.output === undefined ? countOf(image.job) : 'one',
  );
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
