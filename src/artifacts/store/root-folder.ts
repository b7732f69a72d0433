import { rename } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fsCall } from '../../state/files/descriptor.ts';
import { syncFolderAsync } from '../../state/files/folders.ts';
import { checkFile, checkFolder } from '../../state/files/plain-path.ts';
import { onDisk } from '../failure.ts';
import { IncomingFolder, makeFolder } from './incoming-folder.ts';
import type { ArtifactRoot } from './names.ts';
import type { IncomingArtifact } from './store.ts';

/** A folder of artifacts in a run directory. */
export class RootFolder {
  readonly #directory: string;
  readonly #incoming: IncomingFolder;
  /** Folders whose own names are durable: a killed run may have made one without syncing its name. */
  readonly #durable = new Set<string>();

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
    return onDisk(async () => {
      const isPlain = checkFolder(dirname(folder)) && checkFolder(folder) && checkFile(path);
      return isPlain && (await unlinked(path));
    });
  }

  /** Cleans up, even if nothing was received. The folder of unfinished files stays while anything is in it. */
  async close(): Promise<void> {
    await this.#incoming.close();
  }

  async #place(path: string, name: string): Promise<void> {
    const target = join(this.#directory, name);
    const folder = dirname(target);
    // The unfinished file lies in the root: without the root the file is gone too.
    checkFolder(dirname(folder));
    const isNew = await makeFolder(folder);
    if (isNew || !this.#durable.has(folder)) {
      await syncFolderAsync(dirname(folder));
      this.#durable.add(folder);
    }
    // The target may be a link, or not a file.
    checkFile(target);
    await fsCall((done) => rename(path, target, done));
    await syncFolderAsync(folder);
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
