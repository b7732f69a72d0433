import { closeSync, constants, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { ownFile } from './plain-path.ts';

/** The write-ahead log of an open database, to be synced without SQLite. */
export interface LogFile {
  /** Everything that any process has written to it is durable. @throws the error of the file system */
  sync(): void;
  /** The same, once the promise is resolved: other work goes on meanwhile. */
  syncSoon(): Promise<void>;
  /** A sync that is under way ends first. */
  close(): void;
}

const fdatasyncOf = promisify(fdatasync);

/**
 * Opens the log of a database by a descriptor of its own. SQLite locks the database and its `-shm` file and never the log
 * (`unixOpen`: every file but a main database is `UNIXFILE_NOLOCK`), so that to close this drops no lock of the process. A system
 * that fails to write a page tells each open descriptor once, this one too, whoever asked for the write. On macOS, libuv's
 * `fdatasync` is `F_FULLFSYNC`, which reaches the medium.
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
    // The size is synced with the data; the times of the file matter to nobody.
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
