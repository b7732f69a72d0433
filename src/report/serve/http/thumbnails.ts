import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { ArtifactStore } from '../../../artifacts/store/store.ts';
import { checkFolder } from '../../../state/files/plain-path.ts';
import { drawSmall, maxBytes } from '../../gallery/thumbnail.ts';
import { isHash, Thumbnails } from '../../gallery/thumbnails.ts';
import type { PlacedResult } from '../index/result-index.ts';

const maxKept = 64 * 1024 * 1024;

/** Largest number of thumbnails in progress; others are refused while the user scrolls by. */
const maxWaiting = 500;

/** Returns the name under which the page requests a thumbnail; undefined if the result has none. */
export const thumbnailName = ({ id, mime, sha256, result }: PlacedResult): string | undefined =>
  result.file !== undefined && mime?.startsWith('image/') === true && isHash(sha256)
    ? `${id}-${sha256}.webp`
    : undefined;

/** Parses such a name into its id and hash. */
export function thumbnailOf(name: string): { readonly id: number; readonly sha256: string } | undefined {
  const [, id, sha256] = /^(\d{1,15})-([0-9a-f]{64})\.webp$/.exec(name) ?? [];
  return id === undefined || sha256 === undefined ? undefined : { id: Number(id), sha256 };
}

/** Makes thumbnails on request. They are stored in the report of the run if there is one; else the last used ones are kept in memory. */
export class LiveThumbnails {
  readonly #artifacts: Pick<ArtifactStore, 'get'>;
  readonly #report?: { readonly folder: string; readonly thumbnails: Thumbnails };
  readonly #limit = pLimit({
    concurrency: Math.max(1, availableParallelism() - 1),
    rejectOnClear: true,
  });
  /** Thumbnails by SHA-256 of the image; the one used last is at the end. */
  readonly #kept = new Map<string, Buffer>();
  readonly #making = new Map<string, Promise<Buffer | undefined>>();
  #bytes = 0;

  /** @param folder of the report's thumbnails */
  constructor(folder: string, artifacts: Pick<ArtifactStore, 'get'>) {
    this.#artifacts = artifacts;
    if (checkFolder(folder)) this.#report = { folder, thumbnails: new Thumbnails(folder, artifacts) };
  }

  /** Starts no more thumbnails and waits for those in progress. */
  async close(): Promise<void> {
    const making = [...this.#making.values()];
    this.#limit.clearQueue();
    await this.#report?.thumbnails.stop();
    await Promise.allSettled(making);
  }

  /** Returns the thumbnail of a result; undefined if it has none or too many are in progress. */
  async of({ result: { file }, mime = '', sha256 }: PlacedResult): Promise<Buffer | undefined> {
    if (file === undefined || !mime.startsWith('image/') || !isHash(sha256)) return undefined;
    const there = this.#kept.get(sha256);
    if (there !== undefined) {
      this.#keep(sha256, there);
      return there;
    }
    const making = this.#making.get(sha256);
    if (making !== undefined) return await making;
    if (this.#making.size >= maxWaiting) return undefined;
    const made = (this.#report === undefined ? this.#draw(file, sha256) : this.#take(file, mime, sha256))
      // A broken image must not break the page.
      .catch(() => undefined)
      .finally(() => this.#making.delete(sha256));
    this.#making.set(sha256, made);
    return await made;
  }

  async #draw(file: string, sha256: string): Promise<Buffer | undefined> {
    return await this.#limit(async () => {
      const found = await this.#artifacts.get(file, maxBytes);
      if (!found.ok || createHash('sha256').update(found.bytes).digest('hex') !== sha256) return undefined;
      const small = await drawSmall(found.bytes);
      if (typeof small === 'string') return undefined;
      this.#keep(sha256, small);
      return small;
    });
  }

  async #take(file: string, mime: string, sha256: string): Promise<Buffer | undefined> {
    const { folder, thumbnails } = this.#report ?? {};
    const name = await thumbnails?.of({ file, mime, sha256, output: 1, bytes: 0 });
    return folder === undefined || name === undefined ? undefined : await readFile(join(folder, name));
  }

  #keep(sha256: string, small: Buffer): void {
    const before = this.#kept.get(sha256);
    this.#bytes += small.length - (before?.length ?? 0);
    this.#kept.delete(sha256);
    this.#kept.set(sha256, small);
    for (const [oldest, bytes] of this.#kept) {
      if (this.#bytes <= maxKept) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }
}
