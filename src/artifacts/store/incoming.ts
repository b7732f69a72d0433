import { createHash, type Hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Descriptor } from '../../state/files/descriptor.ts';
import { onDisk } from '../failure.ts';
import type { IncomingArtifact } from './store.ts';

/** Largest file that is read back from memory when its size and end are checked, in bytes. */
const maxHeld = 256 * 1024;

const pieceBytes = 1024 * 1024;

/** The facts of a complete and closed file, for the code that gives it its name. */
export interface SealedFile {
  /** Absolute path. */
  readonly path: string;
  readonly size: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

/** Gives a file its final name, durably. @throws SaveError for any failure */
export type Placing = (file: SealedFile, name: string) => Promise<void>;

/** A file on the disk that is being received. */
export class IncomingFile implements IncomingArtifact {
  readonly #path: string;
  readonly #file: Descriptor;
  readonly #place: Placing;
  readonly #hash: Hash = createHash('sha256');
  /** Everything that was written, as long as it is small. */
  #held: Buffer[] | undefined = [];
  #size = 0;
  #open = true;
  #placed = false;

  constructor(path: string, file: Descriptor, place: Placing) {
    this.#path = path;
    this.#file = file;
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
    if (this.#size + chunk.length <= maxHeld) this.#held?.push(chunk);
    else this.#held = undefined;
    await onDisk(async () => {
      let written = 0;
      while (written < chunk.length) {
        const more = await this.#file.write(chunk, written, this.#size);
        written += more;
        this.#size += more;
      }
    });
  }

  /** Reads the bytes that the file has from the start, for its size and its hash. @throws SaveError */
  async take(): Promise<void> {
    this.#held = undefined;
    const piece = Buffer.allocUnsafe(pieceBytes);
    await onDisk(async () => {
      for (let more = -1; more !== 0; this.#size += more) {
        more = await this.#file.read(piece, this.#size);
        this.#hash.update(piece.subarray(0, more));
      }
    });
  }

  async read(position: number, length: number): Promise<Buffer> {
    if (this.#open && this.#held !== undefined) {
      if (this.#held.length !== 1) this.#held = [Buffer.concat(this.#held)];
      return (this.#held[0] as Buffer).subarray(position, position + length);
    }
    return onDisk(async () => {
      const buffer = Buffer.alloc(Math.max(0, Math.min(length, this.#size - position)));
      return buffer.subarray(0, await this.#file.read(buffer, position));
    });
  }

  async seal(): Promise<void> {
    if (!this.#open) return;
    await onDisk(async () => {
      await this.#file.sync();
      await this.#close();
    });
  }

  async finish(name: string): Promise<void> {
    await this.seal();
    const { size, sha256 } = this;
    await this.#place({ path: this.#path, size, sha256 }, name);
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
    this.#held = undefined;
    await this.#file.close();
  }
}
