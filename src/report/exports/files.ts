import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import type { RowOutput } from '../../manifest/row.ts';

/** Files up to this size are read at once. Larger ones are read in chunks, twice: the first time for their hash. */
const wholeBytes = 16 * 1024 * 1024;

/** A file of the run whose bytes match the record of the run. */
export interface WholeFile {
  readonly bytes: number;
  /** Content of the file in chunks; can be read once. */
  pieces(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Why a row has no file: the file is missing, or its bytes differ from the record of the run. */
export type FileProblem = 'missing' | 'changed';

/**
 * Opens a file of a run after comparing it with the run's record. The caller closes it.
 *
 * @throws SaveError when the store fails
 */
export async function openWhole(
  artifacts: Pick<ArtifactStore, 'open'>,
  { file, bytes, sha256 }: RowOutput & { readonly file: string },
): Promise<WholeFile | FileProblem> {
  const found = await artifacts.open(file);
  if (!found.ok) return 'missing';
  try {
    if (found.bytes !== bytes) return await closing(found, 'changed');
    const hash = createHash('sha256');
    const read: Buffer[] = [];
    for await (const piece of found.pieces()) {
      hash.update(piece);
      if (bytes <= wholeBytes) read.push(piece);
    }
    if (hash.digest('hex') !== sha256) return await closing(found, 'changed');
    if (bytes > wholeBytes) return { bytes, pieces: () => found.pieces(), close: () => found.close() };
    await found.close();
    return { bytes, pieces: () => once(Buffer.concat(read)), close: async () => undefined };
  } catch (error) {
    await found.close();
    throw error;
  }
}

async function closing<T>(file: { close(): Promise<void> }, result: T): Promise<T> {
  await file.close();
  return result;
}

/** Yields a content as one piece. */
export async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

/** Copies files into a data set, each file once even if several rows name it. */
export class Copies {
  readonly #folder: string;
  readonly #folders = new Set<string>();

  /** @param folder a new folder that nothing else writes to */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns false if the file was copied before. @param name relative path, with `/` @throws the error of the file system */
  async copy(name: string, content: WholeFile): Promise<boolean> {
    const path = join(this.#folder, name);
    const folder = dirname(path);
    if (!this.#folders.has(folder)) {
      await mkdir(folder, { recursive: true });
      this.#folders.add(folder);
    }
    let handle: FileHandle;
    try {
      handle = await open(path, 'wx');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    }
    try {
      for await (const piece of content.pieces()) await handle.write(piece);
    } finally {
      await handle.close();
    }
    return true;
  }
}
