import { constants } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { placeOf } from '../../pipeline/files.ts';
import { ownFile } from '../../state/files/plain-path.ts';
import { largestInput } from '../inputs.ts';
import type { SaveFailure } from '../writer.ts';

/** Opening what is no plain file (a pipe, a device) must not wait. Links are resolved before: one that has come since is not followed. */
export const readFlags = constants.O_RDONLY | ownFile;

export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

const permanent = (code: string, message: string, cause?: unknown): SaveFailure => ({
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
  permanent(
    'input.not-image',
    `${name} is no image of a kind that is known (PNG, JPEG, WebP, GIF, AVIF, HEIC).`,
  );

/** Why a file may not be read that a pipeline names; undefined where it may. @param real its path, links resolved */
export function placeRefusal(name: string, real: string, filesRoot: string): SaveFailure | undefined {
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
    `${file.slice(0, 200)} is not the file that its job saved: it has been changed or replaced since, and is not sent. Put the saved one back, or make it anew with --redo.`,
  );

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there',
  ELOOP: 'is a link that leads to itself',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
  ENAMETOOLONG: 'has a name that no file can have',
  ERR_INVALID_ARG_VALUE: 'has a name that no file can have',
};

/** @param cause of the file system; absent: something else than a file lies there */
export function missingFile(name: string, cause?: unknown): SaveFailure {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const why =
    cause === undefined ? 'is no file' : (reasons[code] ?? `cannot be read (${(cause as Error).message})`);
  return permanent('input.missing', `The image ${name.slice(0, 200)} ${why}.`, cause);
}

/** A failure of the file system that says something about one file, and nothing about the disk. */
export const isAboutFile = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && String(cause.code) in reasons;
