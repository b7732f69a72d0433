import { mkdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Descriptor } from '../../state/files/descriptor.ts';
import { makeFolders, syncFolderAsync } from '../../state/files/folders.ts';
import { checkFolder } from '../../state/files/plain-path.ts';
import { removeUnfinished, unfinishedName } from '../../state/files/unfinished.ts';
import { onDisk } from '../failure.ts';
import { incomingFolder } from './check.ts';
import { IncomingFile, type Placing } from './incoming.ts';
import type { ArtifactRoot } from './names.ts';
import type { IncomingArtifact } from './store.ts';

/** The folder of files that are being received for one root: in the run directory, wherever they go from there. */
export class IncomingFolder {
  /**
   * The folder lies in the root, so that the last rename stays on one file system; it is hidden, so that programs that read the root as
   * a data set ignore it.
   */
  readonly #folder: string;
  readonly #directory: string;
  readonly #isShared: boolean;
  #prepared: Promise<void> | undefined;

  /**
   * @param directory the run directory; its lock is held
   * @param isShared other processes receive files in it too: unfinished files may be theirs
   */
  constructor(directory: string, root: ArtifactRoot, isShared = false) {
    this.#directory = directory;
    this.#isShared = isShared;
    this.#folder = join(directory, root, incomingFolder);
  }

  /**
   * @param place gives a sealed file its name
   * @param like a local file whose bytes it has from the start; nothing is written to it then
   */
  async receive(stem: string, place: Placing, like?: string): Promise<IncomingArtifact> {
    this.#prepared ??= this.#prepare();
    try {
      await this.#prepared;
    } catch (failure) {
      this.#prepared = undefined;
      throw failure;
    }
    // Two tries of one job must not write one file.
    const path = join(this.#folder, unfinishedName(stem));
    if (like === undefined)
      return onDisk(async () => new IncomingFile(path, await Descriptor.make(path), place));
    const file = await onDisk(async () => new IncomingFile(path, await Descriptor.copy(like, path), place));
    await file.take();
    return file;
  }

  /** Cleans up, even if nothing was received. The folder stays while anything is in it. */
  async close(): Promise<void> {
    if (this.#isShared) return;
    const folder = this.#folder;
    try {
      if (!checkFolder(dirname(folder)) || !checkFolder(folder)) return;
      // A killed run may have left files, and this run may have received none.
      if (this.#prepared === undefined) await removeUnfinished(folder);
      await rmdir(folder);
    } catch {
      // Not empty, or gone: both are fine.
    }
  }

  /** Removes files that a killed run was receiving: they are received again from the beginning. */
  async #prepare(): Promise<void> {
    await onDisk(async () => {
      const folder = this.#folder;
      makeFolders(this.#directory);
      for (const made of [dirname(folder), folder]) await makeFolder(made);
      if (!this.#isShared) await removeUnfinished(folder);
      for (const made of [dirname(folder), this.#directory]) await syncFolderAsync(made);
    });
  }
}

/**
 * Makes a folder in an existing one. Refuses a link with its name, which leads out of the run directory.
 * @returns whether it was made
 * @throws StateError; an error of the file system
 */
export async function makeFolder(folder: string): Promise<boolean> {
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
