import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, realpath, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isMissing, makeFolders, syncFolderAsync } from '../../state/files/folders.ts';
import { readPlainFile } from '../../state/files/plain-file.ts';
import { checkFile, checkFolder } from '../../state/files/plain-path.ts';
import { removeUnfinished, unfinishedName } from '../../state/files/unfinished.ts';
import { onDisk } from '../failure.ts';
import { incomingFolder } from './check.ts';
import { isAboutFile } from './file-error.ts';
import { IncomingFile } from './incoming.ts';
import { type ArtifactRoot, artifactRoots, isArtifactName } from './names.ts';
import type { ArtifactStore, FoundArtifact, IncomingArtifact } from './store.ts';

/**
 * The artifacts of a run directory, as files in it: `images/<first 2 characters of key>/<key>-<output>.<extension>`, and so in
 * `text/` and `video/`. A file has its name when it is whole and on the disk, and not before: it is written under another name,
 * synced, renamed, and its folder is synced.
 *
 * @param directory the run directory; who writes holds its lock
 */
export function openArtifactFolder(directory: string): ArtifactStore {
  const roots = new Map(artifactRoots.map((root) => [root, new RootFolder(directory, root)]));
  const rootOf = (name: string): RootFolder => {
    // A name comes from a job's key, or from what the program itself looks for.
    if (!isArtifactName(name))
      throw new Error(`Internal error: no artifact is called ${JSON.stringify(name)}.`);
    return roots.get(name.slice(0, name.indexOf('/')) as ArtifactRoot) as RootFolder;
  };
  return {
    put: async (path) => await rootOf(path).receive(basename(path)),
    get: async (name, mostBytes) => await readArtifactFile(directory, name, mostBytes),
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

/** One of the folders in a run directory that artifacts lie in. */
class RootFolder {
  readonly #directory: string;
  /**
   * Where unfinished files lie: within the folder, so that the last rename stays on one file system wherever it
   * leads; hidden, so that programs that read the folder as a data set pass it over.
   */
  readonly #incoming: string;
  /** Folders whose names are durable: no more than there are two-character beginnings of keys. */
  readonly #synced = new Set<string>();
  #prepared: Promise<void> | undefined;

  constructor(directory: string, root: ArtifactRoot) {
    this.#directory = directory;
    this.#incoming = join(directory, root, incomingFolder);
  }

  async receive(stem: string): Promise<IncomingArtifact> {
    this.#prepared ??= this.#prepare();
    try {
      await this.#prepared;
    } catch (failure) {
      this.#prepared = undefined;
      throw failure;
    }
    // Two tries of one job must not write one file.
    const path = join(this.#incoming, unfinishedName(stem));
    return onDisk(async () => {
      const handle = await open(path, 'wx+');
      return new IncomingFile(path, handle, (name) => this.#place(path, name));
    });
  }

  /** @returns whether the file was there, itself and on the way to it no link */
  async remove(name: string): Promise<boolean> {
    return onDisk(async () => {
      const path = join(this.#directory, name);
      const folder = dirname(path);
      const isPlain = checkFolder(dirname(folder)) && checkFolder(folder) && checkFile(path);
      return isPlain && (await unlinked(path));
    });
  }

  /** Tidies up, also where nothing was received. The folder of unfinished files stays while there is something in it. */
  async close(): Promise<void> {
    const folder = this.#incoming;
    try {
      if (!checkFolder(dirname(folder)) || !checkFolder(folder)) return;
      // A run that was killed may have left files, and this one may have had nothing to receive.
      if (this.#prepared === undefined) await removeUnfinished(folder);
      await rmdir(folder);
    } catch {
      // Not empty, or gone: neither matters to anybody.
    }
  }

  /** What a killed run was receiving is of no use: it is received again from its beginning. */
  async #prepare(): Promise<void> {
    await onDisk(async () => {
      const folder = this.#incoming;
      makeFolders(this.#directory);
      for (const made of [dirname(folder), folder]) await makeFolder(made);
      await removeUnfinished(folder);
      for (const made of [dirname(folder), this.#directory]) await syncFolderAsync(made);
    });
  }

  async #place(path: string, name: string): Promise<void> {
    const target = join(this.#directory, name);
    const folder = dirname(target);
    // The unfinished file lies in the root: where that is gone, so is the file.
    checkFolder(dirname(folder));
    // Made each time: somebody may have removed it since.
    const made = await makeFolder(folder);
    if (made || !this.#synced.has(folder)) {
      await syncFolderAsync(dirname(folder));
      this.#synced.add(folder);
    }
    checkFile(target);
    await rename(path, target);
    await syncFolderAsync(folder);
  }
}

/**
 * Makes a folder in one that is there; a link that has its name leads out of the run directory, and is refused.
 * @returns whether it was made
 * @throws StateError; an error of the file system
 */
async function makeFolder(folder: string): Promise<boolean> {
  if (checkFolder(folder)) return false;
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    // Another file of the run was quicker.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && checkFolder(folder)) return false;
    throw error;
  }
}

async function unlinked(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function readArtifactFile(directory: string, name: string, mostBytes: number): Promise<FoundArtifact> {
  if (!isArtifactName(name)) return { ok: false, why: 'outside' };
  return onDisk(async () => {
    try {
      const path = join(await realpath(directory), name);
      if ((await realpath(path)) !== path) return { ok: false, why: 'outside' };
      const read = await readPlainFile(path, mostBytes);
      if (read.ok) return read;
      return { ok: false, why: read.why === 'too-large' ? 'too-large' : 'missing' };
    } catch (cause) {
      if (isAboutFile(cause)) return { ok: false, why: 'missing', cause };
      throw cause;
    }
  });
}

/** Links are passed over: no artifact is one. */
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

/** Whole names sort a folder with the slash behind it. */
const inOrder = (entry: Dirent): string => (entry.isDirectory() ? `${entry.name}/` : entry.name);

/** In the order that whole names have. */
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
