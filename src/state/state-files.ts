import { reserveFileName } from './files/reserve.ts';
import { databaseFiles } from './sqlite/sqlite.ts';

/** Name of the state within the run directory. */
export const stateFileName = 'state.db';

/** Name of the lock within the run directory. */
export const lockFileName = 'lock';

/** Name of a second lock, which still holds if the first one is removed. Its name differs: `rm lock*` leaves it. */
export const secondLockFileName = 'state.lock';

/**
 * Name of the file with the owner of the lock. It is valid while the lock is held. If the lock is free but its owner runs, the lock's
 * file was removed.
 */
export const ownerFileName = 'lock.json';

/**
 * Name of the file that counts all submissions of a directory, outside the database. A database with fewer is an older one: it was
 * copied in the middle of a run, or lost its log. The file holds decimal digits.
 */
export const countFileName = 'submissions';

/** Every file that this room keeps in a run directory, including those that SQLite writes beside its databases. */
export const stateFiles: readonly string[] = [
  ...databaseFiles(stateFileName),
  ...databaseFiles(lockFileName),
  ...databaseFiles(secondLockFileName),
  ownerFileName,
  countFileName,
  reserveFileName,
];
