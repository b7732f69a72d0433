import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFolder, kindOfEntry, refuseOther } from '../../state/files/plain-path.ts';
import { artifactRoots } from './names.ts';

/** Folder within a root for files that are being received. */
export const incomingFolder = '.incoming';

/**
 * Refuses a run directory in which the folder of artifacts is a link or of the wrong kind; with `files`, also anything in that folder
 * that the store reads, replaces or removes.
 *
 * @throws StateError `directory.link` | `directory.kind`; the error of the file system
 */
export async function checkArtifactFolder(
  directory: string,
  { files }: { readonly files: boolean },
): Promise<void> {
  for (const name of artifactRoots) {
    const root = join(directory, name);
    if (checkFolder(root) && files) await checkRoot(root);
  }
}

/** Checks `<2 characters of the key>/<file>`, and the folder of files that are being received. */
async function checkRoot(root: string): Promise<void> {
  for (const entry of await readdir(root, { withFileTypes: true })) {
    if (entry.name.length !== 2 && entry.name !== incomingFolder) continue;
    const inner = join(root, entry.name);
    refuseOther(inner, kindOfEntry(entry), 'folder');
    for (const file of await readdir(inner, { withFileTypes: true }))
      if (!file.name.startsWith('.')) refuseOther(join(inner, file.name), kindOfEntry(file), 'file');
  }
}
