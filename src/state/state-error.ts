import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode, systemWords } from './files/disk-errors.ts';
import { sqliteCode } from './sqlite/sqlite.ts';
import { StateError } from './store.ts';

type StateFailure = 'full' | 'readonly' | 'busy' | 'corrupt' | 'foreign' | 'io';

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const sqliteFailures: Readonly<Record<number, StateFailure>> = {
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

/** Failures of the file system with their own meaning; all others are `io`. */
const systemFailures: Readonly<Record<string, StateFailure>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'readonly',
  EACCES: 'readonly',
  EPERM: 'readonly',
};

const sayings: Readonly<Record<StateFailure, (file: string) => { message: string; hint: string }>> = {
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

/** Returns the StateError of a failure, in the words that users read. */
export function stateErrorOf(failure: StateFailure, file: string, cause?: unknown): StateError {
  const { message, hint } = sayings[failure](file);
  const reason = cause instanceof Error ? ` (${systemWords(cause)})` : '';
  return new StateError(`state.${failure}`, message.replace(/\.$/, `${reason}.`), {
    hint,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Returns the meaning of an error of SQLite or of the file system; undefined for any other error, a bug. */
function failureOf(failure: unknown, file: string): StateFailure | undefined {
  const code = sqliteCode(failure);
  if (code !== undefined) {
    const failure = sqliteFailures[code];
    return code === 14 && !isWritable(dirname(file)) ? 'readonly' : failure;
  }
  if (failure instanceof Error && 'syscall' in failure && 'code' in failure) {
    return systemFailures[systemCode(failure) ?? ''] ?? 'io';
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

/** Runs `work` on `file`. Failures of the disk or the file become StateErrors; bugs are thrown unchanged. */
export function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (failure) {
    if (failure instanceof StateError) throw failure;
    const kind = failureOf(failure, file);
    throw kind === undefined ? failure : stateErrorOf(kind, file, failure);
  }
}
