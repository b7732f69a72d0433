import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { JobError } from '../../plan/job.ts';
import type { ImageFile, ImageFiles } from '../../plan/request/image-files.ts';
import { readFlags } from '../../state/files/plain-file.ts';
import { headLength, inputType } from '../download/verify.ts';
import { SaveError } from '../failure.ts';
import { largestInput } from '../inputs.ts';
import { missingFile, notImage, placeFailure, tooLarge } from './failure.ts';

/** The facts of a file that a run has read. */
export interface SeenFile {
  readonly sha256: string;
  readonly bytes: number;
  /** Time of the last change, in Unix ms. With the size it shows whether the file is unchanged, without reading it. */
  readonly mtimeMs: number;
}

/** Keeps facts of files beyond this process, in the state of a run directory. */
export interface SeenFiles {
  /** @param path as the pipeline's template rendered it */
  recall(path: string): SeenFile | undefined;
  remember(path: string, seen: SeenFile): void;
}

export interface ImageFilesOptions {
  /** Absolute folder of the pipeline; its files are named relative to it. */
  readonly folder: string;
  /** Folder that must contain the files, links resolved (`--files-root`). */
  readonly filesRoot: string;
  /** Default: nothing is kept. */
  readonly seen?: SeenFiles;
  /** Whether recorded facts count, whatever the files are now: for a directory that is read without its pipeline's files. */
  readonly preferSeen?: boolean;
  /** Most files whose facts are kept in memory. Default 20,000: some megabytes. */
  readonly maxKnown?: number;
}

/** {@link ImageFiles} that can list the files that were requested. */
export interface KnownImageFiles extends ImageFiles {
  facts(path: string): ImageFile;
  /** Lists the files that are known now, by path: all that were requested, unless some had to be forgotten. */
  known(): readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[];
}

/**
 * Returns the images of a pipeline for planning. A file is read once, while its facts stay in the bounded memory. A file must not
 * change during a run; if it does, the run notices when it reads the file for sending.
 */
export function createImageFiles(options: ImageFilesOptions): KnownImageFiles {
  const { seen, preferSeen = false, maxKnown = 20_000 } = options;
  // Oldest first: a map keeps the order of its keys.
  const known = new Map<string, ImageFile>();

  const seenAs = (path: string): ImageFile => {
    const last = seen?.recall(path);
    if (preferSeen && last !== undefined) return { sha256: last.sha256, bytes: last.bytes };
    try {
      const found = readFacts(path, options, last);
      if (found !== last) seen?.remember(path, found);
      return { sha256: found.sha256, bytes: found.bytes };
    } catch (failure) {
      if (!(failure instanceof SaveError)) throw failure;
      const { code, message } = failure.failure;
      return { error: { code, message } satisfies JobError };
    }
  };

  return {
    known: () =>
      [...known]
        .flatMap(([path, facts]) => ('error' in facts ? [] : [{ path, ...facts }]))
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
    facts: (path) => {
      const before = known.get(path);
      if (before !== undefined) return before;
      const facts = seenAs(path);
      if (known.size >= maxKnown) for (const oldest of known.keys()) if (known.delete(oldest)) break;
      known.set(path, facts);
      return facts;
    },
  };
}

/** Bytes that are read at a time. */
const stride = 1_048_576;

/** @returns `last` itself if the file is unchanged. @throws SaveError */
function readFacts(
  path: string,
  { folder, filesRoot }: ImageFilesOptions,
  last: SeenFile | undefined,
): SeenFile {
  let descriptor: number;
  try {
    const real = realpathSync(isAbsolute(path) ? path : join(folder, path));
    const failure = placeFailure(path, real, filesRoot);
    if (failure !== undefined) throw new SaveError(failure);
    descriptor = openSync(real, readFlags);
  } catch (cause) {
    throw cause instanceof SaveError ? cause : new SaveError(missingFile(path, cause));
  }
  try {
    const { size, mtimeMs, isFile } = statOf(descriptor);
    if (!isFile) throw new SaveError(missingFile(path));
    if (size > largestInput) throw new SaveError(tooLarge(path));
    if (last !== undefined && last.bytes === size && last.mtimeMs === mtimeMs) return last;
    return { ...hashOf(descriptor, path), mtimeMs };
  } catch (cause) {
    throw cause instanceof SaveError ? cause : new SaveError(missingFile(path, cause));
  } finally {
    closeSync(descriptor);
  }
}

function statOf(descriptor: number): {
  readonly size: number;
  readonly mtimeMs: number;
  readonly isFile: boolean;
} {
  const found = fstatSync(descriptor);
  return { size: found.size, mtimeMs: found.mtimeMs, isFile: found.isFile() };
}

function hashOf(descriptor: number, path: string): { readonly sha256: string; readonly bytes: number } {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(stride);
  let bytes = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, 0, stride, bytes);
    if (bytes === 0 && inputType(buffer.subarray(0, Math.min(read, headLength))) === undefined) {
      throw new SaveError(notImage(path));
    }
    if (read === 0) return { sha256: hash.digest('hex'), bytes };
    hash.update(buffer.subarray(0, read));
    bytes += read;
    if (bytes > largestInput) throw new SaveError(tooLarge(path));
  }
}
