import { type FileHandle, open } from 'node:fs/promises';

/** Bytes collected in memory before one write, because single rows and archive members are small. */
const gathered = 256 * 1024;

/** A new file that buffers small writes. */
export class GatheredFile {
  readonly #handle: FileHandle;
  readonly #held = Buffer.allocUnsafeSlow(gathered);
  #length = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Creates the file. @throws the error of the file system, also when the file exists */
  static async create(path: string): Promise<GatheredFile> {
    return new GatheredFile(await open(path, 'wx'));
  }

  async write(piece: string | Uint8Array): Promise<void> {
    let bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    while (bytes.length > 0) {
      const taken = bytes.subarray(0, gathered - this.#length);
      this.#held.set(taken, this.#length);
      this.#length += taken.length;
      bytes = bytes.subarray(taken.length);
      if (this.#length === gathered) await this.#flush();
    }
  }

  /** Writes the buffered bytes and closes the file; it is durable when this returns. */
  async finish(): Promise<void> {
    try {
      await this.#flush();
      await this.#handle.sync();
    } finally {
      await this.#handle.close();
    }
  }

  /** Closes the file without writing the buffered bytes. */
  close(): Promise<void> {
    return this.#handle.close();
  }

  async #flush(): Promise<void> {
    const bytes = this.#held.subarray(0, this.#length);
    this.#length = 0;
    await this.#handle.writeFile(bytes);
  }
}
