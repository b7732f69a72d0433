import { closeSync, constants, fstatSync, fsync, lstatSync, openSync } from 'node:fs';
import { fsCall } from '../../state/files/descriptor.ts';
import { ownFile } from '../../state/files/plain-path.ts';

/**
 * A folder that is held open, so that the names in it are made durable with one call. Whoever uses it enters first and leaves after: it
 * is closed once it is retired and nobody is within.
 */
export class HeldFolder {
  readonly #path: string;
  readonly #file: number;
  readonly #identity: string;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #users = 0;
  #isRetired = false;

  /** @throws the error of the file system, also where a link has the name */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | ownFile);
    const { dev, ino } = fstatSync(this.#file, { bigint: true });
    this.#identity = `${dev} ${ino}`;
  }

  /** Whether its path still leads to this folder: it was not removed, moved, or replaced by another or by a link. */
  get isInPlace(): boolean {
    return !this.#isRetired && identityAt(this.#path) === this.#identity;
  }

  /**
   * Makes every name that it has now survive a power cut. Callers that come while another call is being carried out share the next one.
   * @throws the error of the file system, but none where its folders cannot be synced
   */
  sync(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#syncOnce();
      return this.#running;
    }
    // What runs may have begun before the caller's name was there.
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

  /** Nobody else enters. */
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

/** Links are not followed. */
function identityAt(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() === true ? `${found.dev} ${found.ino}` : undefined;
}
