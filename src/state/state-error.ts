import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { sqliteCode } from './sqlite/sqlite.ts';
import { StateError } from './store.ts';

type Fault = 'full' | 'readonly' | 'busy' | 'corrupt' | 'foreign' | 'io';

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const sqliteFaults: Readonly<Record<number, Fault>> = {
  3: 'readonly', // PERM
  5: 'busy', // BUSY
  6: 'busy', // LOCKED
  8: 'readonly', // READONLY
  10: 'io', // IOERR
  11: 'corrupt', // CORRUPT
  13: 'full', // FULL
  14: 'io', // CANTOPEN; `faultOf` looks for the reason
  15: 'busy', // PROTOCOL: the locking protocol gave up
  23: 'readonly', // AUTH
  26: 'foreign', // NOTADB
};

/** Errors of the file system that have a meaning of their own; any other is `io`. */
const systemFaults: Readonly<Record<string, Fault>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'readonly',
  EACCES: 'readonly',
  EPERM: 'readonly',
};

const sayings: Readonly<Record<Fault, (file: string) => { message: string; hint: string }>> = {
  full: (file) => ({
    message: `The disk that holds ${file} is full.`,
    hint: 'Free some space and give the same command again: nothing that was finished is lost.',
  }),
  readonly: (file) => ({
    message: `${file} cannot be written, or its folder cannot.`,
    hint: 'Check who owns the run directory and whether its disk is mounted read-only, or choose another with --out.',
  }),
  busy: (file) => ({
    message: `Another program keeps ${file} locked.`,
    hint: 'Close what has the file open (an SQLite browser, a backup) and give the same command again.',
  }),
  corrupt: (file) => ({
    message: `${file} is damaged.`,
    hint:
      `Restore it from a backup together with its -wal file, or save what can be read with ` +
      '`sqlite3 state.db .recover`. Images that are finished lie in the images folder and are not touched.',
  }),
  foreign: (file) => ({
    message: `${file} is not a state file of promptpress.`,
    hint: 'Move the file away, or choose another run directory with --out.',
  }),
  io: (file) => ({
    message: `${file} could not be read or written.`,
    hint: 'Check the disk, then give the same command again: what was recorded is still there.',
  }),
};

/** A StateError of one of the faults, in the words users read. */
export function stateFault(fault: Fault, file: string, cause?: unknown): StateError {
  const { message, hint } = sayings[fault](file);
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  return new StateError(`state.${fault}`, message.replace(/\.$/, `${reason}.`), {
    hint,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What an error of SQLite or of the file system means; undefined where it is neither, and so a bug. */
function faultOf(failure: unknown, file: string): Fault | undefined {
  const code = sqliteCode(failure);
  if (code !== undefined) {
    const fault = sqliteFaults[code];
    return code === 14 && !isWritable(dirname(file)) ? 'readonly' : fault;
  }
  if (failure instanceof Error && 'syscall' in failure && 'code' in failure) {
    return systemFaults[String(failure.code)] ?? 'io';
  }
  return undefined;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs `work` on `file`; failures of the disk or the file come out as StateErrors, bugs as they are. */
export function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (failure) {
    if (failure instanceof StateError) throw failure;
    const fault = faultOf(failure, file);
    throw fault === undefined ? failure : stateFault(fault, file, failure);
  }
}
