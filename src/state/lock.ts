import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Driver } from './driver.ts';
import { guarded } from './fault.ts';
import { type FileSystemProbe, refuseNetwork, systemProbe } from './file-system.ts';
import { checkHeld, heldFile } from './held-files.ts';
import {
  identified,
  isAlive,
  isSameProcess,
  type LockOwner,
  type ProcessProbe,
  systemProcesses,
} from './lock-owner.ts';
import { createPrivately, type Database, openDatabase, sqliteCode } from './sqlite.ts';
import { StateError } from './store.ts';

/** The right to write a run directory. */
export interface Lock {
  /** Refuses to go on without it: before anything is written or paid. @throws StateError `state.replaced` where its file is gone */
  check(): void;
  /** Does nothing when it is released already. */
  release(): void;
}

export interface LockOptions {
  readonly driver?: Driver;
  readonly fileSystem?: FileSystemProbe;
  /** Default: the real processes. */
  readonly processes?: ProcessProbe;
}

/**
 * An empty SQLite file. Whoever runs holds an exclusive transaction on it and never writes it, so that there is no
 * journal and nothing to repair; the operating system frees the lock however the owner dies, and a pid that is
 * used again by another process means nothing.
 */
const lockFileName = 'lock';

/** The journal is kept in memory: a file for it would be made, and left behind by a kill, though nothing is written. */
const takeLock = 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE';

/**
 * Who holds the lock. It is believed while the lock is held; and where the lock is free but its owner is alive, the lock's
 * file was removed under it.
 */
const ownerFileName = 'lock.json';

/**
 * How long to wait for a lock, in ms: a reader that asks whether a run is on holds it for a moment, and an owner
 * needs a moment to write its name.
 */
const graceMs = 250;

/** A lock that nothing refers to would be collected as garbage, its connection closed, and the lock gone. */
const held = new Set<Database>();

/**
 * Takes the run directory for this process, creating it where it is missing.
 * @throws StateError `state.locked` naming the owner; `state.network` | `state.readonly` | `state.full` |
 *   `state.foreign` | `state.replaced` | `state.io`
 */
export function acquireLock(directory: string, owner: LockOwner, options: LockOptions = {}): Lock {
  const file = join(directory, lockFileName);
  const ownerFile = join(directory, ownerFileName);
  const processes = options.processes ?? systemProcesses;
  return guarded(file, () => {
    mkdirSync(directory, { recursive: true });
    refuseNetwork(directory, options.fileSystem ?? systemProbe);
    createPrivately(file);
    const opened = heldFile(file);
    const database = openLock(file, options);
    try {
      if (!begin(database, takeLock)) throw lockedBy(directory, readOwner(ownerFile));
      // Taken on the file that lies there, not on one that was removed meanwhile.
      checkHeld([opened]);
      const me = identified(owner, processes);
      const other = livingOwner(ownerFile, processes);
      if (other !== undefined && !isSameProcess(other, me)) throw lockedBy(directory, other);
      writeOwner(ownerFile, me);
      held.add(database);
      return {
        check: () => guarded(file, () => checkHeld([opened])),
        release: () => {
          if (!held.delete(database)) return;
          guarded(file, () => {
            try {
              const last = readOwner(ownerFile);
              if (last === undefined || isSameProcess(last, me)) rmSync(ownerFile, { force: true });
            } finally {
              // Closing ends the transaction too, but only when the driver really closes.
              database.exec('ROLLBACK');
              database.close();
            }
          });
        },
      };
    } catch (failure) {
      database.close();
      throw failure;
    }
  });
}

/**
 * Who runs on the directory at this moment; undefined where nobody does. Where the owner's name cannot be read, its
 * pid is 0 and its host empty.
 * @throws StateError as {@link acquireLock}
 */
export function lockOwner(directory: string, options: LockOptions = {}): LockOwner | undefined {
  const file = join(directory, lockFileName);
  const ownerFile = join(directory, ownerFileName);
  const processes = options.processes ?? systemProcesses;
  return guarded(file, () => {
    let database: Database;
    try {
      database = openLock(file, { ...options, readOnly: true });
    } catch (failure) {
      // The file is not there: nobody has ever run here, or it was removed.
      if (sqliteCode(failure) === 14) return livingOwner(ownerFile, processes);
      throw failure;
    }
    try {
      // Reading needs a shared lock, which an owner's exclusive one excludes.
      const free = begin(database, 'BEGIN; SELECT count(*) FROM sqlite_schema; ROLLBACK');
      return free ? livingOwner(ownerFile, processes) : (readOwner(ownerFile) ?? unknownOwner);
    } finally {
      database.close();
    }
  });
}

const unknownOwner: LockOwner = { pid: 0, host: '', startedAt: '' };

/** No statement is prepared on a lock's connection: the driver for Node 20 closes one only after its statements. */
function openLock(file: string, options: LockOptions & { readonly readOnly?: boolean }): Database {
  return openDatabase(file, {
    busyTimeoutMs: graceMs,
    readOnly: options.readOnly ?? false,
    ...(options.driver === undefined ? {} : { driver: options.driver }),
  });
}

/** False when another connection has the lock. */
function begin(database: Database, sql: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch (failure) {
    if (sqliteCode(failure) === 5) return false;
    throw failure;
  }
}

/** Written beside and renamed, so that a reader sees all of it or none. */
function writeOwner(file: string, owner: LockOwner): void {
  const written = `${file}.new`;
  writeFileSync(written, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  renameSync(written, file);
}

function readOwner(file: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(readFileSync(file, 'utf8')) as Partial<LockOwner> | null;
    if (typeof owner?.pid !== 'number' || typeof owner.host !== 'string') return undefined;
    return { ...owner, pid: owner.pid, host: owner.host, startedAt: owner.startedAt ?? '' };
  } catch {
    // The name serves a message; that somebody holds the lock is known without it.
    return undefined;
  }
}

/** Who still runs on the directory although the lock is free: its file was removed, and perhaps made again. */
function livingOwner(file: string, processes: ProcessProbe): LockOwner | undefined {
  const owner = readOwner(file);
  return owner !== undefined && isAlive(owner, processes) ? owner : undefined;
}

function lockedBy(directory: string, owner: LockOwner | undefined): StateError {
  const who =
    owner === undefined
      ? 'another process'
      : `process ${owner.pid} on ${owner.host}, since ${owner.startedAt}`;
  return new StateError('state.locked', `Another run holds ${directory}: ${who}.`, {
    hint: 'Wait for it or stop it; `promptpress status` shows how far it is. Other work can go elsewhere with --out.',
  });
}
