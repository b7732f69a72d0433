import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs';
import { StateError } from '../store.ts';
import { isMissing } from './folders.ts';

/**
 * Flags that open the file itself, never the target of a link with its name, and that do not wait for the other end of a pipe. Windows
 * has neither flag.
 */
export const ownFile = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The kind of an entry at a path; links are not followed. */
export type PathKind = 'nothing' | 'file' | 'folder' | 'link' | 'other';

/** @throws an error of the file system, except for a path that does not exist */
export function kindAt(path: string): PathKind {
  const found = statOf(path);
  return found === undefined ? 'nothing' : kindOf(found);
}

/**
 * Refuses anything but a plain file of the directory itself: a run directory may have come with a repository, and a link in it would
 * make this program read, change or delete other files.
 *
 * @param inPlace its bytes are changed in place, so it may not have a second name (a hard link) either
 * @returns whether it exists
 * @throws StateError `directory.link` | `directory.kind`; an error of the file system
 */
export function checkFile(path: string, { inPlace = false } = {}): boolean {
  const found = statOf(path);
  if (found === undefined) return false;
  refuseOther(path, kindOf(found), 'file');
  if (inPlace && found.nlink > 1) throw manyNames(path, found.nlink);
  return true;
}

/** Refuses anything but a folder of the directory itself, like {@link checkFile}. */
export function checkFolder(path: string): boolean {
  const kind = kindAt(path);
  if (kind === 'nothing') return false;
  refuseOther(path, kind, 'folder');
  return true;
}

/**
 * @param kind the kind of the entry, from a listing of its folder or from {@link kindAt} @throws StateError as {@link
 * checkFile}
 */
export function refuseOther(path: string, kind: PathKind, expected: 'file' | 'folder'): void {
  if (kind === expected || kind === 'nothing') return;
  if (kind === 'link') {
    throw new StateError(
      'directory.link',
      `${path} is a link, and nothing that promptpress reads or writes in a run directory may be one.`,
      {
        hint:
          'If the directory came with a repository or an archive, do not trust it: the link would let files elsewhere be read or ' +
          'changed. Take another directory with --out, or put the file itself in the place of the link.',
      },
    );
  }
  const words = { file: 'a file', folder: 'a folder', other: 'neither a file nor a folder' };
  throw new StateError(
    'directory.kind',
    `${path} is ${words[kind]}; promptpress keeps a ${expected} of this name in a run directory.`,
    { hint: 'Move it away, or take another directory with --out.' },
  );
}

/** @throws StateError `directory.link` if the open file has a second name */
export function refuseSecondName(path: string, descriptor: number): void {
  const { nlink } = fstatSync(descriptor);
  if (nlink > 1) throw manyNames(path, nlink);
}

/**
 * Reads a text file of the directory itself, at most `maxBytes` of it: the rest is cut off.
 *
 * @returns undefined if it does not exist
 * @throws StateError as {@link checkFile}; an error of the file system
 */
export function readOwnText(path: string, maxBytes: number): string | undefined {
  if (!checkFile(path)) return undefined;
  const descriptor = openSync(path, constants.O_RDONLY | ownFile);
  try {
    const size = Math.min(fstatSync(descriptor).size, maxBytes);
    const bytes = Buffer.alloc(size);
    let at = 0;
    while (at < size) {
      const read = readSync(descriptor, bytes, at, size - at, at);
      if (read === 0) break;
      at += read;
    }
    return bytes.toString('utf8', 0, at);
  } finally {
    closeSync(descriptor);
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns the kind of an entry in a listing of its folder. */
export const kindOfEntry = (entry: Dirent): PathKind => kindOf(entry);

function kindOf(found: Pick<Stats, 'isSymbolicLink' | 'isFile' | 'isDirectory'>): PathKind {
  if (found.isSymbolicLink()) return 'link';
  if (found.isFile()) return 'file';
  return found.isDirectory() ? 'folder' : 'other';
}

const manyNames = (path: string, names: number): StateError =>
  new StateError(
    'directory.link',
    `${path} has ${names} names (hard links): what promptpress writes into it would appear under all of them.`,
    {
      hint: `Make it a file of its own, for example with: cp -p FILE FILE.own && mv FILE.own FILE. Or take another directory with --out.`,
    },
  );
