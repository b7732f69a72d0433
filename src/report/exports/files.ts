import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openArtifactFile } from '../../artifacts/store/open-file.ts';
import type { RowOutput } from '../../manifest/row.ts';

/** Files up to this size are read whole, larger ones piece by piece, twice: once for their hash. */
const wholeBytes = 16 * 1024 * 1024;

const pieceBytes = 1024 * 1024;

/** A file of the run that is what the run recorded. */
export interface WholeFile {
  readonly bytes: number;
  /** Its content, in pieces. Read once. */
  pieces(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Why a row has no file: it is gone, or no longer what the run recorded. */
export type FileProblem = 'missing' | 'changed';

/**
 * Opens a file of a run and compares it with what the run recorded: a data set has what its table says, or nothing. The caller closes it.
 *
 * @throws SaveError, where the disk fails
 */
export async function openWhole(
  directory: string,
  { file, bytes, sha256 }: RowOutput & { readonly file: string },
): Promise<WholeFile | FileProblem> {
  const found = await openArtifactFile(directory, file);
  if (!found.ok) return 'missing';
  const { handle } = found;
  try {
    if (found.bytes !== bytes) return await closing(handle, 'changed');
    if (bytes <= wholeBytes) {
      const content = await handle.readFile();
      const isSame =
        content.length === bytes && createHash('sha256').update(content).digest('hex') === sha256;
      await handle.close();
      if (!isSame) return 'changed';
      return { bytes, pieces: () => once(content), close: async () => undefined };
    }
    const hash = createHash('sha256');
    for await (const piece of piecesOf(handle)) hash.update(piece);
    if (hash.digest('hex') !== sha256) return await closing(handle, 'changed');
    return { bytes, pieces: () => piecesOf(handle), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function closing<T>(handle: FileHandle, result: T): Promise<T> {
  await handle.close();
  return result;
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

async function* piecesOf(handle: FileHandle): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, pieceBytes, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    // The reader may keep the piece while the next one is read.
    yield Buffer.from(buffer.subarray(0, bytesRead));
  }
}

/** Copies files into a data set, each once, whatever the number of rows that name it. */
export class Copies {
  readonly #folder: string;
  readonly #folders = new Set<string>();

  /** @param folder a new folder that nobody else writes to */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param name relative, with `/` @returns false where another row has brought it @throws the error of the file system */
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
      // Another row of the same job.
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

  /** Writes a small text beside a file. */
  async text(name: string, text: string): Promise<void> {
    const handle = await open(join(this.#folder, name), 'w');
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
  }
}
