import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isMissing } from '../../state/files/folders.ts';
import { readPlainFile } from '../../state/files/plain-file.ts';
import { checkFolder } from '../../state/files/plain-path.ts';
import { onDisk } from '../failure.ts';
import { isAboutFile } from './file-error.ts';
import { type ArtifactRoot, artifactRoots, isArtifactName } from './names.ts';
import { openArtifactFile } from './open-file.ts';
import { RootFolder } from './root-folder.ts';
import type { ArtifactStore, FoundArtifact } from './store.ts';

/**
 * Opens the artifacts of a run directory, files in it: `images/<first 2 characters of key>/<key>-<output>.<extension>`, and the same in
 * `video/`. A file gets its name only when it is complete and on the disk: it is written under another name, synced, renamed, and its
 * folder is synced.
 *
 * @param directory the run directory; a writer holds its lock
 * @param isShared several processes write into the directory: unfinished files may belong to another, and are left alone
 */
export function openArtifactFolder(directory: string, isShared = false): ArtifactStore {
  const roots = new Map(artifactRoots.map((root) => [root, new RootFolder(directory, root, isShared)]));
  const rootOf = (name: string): RootFolder => {
    // A name comes from a job's key, or from a search of the program itself.
    if (!isArtifactName(name))
      throw new Error(`Internal error: no artifact is called ${JSON.stringify(name)}.`);
    return roots.get(name.slice(0, name.indexOf('/')) as ArtifactRoot) as RootFolder;
  };
  return {
    put: async (path, like) => await rootOf(path).receive(basename(path), like),
    get: async (name, maxBytes) => await readArtifactFile(directory, name, maxBytes),
    open: (name) => openArtifactFile(directory, name),
    list: (prefix) => listFiles(directory, prefix),
    remove: async (names) => {
      let found = false;
      for (const name of names) if (await rootOf(name).remove(name)) found = true;
      return found;
    },
    close: async () => {
      for (const root of roots.values()) await root.close();
    },
  };
}

async function readArtifactFile(directory: string, name: string, maxBytes: number): Promise<FoundArtifact> {
  if (!isArtifactName(name)) return { ok: false, why: 'outside' };
  return onDisk(async () => {
    try {
      const path = join(await realpath(directory), name);
      if ((await realpath(path)) !== path) return { ok: false, why: 'outside' };
      const read = await readPlainFile(path, maxBytes);
      if (read.ok) return read;
      return { ok: false, why: read.why === 'too-large' ? 'too-large' : 'missing' };
    } catch (cause) {
      if (isAboutFile(cause)) return { ok: false, why: 'missing', cause };
      throw cause;
    }
  });
}

/** Lists files, without links: no artifact is a link. */
async function* listFiles(directory: string, prefix: string): AsyncGenerator<string> {
  for (const root of artifactRoots) {
    if (!mayBegin(`${root}/`, prefix)) continue;
    for (const folder of await entriesOf(join(directory, root), (entry) => entry.isDirectory())) {
      if (!mayBegin(`${root}/${folder}/`, prefix)) continue;
      for (const file of await entriesOf(join(directory, root, folder), (entry) => entry.isFile())) {
        const name = `${root}/${folder}/${file}`;
        if (name.startsWith(prefix) && isArtifactName(name)) yield name;
      }
    }
  }
}

const mayBegin = (folder: string, prefix: string): boolean =>
  folder.startsWith(prefix) || prefix.startsWith(folder);

/** Returns the sort key of an entry: whole names sort a folder with the slash behind it. */
const inOrder = (entry: Dirent): string => (entry.isDirectory() ? `${entry.name}/` : entry.name);

/** Lists the entries of a folder in the order of whole names. */
async function entriesOf(folder: string, isWanted: (entry: Dirent) => boolean): Promise<readonly string[]> {
  return onDisk(async () => {
    try {
      if (!checkFolder(folder)) return [];
      const entries = await readdir(folder, { withFileTypes: true });
      const wanted = entries.filter(isWanted);
      return wanted.sort((a, b) => (inOrder(a) < inOrder(b) ? -1 : 1)).map(({ name }) => name);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  });
}
