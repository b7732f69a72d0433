import type { PageDetail } from '../../results/wire.ts';

/** Chunks of details that are kept: going to and fro reads no file twice, and texts of any number do not fill the memory. */
const kept = 6;

/** The details of results, a chunk of them at a time, read when one of them is asked for. */
export class Details {
  readonly #load: (chunk: number) => Promise<void>;
  readonly #perChunk: number;
  readonly #chunks = new Map<number, readonly PageDetail[]>();
  readonly #loading = new Map<number, Promise<void>>();

  constructor(perChunk: number, load: (chunk: number) => Promise<void>) {
    this.#perChunk = perChunk;
    this.#load = load;
  }

  chunkOf(at: number): number {
    return Math.floor(at / this.#perChunk);
  }

  /** What the script of a chunk brings. */
  take(chunk: number, details: readonly PageDetail[]): void {
    this.#chunks.delete(chunk);
    this.#chunks.set(chunk, details);
    for (const oldest of this.#chunks.keys()) {
      if (this.#chunks.size <= kept) break;
      this.#chunks.delete(oldest);
    }
  }

  /** The details of a chunk; empty where its file cannot be read. */
  async chunk(chunk: number): Promise<readonly PageDetail[]> {
    const known = this.#chunks.get(chunk);
    if (known) {
      this.take(chunk, known);
      return known;
    }
    const loading = this.#loading.get(chunk) ?? this.#load(chunk);
    this.#loading.set(chunk, loading);
    try {
      await loading;
    } finally {
      this.#loading.delete(chunk);
    }
    return this.#chunks.get(chunk) ?? [];
  }

  async detail(at: number): Promise<PageDetail | undefined> {
    const chunk = this.chunkOf(at);
    return (await this.chunk(chunk))[at - chunk * this.#perChunk];
  }
}
