import type { FilePort } from '../../src/pipeline/files.ts';
import { memoryListing } from './listing-port.ts';

/** A file port over texts or bytes in memory, delivered in chunks of a given size; counts what was read. */
export class MemoryFiles implements FilePort {
  readonly root = '/files';
  /** Bytes handed out, and files opened, since the beginning. */
  bytesRead = 0;
  opened = 0;
  readonly contents = new Map<string, Buffer>();
  readonly #chunkBytes: number;

  constructor(contents: Readonly<Record<string, string | Uint8Array>> = {}, chunkBytes = 64 * 1024) {
    this.#chunkBytes = chunkBytes;
    for (const [file, content] of Object.entries(contents)) this.contents.set(file, Buffer.from(content));
  }

  async *read(file: string): AsyncGenerator<Uint8Array, void, undefined> {
    const content = this.contents.get(file);
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${file}`), { code: 'ENOENT' });
    this.opened++;
    for (let from = 0; from < content.length; from += this.#chunkBytes) {
      const chunk = content.subarray(from, from + this.#chunkBytes);
      this.bytesRead += chunk.length;
      yield chunk;
    }
  }

  async *list(listing: string): AsyncGenerator<Uint8Array, void, undefined> {
    this.opened++;
    yield* memoryListing(this, () => this.contents.keys())(listing);
  }

  async facts(file: string): Promise<{ kind: 'file'; realPath: string; bytes: number } | undefined> {
    const content = this.contents.get(file);
    return content && { kind: 'file', realPath: file, bytes: content.length };
  }
}
