import { placeOf } from '../../pipeline/files.ts';
import { largestInput, sharedInputName } from '../inputs.ts';
import { fileErrors } from '../store/file-error.ts';
import type { SaveFailure } from '../writer.ts';

const permanent = (code: SaveFailure['code'], message: string, cause?: unknown): SaveFailure => ({
  code,
  class: 'permanent',
  message,
  ...(cause === undefined ? {} : { cause }),
});

export const tooLarge = (name: string): SaveFailure =>
  permanent(
    'input.too-large',
    `The image ${name} is larger than ${largestInput} bytes, the most that a request can show. Make it smaller.`,
  );

export const notImage = (name: string): SaveFailure =>
  permanent('input.not-image', `${name} is not an image of a known kind (PNG, JPEG, WebP, GIF, AVIF, HEIC).`);

/** Returns why a pipeline may not read a file; undefined if it may. @param real its path, links resolved */
export function placeFailure(name: string, real: string, filesRoot: string): SaveFailure | undefined {
  const place = placeOf(filesRoot, real);
  if (place === 'inside') return undefined;
  const why =
    place === 'git'
      ? 'lies in a folder of git, which no pipeline may read.'
      : `leads out of ${filesRoot}, the folder that a pipeline's files must lie in (--files-root).`;
  return permanent('input.outside', `${name} ${why}`);
}

export const linkedArtifact = (file: string): SaveFailure =>
  permanent(
    'input.linked',
    `${file.slice(0, 200)} of the run directory is a link, or leads out of the directory: it is not sent.`,
  );

export const replacedArtifact = (file: string): SaveFailure =>
  permanent(
    'input.changed',
    `${file.slice(0, 200)} is not the file that its job saved: it has been changed or replaced since, and is not sent. Put the saved one back, or make it again with --redo.`,
  );

export const otherCopy = ({
  path,
  sha256,
}: {
  readonly path: string;
  readonly sha256: string;
}): SaveFailure =>
  permanent(
    'input.changed',
    `The copy of ${path.slice(0, 200)} in the place of the run (${sharedInputName(sha256)}) is not the file that the run has: it has been changed since, and is not sent. Remove it, then run again.`,
  );

/** @param cause an error of the file system; absent: the path is not a file */
export function missingFile(name: string, cause?: unknown): SaveFailure {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const why =
    cause === undefined ? 'is no file' : (fileErrors[code] ?? `cannot be read (${(cause as Error).message})`);
  return permanent('input.missing', `The image ${name.slice(0, 200)} ${why}.`, cause);
}
