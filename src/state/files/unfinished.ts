import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFile } from './plain-path.ts';

/** Returns the name for a file that is being written, beside its final name. It is unpredictable, and two writers never have the same. */
export const unfinishedName = (name: string): string => `${name}.${randomUUID().slice(0, 8)}.part`;

/** The end of every such name; killed programs leave such files. */
export const unfinishedFile = /\.[0-9a-f]{8}\.part$/;

/**
 * Removes unfinished files of killed writers from a folder. Only the holder of the run directory's lock calls this. Only `promptpress
 * manifest` writes without the lock, and it reports that its file is gone.
 *
 * @throws StateError if a link or a folder has such a name; the error of the file system
 */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (unfinishedFile.test(name) && checkFile(file)) await rm(file, { force: true });
  }
}
