import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, resolve } from 'node:path';
import { StateError } from '../store.ts';

/**
 * File systems that exist only in the kernel, by the `f_type` that Linux reports (linux/magic.h): they keep no files. procfs answers as
 * if the parent folder were missing, and Node.js then tries to make all parents of the path (`recursive`) for ever.
 */
const kernelTypes: ReadonlyMap<number, string> = new Map([
  [0x9fa0, 'procfs'],
  [0x62656572, 'sysfs'],
  [0x1cd1, 'devpts'],
  [0x64626720, 'debugfs'],
  [0x74726163, 'tracefs'],
  [0x73636673, 'securityfs'],
  [0xf97cff8c, 'selinuxfs'],
  [0x62656570, 'configfs'],
  [0xcafe4a11, 'bpf'],
  [0x0027e0eb, 'cgroup'],
  [0x63677270, 'cgroup2'],
  [0x19800202, 'mqueue'],
  [0x42494e4d, 'binfmt_misc'],
  [0x6165676c, 'pstore'],
  [0xde5e81e4, 'efivarfs'],
]);

/**
 * Makes a folder and its parents, and makes their names durable. Does nothing if it exists. Each folder is tried once, so that no path
 * takes longer than its parts.
 *
 * @param mode of new folders; default 0o777, less the process's mask
 * @throws StateError `directory.kind` if something other than a folder is in the way, `directory.system` on a file system of the
 * kernel; an error of the file system
 */
export function makeFolders(folder: string, mode = 0o777): void {
  const missing: string[] = [];
  let at = resolve(folder);
  while (!isFolder(at, folder)) {
    missing.push(at);
    at = dirname(at);
  }
  if (missing.length === 0) return;
  refuseKernel(at, folder);
  for (const made of missing.toReversed()) {
    try {
      mkdirSync(made, { mode });
    } catch (error) {
      // Another process was quicker.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' && isFolder(made, folder)) continue;
      throw error;
    }
    syncIfReadable(dirname(made));
  }
}

/** Whether an error of the file system means that a path does not exist, also because a parent is a file. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** Makes the names in a folder survive a power cut. Windows cannot do it, and does not need it (NTFS logs them). */
export function syncFolder(folder: string): void {
  if (platform() === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Syncs a folder without blocking the event loop. Ignores file systems that cannot sync a folder. @throws the error of the file system */
export async function syncFolderAsync(folder: string): Promise<void> {
  if (platform() === 'win32') return;
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP'].includes(code)) throw error;
  }
}

/** Syncs a folder if possible: a folder of somebody else may be writable but not readable, or on a file system without sync. */
function syncIfReadable(folder: string): void {
  try {
    syncFolder(folder);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP'].includes(code)) throw error;
  }
}

/** @returns false if the path does not exist @throws StateError `directory.kind`; an error of the file system */
function isFolder(path: string, wanted: string): boolean {
  const found = statOf(path, statSync);
  if (found?.isDirectory() === true) return true;
  if (found === undefined && statOf(path, lstatSync) === undefined) return false;
  const what =
    found === undefined
      ? 'a link that leads nowhere'
      : found.isFile()
        ? 'a file, not a folder'
        : 'not a folder';
  throw new StateError(
    'directory.kind',
    path === resolve(wanted)
      ? `${path} is ${what}.`
      : `The folder ${wanted} cannot be made: ${path} is ${what}.`,
    { hint: 'Choose another directory, or move away what is there.' },
  );
}

function statOf(path: string, look: typeof statSync): Stats | undefined {
  try {
    return look(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function refuseKernel(at: string, wanted: string): void {
  if (platform() !== 'linux') return;
  // Some architectures sign-extend the type.
  const name = kernelTypes.get(statfsSync(at).type >>> 0);
  if (name === undefined) return;
  throw new StateError(
    'directory.system',
    `The folder ${wanted} cannot be made: ${at} belongs to the system (${name}), and cannot hold files.`,
    { hint: 'Choose a directory on a disk.' },
  );
}
