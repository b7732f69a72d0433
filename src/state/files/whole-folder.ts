import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMissing, syncFolderAsync } from './folders.ts';
import { unfinishedName } from './unfinished.ts';

/** Whether a folder can be made by {@link writeWholeFolder}: nothing has its name, or an empty folder. */
export async function isFreeFolder(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/**
 * Writes a folder whole or not at all: beside its place, with the name changed at the end. What was begun is removed when anything fails; a
 * killed process leaves a folder that ends in `.part`.
 *
 * @param to absolute; {@link isFreeFolder} has said yes
 * @param write fills the folder that it gets, which is not made yet; each file's bytes are durable when it returns
 * @param signal looked at before the name changes
 * @throws whatever `write` throws; the error of the file system; the signal's reason
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
