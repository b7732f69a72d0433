import { closeSync, constants, fstatSync, fsync, lstatSync, openSync } from 'node:fs';
import { fsCall } from '../../state/files/descriptor.ts';
import { ownFile } from '../../state/files/plain-path.ts';

/**
 * An open folder whose names are made durable with one call. A user enters first and leaves afterwards: the folder is closed once it is
 * retired and nobody is inside.
 */
export class HeldFolder {
  readonly #path: string;
  readonly #file: number;
  readonly #identity: string;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #users = 0;
  #isRetired = false;

  /** @throws the error of the file system, also if the name is a link */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | ownFile);
    const { dev, ino } = fstatSync(this.#file, { bigint: true });
    this.#identity = `${dev} ${ino}`;
  }

  /** Whether the path still leads to this folder: not removed, moved, or replaced by another folder or a link. */
  get isInPlace(): boolean {
    return !this.#isRetired && identityAt(this.#path) === this.#identity;
  }

  /**
   * Makes all present names survive a power cut. Callers that come during another call share the next one. @throws the error of the
   * file system, but none where its folders cannot be synced
   */
  sync(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#syncOnce();
      return this.#running;
    }
    // The running call may have begun before the caller's name was there.
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#running = this.#syncOnce();
        return this.#running;
      });
    return this.#next;
  }

  enter(): void {
    this.#users += 1;
  }

  leave(): void {
    this.#users -= 1;
    this.#closeIfUnused();
  }

  /** Lets nobody else enter. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#isRetired && this.#users === 0) closeSync(this.#file);
  }

  async #syncOnce(): Promise<void> {
    try {
      await fsCall((done) => fsync(this.#file, done));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP'].includes(code)) throw error;
    } finally {
      this.#running = undefined;
    }
  }
}

/** Returns the identity of a folder; links are not followed. */
function identityAt(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() === true ? `${found.dev} ${found.ino}` : undefined;
}
