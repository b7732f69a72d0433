import { rename } from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fsCall } from '../../state/files/descriptor.ts';
import { checkFile, checkFolder } from '../../state/files/plain-path.ts';
import { onDisk } from '../failure.ts';
import { HeldFolder } from './held-folder.ts';
import { IncomingFolder, makeFolder } from './incoming-folder.ts';
import { NameMarks } from './name-marks.ts';
import type { ArtifactRoot } from './names.ts';
import type { IncomingArtifact } from './store.ts';

/** Most folders that are held open: as many as there are two-character beginnings of a hash in hex. */
const maxHeld = 256;

/** A folder of artifacts in a run directory. */
export class RootFolder {
  readonly #directory: string;
  readonly #incoming: IncomingFolder;
  /** Folders in which files were placed, by path. */
  readonly #held = new Map<string, HeldFolder>();
  readonly #opening = new Map<string, Promise<HeldFolder>>();
  /** Folders of which every name is in {@link #names}. */
  readonly #listed = new Set<string>();
  /** Names of files that may be there, of earlier runs and this one, relative to the run directory. */
  readonly #names = new NameMarks();
  /** The root itself, once a folder was made in it. */
  #root: HeldFolder | undefined;
  #isClosed = false;

  constructor(directory: string, root: ArtifactRoot, isShared: boolean) {
    this.#directory = directory;
    this.#incoming = new IncomingFolder(directory, root, isShared);
  }

  async receive(stem: string, like?: string): Promise<IncomingArtifact> {
    return await this.#incoming.receive(
      stem,
      (file, name) => onDisk(() => this.#place(file.path, name)),
      like,
    );
  }

  /** @returns whether the file was there, without any link on its path */
  async remove(name: string): Promise<boolean> {
    const path = join(this.#directory, name);
    const folder = dirname(path);
    if (this.#listed.has(folder) && !this.#names.mayHave(name)) return false;
    return onDisk(async () => {
      const isPlain = checkFolder(dirname(folder)) && checkFolder(folder) && checkFile(path);
      return isPlain && (await unlinked(path));
    });
  }

  /** Cleans up, even if nothing was received. The folder of unfinished files stays while anything is in it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening.values());
    for (const [path, folder] of this.#held) this.#retire(path, folder);
    this.#root?.retire();
    this.#root = undefined;
    await this.#incoming.close();
  }

  async #place(path: string, name: string): Promise<void> {
    const target = join(this.#directory, name);
    const folder = await this.#hold(dirname(target));
    try {
      // The target may be a link, or not a file.
      if (this.#names.mayHave(name)) checkFile(target);
      this.#names.add(name);
      await fsCall((done) => rename(path, target, done));
      await folder.sync();
    } finally {
      folder.leave();
    }
  }

  /** Enters a folder, and makes it if it is missing: somebody may have removed it. */
  async #hold(path: string): Promise<HeldFolder> {
    for (;;) {
      const folder = this.#held.get(path) ?? (await this.#open(path));
      if (folder.isInPlace) {
        folder.enter();
        // The file was finished after the store was closed.
        if (this.#isClosed) this.#retire(path, folder);
        return folder;
      }
      this.#retire(path, folder);
    }
  }

  /** Opens a folder. Callers for the same folder meanwhile share the result. */
  #open(path: string): Promise<HeldFolder> {
    const opening = this.#opening.get(path) ?? this.#openOnce(path).finally(() => this.#opening.delete(path));
    this.#opening.set(path, opening);
    return opening;
  }

  async #openOnce(path: string): Promise<HeldFolder> {
    const root = dirname(path);
    this.#listed.delete(path);
    // The unfinished file lies in the root: without the root the file is gone too.
    checkFolder(root);
    const isNew = await makeFolder(path);
    // A killed run may have made the folder without syncing its name.
    await this.#syncRoot(root);
    const names = isNew ? [] : await readdir(path);
    for (const name of names) this.#names.add(`${basename(root)}/${basename(path)}/${name}`);
    this.#listed.add(path);
    const [oldest] = this.#held;
    if (this.#held.size >= maxHeld && oldest !== undefined) this.#retire(...oldest);
    const folder = new HeldFolder(path);
    this.#held.set(path, folder);
    return folder;
  }

  async #syncRoot(path: string): Promise<void> {
    if (this.#root?.isInPlace !== true) {
      this.#root?.retire();
      this.#root = new HeldFolder(path);
    }
    const root = this.#root;
    root.enter();
    try {
      await root.sync();
    } finally {
      root.leave();
    }
  }

  /** Closes a folder once nobody uses it, and forgets it. */
  #retire(path: string, folder: HeldFolder): void {
    if (this.#held.get(path) === folder) this.#held.delete(path);
    folder.retire();
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
