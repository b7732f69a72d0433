import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { SaveError } from '../../artifacts/failure.ts';
import { ImageLibraryError, imageLibrary } from '../../artifacts/formats/image-library.ts';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import { KeySet } from '../../manifest/key-set.ts';
import type { RowOutput } from '../../manifest/row.ts';
import { checkFolder } from '../../state/files/plain-path.ts';
import { unfinishedName } from '../../state/files/unfinished.ts';
import { entriesOf } from './data-folder.ts';
import { drawSmall, maxBytes, type WithoutThumbnail } from './thumbnail.ts';

/** Name of a thumbnail; one being written ends in `.part`. */
const thumbnailFile = /^[0-9a-f]{64}\.webp(?:\.[0-9a-f]{8}\.part)?$/;
const thumbnailFolder = /^[0-9a-f]{2}$/;

/** Path relative to the folder of thumbnails. */
type ThumbnailName = `${string}.webp`;

const isName = (made: ThumbnailName | WithoutThumbnail): made is ThumbnailName => made.endsWith('.webp');

/** Whether a text is a SHA-256 in hexadecimal. */
export const isHash = (sha256: string | undefined): sha256 is string => /^[0-9a-f]{64}$/.test(sha256 ?? '');

export interface ThumbnailCounts {
  readonly made: number;
  readonly reused: number;
  /** Number of images without a thumbnail, by reason. */
  readonly without: Readonly<Partial<Record<WithoutThumbnail, number>>>;
}

/**
 * The thumbnails of a report, in files `<first 2 characters>/<SHA-256 of the image>.webp`. Equal images share one; existing files are
 * reused, so an interrupted report continues where it stopped. Each processor makes one at a time.
 */
export class Thumbnails {
  readonly #folder: string;
  readonly #artifacts: Pick<ArtifactStore, 'get'>;
  readonly #limit = pLimit({ concurrency: availableParallelism(), rejectOnClear: true });
  readonly #used = new KeySet();
  /** Thumbnails in progress, by SHA-256 of the image. */
  readonly #making = new Map<string, Promise<ThumbnailName | WithoutThumbnail>>();
  readonly #folders = new Set<string>();
  readonly #without: Partial<Record<WithoutThumbnail, number>> = {};
  #made = 0;
  #reused = 0;

  /** @param folder of the thumbnails; its parent exists */
  constructor(folder: string, artifacts: Pick<ArtifactStore, 'get'>) {
    this.#folder = folder;
    this.#artifacts = artifacts;
  }

  get counts(): ThumbnailCounts {
    return { made: this.#made, reused: this.#reused, without: { ...this.#without } };
  }

  /**
   * Returns the path of an image's thumbnail, relative to the folder of thumbnails; undefined if it has none.
   * @throws the error of the file system if it cannot be written
   */
  async of({ file, mime, sha256 }: RowOutput): Promise<string | undefined> {
    if (file === undefined || !mime.startsWith('image/') || !isHash(sha256)) return undefined;
    const made = this.#making.get(sha256) ?? this.#take(file, sha256);
    const thumbnail = await made;
    if (isName(thumbnail)) return thumbnail;
    this.#without[thumbnail] = (this.#without[thumbnail] ?? 0) + 1;
    return undefined;
  }

  /** Starts no more thumbnails and waits for those in progress. */
  async stop(): Promise<void> {
    const making = [...this.#making.values()];
    this.#limit.clearQueue();
    await Promise.allSettled(making);
  }

  /** Removes all thumbnails that were not requested, and unfinished files of killed processes. */
  async sweep(): Promise<void> {
    for (const name of await entriesOf(this.#folder)) {
      const folder = join(this.#folder, name);
      if (!thumbnailFolder.test(name) || !isFolder(folder)) continue;
      const files = await entriesOf(folder);
      let left = files.length;
      for (const file of files) {
        if (!thumbnailFile.test(file)) continue;
        if (file.endsWith('.webp') && this.#used.has(file.slice(0, 64))) continue;
        await rm(join(folder, file), { force: true });
        left -= 1;
      }
      if (left === 0) await rmdir(folder);
    }
    if (isFolder(this.#folder) && (await entriesOf(this.#folder)).length === 0) await rmdir(this.#folder);
  }

  #take(file: string, sha256: string): Promise<ThumbnailName | WithoutThumbnail> {
    const name: ThumbnailName = `${sha256.slice(0, 2)}/${sha256}.webp`;
    const isNew = this.#used.add(sha256);
    const found = lstatSync(join(this.#folder, name), { throwIfNoEntry: false });
    // A power failure may leave a file without content.
    if (found?.isFile() === true && found.size > 0) {
      if (isNew) this.#reused += 1;
      return Promise.resolve(name);
    }
    const making = this.#limit(() => this.#make(file, sha256, name)).finally(() =>
      this.#making.delete(sha256),
    );
    this.#making.set(sha256, making);
    return making;
  }

  async #make(file: string, sha256: string, name: ThumbnailName): Promise<ThumbnailName | WithoutThumbnail> {
    const image = await this.#read(file);
    if (typeof image === 'string') return image;
    if (createHash('sha256').update(image).digest('hex') !== sha256) return 'changed';
    if (!canDraw()) return 'no-library';
    const small = await drawSmall(image);
    if (typeof small === 'string') return small;
    await this.#makeFolder(name.slice(0, 2));
    const path = join(this.#folder, name);
    const unfinished = unfinishedName(path);
    try {
      await writeFile(unfinished, small, { flag: 'wx' });
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    this.#made += 1;
    return name;
  }

  async #read(file: string): Promise<Buffer | WithoutThumbnail> {
    try {
      const found = await this.#artifacts.get(file, maxBytes);
      if (found.ok) return found.bytes;
      return found.why === 'too-large' ? 'too-large' : 'missing';
    } catch (error) {
      // Prefers the cause, which names the file.
      throw error instanceof SaveError ? (error.failure.cause ?? error) : error;
    }
  }

  async #makeFolder(name: string): Promise<void> {
    if (this.#folders.has(name)) return;
    const folder = join(this.#folder, name);
    await mkdir(folder, { recursive: true });
    // A link would redirect the writes elsewhere.
    checkFolder(this.#folder);
    checkFolder(folder);
    this.#folders.add(name);
  }
}

/** Whether the image library is installed; sets it up for many small images. */
function canDraw(): boolean {
  try {
    const library = imageLibrary();
    // One thread per image: several threads for one small image only wait for each other.
    library.concurrency(1);
    library.cache(false);
    return true;
  } catch (error) {
    if (error instanceof ImageLibraryError) return false;
    throw error;
  }
}

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
