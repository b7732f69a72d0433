import { type FileHandle, open } from 'node:fs/promises';

/** Bytes that are gathered before they are written: a row or a member alone is too small for a call of its own. */
const gathered = 256 * 1024;

/** A new file that is written in many small pieces, one after another. */
export class GatheredFile {
  readonly #handle: FileHandle;
  readonly #held = Buffer.allocUnsafeSlow(gathered);
  #length = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** @throws the error of the file system; a file of the name must not be there */
  static async create(path: string): Promise<GatheredFile> {
    return new GatheredFile(await open(path, 'wx'));
  }

  /** Text is written as UTF-8. */
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

  /** Durable when it returns. */
  async finish(): Promise<void> {
    try {
      await this.#flush();
      await this.#handle.sync();
    } finally {
      await this.#handle.close();
    }
  }

  /** Leaves the file as far as it was written. */
  close(): Promise<void> {
    return this.#handle.close();
  }

  async #flush(): Promise<void> {
    const bytes = this.#held.subarray(0, this.#length);
    this.#length = 0;
    await this.#handle.writeFile(bytes);
  }
}
