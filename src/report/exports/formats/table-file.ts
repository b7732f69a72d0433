import { type FileHandle, open } from 'node:fs/promises';

/** Text that is gathered before it is written. */
const gathered = 256 * 1024;

/** A text file that is written piece by piece. */
export class TableFile {
  readonly #handle: FileHandle;
  #held: string[] = [];
  #length = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** @throws the error of the file system; a file of the name must not be there */
  static async create(path: string): Promise<TableFile> {
    return new TableFile(await open(path, 'wx'));
  }

  async write(text: string): Promise<void> {
    this.#held.push(text);
    this.#length += text.length;
    if (this.#length >= gathered) await this.#flush();
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

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #flush(): Promise<void> {
    const text = this.#held.join('');
    this.#held = [];
    this.#length = 0;
    await this.#handle.writeFile(text);
  }
}
