import { closeSync, constants, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { ownFile } from './plain-path.ts';

/** The write-ahead log of an open database, which is synced without SQLite. */
export interface LogFile {
  /** Makes everything that any process has written to it durable. @throws the error of the file system */
  sync(): void;
  /** Does the same without blocking; durable once the promise is resolved. */
  syncSoon(): Promise<void>;
  /** Closes the log after a sync in progress. */
  close(): void;
}

const fdatasyncOf = promisify(fdatasync);

/**
 * Opens the log of a database with its own descriptor. SQLite locks the database and its `-shm` file and never the log (`unixOpen`:
 * every file but a main database is `UNIXFILE_NOLOCK`), so that closing this drops no lock of the process. A system that fails to write
 * a page tells each open descriptor once, this one too, whichever process requested the write. On macOS, libuv's `fdatasync` is
 * `F_FULLFSYNC`, which reaches the medium.
 *
 * @throws the error of the file system
 */
export function openLogFile(path: string): LogFile {
  const handle = openSync(path, constants.O_RDONLY | ownFile);
  let underWay = 0;
  let isClosed = false;
  let isOver = false;
  const closeWhenIdle = (): void => {
    if (isOver || !isClosed || underWay > 0) return;
    isOver = true;
    closeSync(handle);
  };
  return {
    // The size is synced with the data; the times of the file are not needed.
    sync: () => fdatasyncSync(handle),
    syncSoon: async () => {
      underWay += 1;
      try {
        await fdatasyncOf(handle);
      } finally {
        underWay -= 1;
        closeWhenIdle();
      }
    },
    close: () => {
      isClosed = true;
      closeWhenIdle();
    },
  };
}
