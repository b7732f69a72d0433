import { createHash } from 'node:crypto';

/** A store of the images and masks of requests, by their content. */
export interface ImageShelf {
  /** Stores bytes as durably as the tasks, and returns their SHA-256. */
  keep(bytes: Buffer): string;
  get(sha256: string): Buffer | undefined;
}

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A store in memory of at most `limit` bytes, beyond which the oldest images are dropped. */
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
