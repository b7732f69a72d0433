import { createHash } from 'node:crypto';

/** Keeps the images and masks that were sent, by their content. */
export interface ImageShelf {
  /** Keeps the bytes as safely as the tasks; their SHA-256. */
  keep(bytes: Buffer): string;
  get(sha256: string): Buffer | undefined;
}

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A shelf in memory, bounded: beyond `limit` bytes the oldest images are forgotten. */
export class MemoryShelf implements ImageShelf {
  readonly #images = new Map<string, Buffer>();
  readonly #limit: number;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  keep(bytes: Buffer): string {
    const sha256 = sha256Of(bytes);
    if (this.#images.delete(sha256)) this.#bytes -= bytes.length;
    this.#images.set(sha256, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#images) {
      if (this.#bytes <= this.#limit || oldest === sha256) break;
      this.#images.delete(oldest);
      this.#bytes -= length;
    }
    return sha256;
  }

  get(sha256: string): Buffer | undefined {
    return this.#images.get(sha256);
  }
}
