import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  unlinkSync,
  writevSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from './folders.ts';
import { checkHeld, heldFile } from './held-files.ts';
import { checkFile, checkFolder, ownFile, refuseSecondName } from './plain-path.ts';

/** Name of the folder of whole replies within a run directory. */
export const repliesFolder = 'replies';

/** The name of a segment's file in {@link repliesFolder}. */
export const segmentFile = /^\d{5,}\.jsonl$/;

const nameOf = (segment: number): string => `${String(segment).padStart(5, '0')}.jsonl`;

/** Returns the path of a segment relative to the run directory, with `/`. */
export const segmentPath = (segment: number): string => `${repliesFolder}/${nameOf(segment)}`;

/** An open segment. */
export interface SegmentFile {
  /** @throws StateError `state.replaced` if its name leads to another file or to none */
  check(): void;
  size(): number;
  /** Writes all pieces at a position. */
  write(pieces: readonly Buffer[], position: number): void;
  /** Makes the written bytes durable. */
  sync(): void;
  /** Does the same without blocking; durable once the promise is resolved. */
  syncSoon(): Promise<void>;
  /** Truncates the file durably. */
  truncate(size: number): void;
  close(): void;
}

/**
 * The files of segments. Every call is synchronous, as a commit is.
 *
 * Every method throws the error of the file system, and StateError `directory.link` | `directory.kind` if something else has the name
 * of the folder or of a file.
 */
export interface SegmentFiles {
  /** Lists the numbers of existing segments. */
  list(): readonly number[];
  /** Opens a segment; undefined if it does not exist. */
  open(segment: number): SegmentFile | undefined;
  /** Makes a segment, its name durable; opens an existing one. */
  make(segment: number): SegmentFile;
  remove(segment: number): void;
}

/** Returns the segments of a run directory. */
export function segmentFilesOf(directory: string): SegmentFiles {
  const folder = join(directory, repliesFolder);
  const pathOf = (segment: number): string => join(folder, nameOf(segment));
  const isThere = (segment: number): boolean =>
    checkFolder(folder) && checkFile(pathOf(segment), { inPlace: true });
  return {
    list: () =>
      checkFolder(folder)
        ? readdirSync(folder).flatMap((name) => (segmentFile.test(name) ? [Number.parseInt(name, 10)] : []))
        : [],
    open: (segment) => (isThere(segment) ? opened(pathOf(segment), constants.O_RDWR) : undefined),
    make: (segment) => {
      if (!checkFolder(folder)) {
        mkdirSync(folder);
        syncFolder(directory);
      }
      if (isThere(segment)) return opened(pathOf(segment), constants.O_RDWR);
      const file = opened(pathOf(segment), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL);
      syncFolder(folder);
      return file;
    },
    remove: (segment) => {
      if (isThere(segment)) unlinkSync(pathOf(segment));
    },
  };
}

const fdatasyncOf = promisify(fdatasync);

function opened(path: string, flags: number): SegmentFile {
  const handle = openSync(path, flags | ownFile);
  try {
    refuseSecondName(path, handle);
    const held = heldFile(path);
    return {
      check: () => checkHeld([held]),
      size: () => fstatSync(handle).size,
      write: (pieces, position) => writeAll(handle, pieces, position),
      // The size is synced with the data; the times of the file are not needed.
      sync: () => fdatasyncSync(handle),
      syncSoon: () => fdatasyncOf(handle),
      truncate: (size) => {
        ftruncateSync(handle, size);
        fsyncSync(handle);
      },
      close: () => closeSync(handle),
    };
  } catch (failure) {
    closeSync(handle);
    throw failure;
  }
}

/** Writes everything: a single write may be partial. */
function writeAll(handle: number, pieces: readonly Buffer[], position: number): void {
  let left = pieces;
  let at = position;
  while (left.length > 0) {
    let written = writevSync(handle, left, at);
    at += written;
    while (left[0] !== undefined && written >= left[0].length) {
      written -= left[0].length;
      left = left.slice(1);
    }
    if (written > 0) left = [(left[0] as Buffer).subarray(written), ...left.slice(1)];
  }
}
