import { chmod, close, constants, copyFile, fsync, open, read, write } from 'node:fs';

type Done<T> = (error: NodeJS.ErrnoException | null, value?: T) => void;

/** Turns one callback function of `node:fs` into a promise. */
export const fsCall = <T = void>(call: (done: Done<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => {
    call((error, value) => (error === null ? resolve(value as T) : reject(error)));
  });

/**
 * A file that is open for writing. It uses the callback functions of `node:fs`: a handle of `node:fs/promises` takes half as much event
 * loop time again, and an image takes five such calls.
 */
export class Descriptor {
  readonly #file: number;
  /** Calls in progress: a closed number may stand for another file at once. */
  #running = 0;
  #onIdle: () => void = () => undefined;
  #isClosed = false;

  /** @param file its number, not used by anybody else */
  private constructor(file: number) {
    this.#file = file;
  }

  /** Makes a file. @throws the error of the file system, also if the name is taken */
  static async make(path: string): Promise<Descriptor> {
    return new Descriptor(await fsCall<number>((done) => open(path, 'wx+', done)));
  }

  /**
   * Makes a file with the bytes of another one, which it shares where the file system can (a reflink); it can only be read. Follows links
   * to the other file.
   *
   * @throws the error of the file system, also if the name is taken
   */
  static async copy(from: string, path: string): Promise<Descriptor> {
    const { COPYFILE_EXCL, COPYFILE_FICLONE } = constants;
    await fsCall((done) => copyFile(from, path, COPYFILE_EXCL | COPYFILE_FICLONE, done));
    await fsCall((done) => chmod(path, 0o644, done));
    return new Descriptor(await fsCall<number>((done) => open(path, 'r', done)));
  }

  /** @returns how many bytes were written: from `offset` to the end of `bytes`, or fewer */
  write(bytes: Uint8Array, offset: number, position: number): Promise<number> {
    return this.#call('write', (done) =>
      write(this.#file, bytes, offset, bytes.byteLength - offset, position, done),
    );
  }

  /** @returns how many bytes were read into `into` */
  read(into: Uint8Array, position: number): Promise<number> {
    return this.#call('read', (done) => read(this.#file, into, 0, into.byteLength, position, done));
  }

  sync(): Promise<void> {
    return this.#call('fsync', (done) => fsync(this.#file, done));
  }

  /** Closes the file after the calls in progress; it cannot be used afterwards. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    await fsCall((done) => close(this.#file, done));
  }

  /** @throws the error of the file system; EBADF where the file is closed */
  #call<T>(syscall: string, call: (done: Done<T>) => void): Promise<T> {
    if (this.#isClosed) {
      const message = `EBADF: the file is closed, ${syscall}`;
      return Promise.reject(Object.assign(new Error(message), { code: 'EBADF', syscall }));
    }
    this.#running += 1;
    return fsCall<T>((done) =>
      call((error, value) => {
        this.#running -= 1;
        if (this.#running === 0) this.#onIdle();
        done(error, value);
      }),
    );
  }
}
