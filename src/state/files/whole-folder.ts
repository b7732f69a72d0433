import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMissing, syncFolderAsync } from './folders.ts';
import { unfinishedName } from './unfinished.ts';

/** Whether {@link writeWholeFolder} can make a folder: the name is free, or an empty folder has it. */
export async function isFreeFolder(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/**
 * Writes a folder completely or not at all: under another name, which changes at the end. If anything fails, it is removed; a killed
 * process leaves a folder that ends in `.part`.
 *
 * @param to absolute path that is an {@link isFreeFolder}
 * @param write fills the folder that it gets, which is not made yet; all bytes are durable when it returns
 * @param signal checked before the name changes
 * @throws the error of `write`; the error of the file system; the signal's reason
 */
export async function writeWholeFolder<T>(
  to: string,
  write: (folder: string) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  await mkdir(dirname(to), { recursive: true });
  const folder = unfinishedName(to);
  try {
    const result = await write(folder);
    signal.throwIfAborted();
    await syncFolderAsync(folder);
    await rmdir(to).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    await rename(folder, to);
    await syncFolderAsync(dirname(to));
    return result;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
