import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import { SaveError } from '../../artifacts/failure.ts';
import { ImageLibraryError, imageLibrary } from '../../artifacts/formats/image-library.ts';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import { KeySet } from '../../manifest/key-set.ts';
import type { RowOutput } from '../../manifest/row.ts';
import { isMissing } from '../../state/files/folders.ts';
import { checkFolder } from '../../state/files/plain-path.ts';
import { unfinishedName } from '../../state/files/unfinished.ts';
import { drawSmall, mostBytes, type WithoutThumbnail } from './thumbnail.ts';

/** A thumbnail, or one that is being written. */
const thumbnailFile = /^[0-9a-f]{64}\.webp(?:\.[0-9a-f]{8}\.part)?$/;
const thumbnailFolder = /^[0-9a-f]{2}$/;

/** Relative to the folder of thumbnails. */
type ThumbnailName = `${string}.webp`;

const isName = (made: ThumbnailName | WithoutThumbnail): made is ThumbnailName => made.endsWith('.webp');

export interface ThumbnailCounts {
  readonly made: number;
  readonly reused: number;
  /** Images without a thumbnail. */
  readonly without: Readonly<Partial<Record<WithoutThumbnail, number>>>;
}

/**
 * The thumbnails of a report: `<first 2 characters>/<SHA-256 of the image>.webp`. Equal images share one, and one that is there is
 * not made again: a report that is stopped goes on where it was. As many are made at the same time as there are processors.
 */
export class Thumbnails {
  readonly #folder: string;
  readonly #artifacts: Pick<ArtifactStore, 'get'>;
  readonly #limit: LimitFunction;
  readonly #used = new KeySet();
  /** By SHA-256: those that are being made. */
  readonly #making = new Map<string, Promise<ThumbnailName | WithoutThumbnail>>();
  readonly #folders = new Set<string>();
  readonly #without: Partial<Record<WithoutThumbnail, number>> = {};
  #made = 0;
  #reused = 0;

  /** @param folder that they lie in; its parent is there */
  constructor(folder: string, artifacts: Pick<ArtifactStore, 'get'>) {
    this.#folder = folder;
    this.#artifacts = artifacts;
    const parallel = availableParallelism();
    this.#limit = pLimit({ concurrency: parallel, rejectOnClear: true });
  }

  get counts(): ThumbnailCounts {
    return { made: this.#made, reused: this.#reused, without: { ...this.#without } };
  }

  /**
   * The thumbnail of an image, relative to the folder of thumbnails; undefined where it has none.
   * @throws the error of the file system where it cannot be written
   */
  async of({ file, mime, sha256 }: RowOutput): Promise<string | undefined> {
    if (file === undefined || !mime.startsWith('image/') || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
    const made = this.#making.get(sha256) ?? this.#take(file, sha256);
    const thumbnail = await made;
    if (isName(thumbnail)) return thumbnail;
    this.#without[thumbnail] = (this.#without[thumbnail] ?? 0) + 1;
    return undefined;
  }

  /** Begins no more of them, and ends when none is being made. */
  async stop(): Promise<void> {
    const making = [...this.#making.values()];
    this.#limit.clearQueue();
    await Promise.allSettled(making);
  }

  /** Removes all thumbnails that were not asked for, and what killed writers left. */
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
    // After a power cut a file may be there without its content.
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
      const found = await this.#artifacts.get(file, mostBytes);
      if (found.ok) return found.bytes;
      return found.why === 'too-large' ? 'too-large' : 'missing';
    } catch (error) {
      // The error of the file system says which file it was.
      throw error instanceof SaveError ? (error.failure.cause ?? error) : error;
    }
  }

  async #makeFolder(name: string): Promise<void> {
    if (this.#folders.has(name)) return;
    const folder = join(this.#folder, name);
    await mkdir(folder, { recursive: true });
    // A link would have files written elsewhere.
    checkFolder(this.#folder);
    checkFolder(folder);
    this.#folders.add(name);
  }
}

/** Whether there is what draws, made ready for many small images. */
function canDraw(): boolean {
  try {
    const library = imageLibrary();
    // Each image on a thread of its own: several threads for one small image only wait for each other.
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

async function entriesOf(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
