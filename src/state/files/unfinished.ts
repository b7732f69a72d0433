import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFile } from './plain-path.ts';

/**
 * A name for a file that is being written, beside the name that the file will have. Nobody can foresee the name, and two
 * writers never have the same.
 */
export const unfinishedName = (name: string): string => `${name}.${randomUUID().slice(0, 8)}.part`;

/** The end of every such name: what a program that was killed while it wrote a file leaves. */
export const unfinishedFile = /\.[0-9a-f]{8}\.part$/;

/**
 * Removes unfinished files of killed writers from a folder. Only the holder of the run directory's lock calls this: only
 * `promptpress manifest` writes without the lock, and reports when its file is gone.
 *
 * @throws StateError where a link or a folder has such a name; the error of the file system
 */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (unfinishedFile.test(name) && checkFile(file)) await rm(file, { force: true });
  }
}
