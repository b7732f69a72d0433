import { reserveFileName } from './files/reserve.ts';
import { databaseFiles } from './sqlite/sqlite.ts';

/** Name of the state within the run directory. */
export const stateFileName = 'state.db';

/** Name of the lock within the run directory. */
export const lockFileName = 'lock';

/** A second lock, which is held where the first one was removed under its owner. Not named like it: `rm lock*` leaves it. */
export const secondLockFileName = 'state.lock';

/**
 * Who holds the lock. It is believed while the lock is held; and where the lock is free but its owner is alive, the lock's
 * file was removed under it.
 */
export const ownerFileName = 'lock.json';

/**
 * How many submissions there have been over the life of a directory, outside the database, so that a database that is older
 * than that is known as one: it was copied in the middle of a run, or lost its log. A number in decimal digits.
 */
export const countFileName = 'submissions';

/** Every file that this room keeps in a run directory, those that SQLite lays beside its databases among them. */
export const stateFiles: readonly string[] = [
  ...databaseFiles(stateFileName),
  ...databaseFiles(lockFileName),
  ...databaseFiles(secondLockFileName),
  ownerFileName,
  countFileName,
  reserveFileName,
];
