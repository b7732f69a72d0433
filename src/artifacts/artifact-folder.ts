import { createHash, type Hash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolders, syncFolderAsync } from '../state/files/folders.ts';
import { checkFile, checkFolder } from '../state/files/plain-path.ts';
import { onDisk } from './failure.ts';
import type { Bytes } from './formats/format.ts';

/** The folders of a run directory that artifacts lie in. */
export type ArtifactRoot = 'images' | 'text' | 'video';

/** A file on its way into the folder. */
export interface IncomingFile extends Bytes {
  readonly sha256: string;
  write(chunk: Buffer): Promise<void>;
  /** Nothing more follows: what is written is durable, and no descriptor is held. */
  seal(): Promise<void>;
  /** Gives the file its final name, durably; a file that has the name is replaced whole. */
  finish(name: string): Promise<void>;
  /** Removes the file unless it is finished. */
  discard(): Promise<void>;
}

/** One such folder of a run directory. Names are relative to the run directory, with `/`. */
export class ArtifactFolder {
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
    this.#incoming = join(directory, root, '.incoming');
  }

  /** Opens a file for what is about to arrive. `stem` is the final name without folder and extension. */
  async receive(stem: string): Promise<IncomingFile> {
    this.#prepared ??= this.#prepare();
    try {
      await this.#prepared;
    } catch (failure) {
      this.#prepared = undefined;
      throw failure;
    }
    // Two tries of one job must not write one file, and nobody can foresee the name.
    const path = join(this.#incoming, `${stem}.${randomBytes(4).toString('hex')}.part`);
    return onDisk(async () => {
      const handle = await open(path, 'wx+');
      return new Incoming(path, handle, (name) => this.#place(path, name));
    });
  }

  /**
   * Removes files that earlier tries left under other names: the image has come in another format now.
   * @returns whether any of them was there
   */
  async remove(names: readonly string[]): Promise<boolean> {
    let found = false;
    await onDisk(async () => {
      for (const name of names) {
        const path = join(this.#directory, name);
        if (this.#isPlain(path) && (await unlinked(path))) found = true;
      }
    });
    return found;
  }

  /** Tidies up, also where nothing has arrived. The folder of unfinished files stays while there is something in it. */
  async close(): Promise<void> {
    const folder = this.#incoming;
    try {
      if (!checkFolder(dirname(folder)) || !checkFolder(folder)) return;
      // A run that was killed may have left it, and this one may have had nothing to bring in.
      if (this.#prepared === undefined) await removeUnfinished(folder);
      await rmdir(folder);
    } catch {
      // Not empty, or gone: neither matters to anybody.
    }
  }

  /** What a killed run was receiving is of no use: it begins anew. */
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
    // Made each time: somebody may have removed it since.
    const rootMade = await makeFolder(dirname(folder));
    const made = await makeFolder(folder);
    if (rootMade) await syncFolderAsync(this.#directory);
    if (made || !this.#synced.has(folder)) {
      await syncFolderAsync(dirname(folder));
      this.#synced.add(folder);
    }
    checkFile(target);
    await rename(path, target);
    await syncFolderAsync(folder);
  }

  /** Whether a file is there, itself and on the way to it no link. */
  #isPlain(path: string): boolean {
    const folder = dirname(path);
    return checkFolder(dirname(folder)) && checkFolder(folder) && checkFile(path);
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

class Incoming implements IncomingFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #place: (name: string) => Promise<void>;
  readonly #hash: Hash = createHash('sha256');
  #size = 0;
  #open = true;
  #placed = false;

  constructor(path: string, handle: FileHandle, place: (name: string) => Promise<void>) {
    this.#path = path;
    this.#handle = handle;
    this.#place = place;
  }

  get size(): number {
    return this.#size;
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  async write(chunk: Buffer): Promise<void> {
    this.#hash.update(chunk);
    await onDisk(async () => {
      let written = 0;
      while (written < chunk.length) {
        const { bytesWritten } = await this.#handle.write(chunk, written, chunk.length - written, this.#size);
        written += bytesWritten;
        this.#size += bytesWritten;
      }
    });
  }

  async read(position: number, length: number): Promise<Buffer> {
    return onDisk(async () => {
      const buffer = Buffer.alloc(Math.max(0, Math.min(length, this.#size - position)));
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, position);
      return buffer.subarray(0, bytesRead);
    });
  }

  async seal(): Promise<void> {
    if (!this.#open) return;
    await onDisk(async () => {
      await this.#handle.sync();
      await this.#close();
    });
  }

  async finish(name: string): Promise<void> {
    await this.seal();
    await onDisk(() => this.#place(name));
    this.#placed = true;
  }

  async discard(): Promise<void> {
    if (this.#placed) return;
    await onDisk(async () => {
      await this.#close();
      await rm(this.#path, { force: true });
    });
  }

  async #close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#handle.close();
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

async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith('.part')) await rm(join(folder, name), { force: true });
  }
}

/**
 * Where the files of a job lie: never prompt text, never a cell's number, so that a file keeps its name
 * when the matrix is edited. Relative to the run directory, without extension.
 */
export const imagePath = (key: string, output: number): string =>
  `images/${key.slice(0, 2)}/${key}-${output}`;

export const videoPath = (key: string, output: number): string => `video/${key.slice(0, 2)}/${key}-${output}`;

export const textPath = (key: string, output: number): string => `text/${key.slice(0, 2)}/${key}-${output}`;

/** The service's whole answer; with a round, that of a finished round of function calls, from 1. */
export const answerPath = (key: string, round?: number): string =>
  `text/${key.slice(0, 2)}/${key}.answer${round === undefined ? '' : `.${round}`}.json`;

/** Keys are hashes; one that could lead out of the folder is not one of ours. */
export function checkName(key: string, output: number): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(key) || !Number.isSafeInteger(output) || output < 1) {
    throw new Error(`Internal error: ${JSON.stringify(key)}, output ${output}, cannot be a file name.`);
  }
}
