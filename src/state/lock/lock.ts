import { randomBytes } from 'node:crypto';
import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileSystemProbe, refuseNetwork, systemProbe } from '../files/file-system.ts';
import { makeFolders } from '../files/folders.ts';
import { checkHeld, heldFile } from '../files/held-files.ts';
import { checkFile, readOwnText } from '../files/plain-path.ts';
import type { Driver } from '../sqlite/driver.ts';
import { createPrivately, type Database, openDatabase, sqliteCode } from '../sqlite/sqlite.ts';
import { guarded, stateErrorOf } from '../state-error.ts';
import { lockFileName, ownerFileName, secondLockFileName } from '../state-files.ts';
import { StateError } from '../store.ts';
import {
  identified,
  isAlive,
  isSameProcess,
  isUnseen,
  type LockOwner,
  type ProcessProbe,
  systemProcesses,
} from './owner.ts';

/** The right to write a run directory. */
export interface Lock {
  /** Fails if the lock is lost, before anything is written or paid. @throws StateError `state.replaced` if its file is gone */
  check(): void;
  /** Releases the lock, unless it is released already. */
  release(): void;
}

export interface LockOptions {
  readonly driver?: Driver;
  readonly fileSystem?: FileSystemProbe;
  /** Default: the real processes. */
  readonly processes?: ProcessProbe;
  /** How long to wait for an owner that may be leaving, in ms; this blocks the thread. Default: a moment. */
  readonly waitMs?: number;
}

/** Names of the lock files. Both are held: people who remove the first after a crash leave the second. */
const lockFiles: readonly string[] = [lockFileName, secondLockFileName];

/**
 * SQL that takes the lock, an empty SQLite file. The running process holds an exclusive transaction on it and never writes it, so that
 * there is no journal and nothing to repair. The operating system frees the lock however the owner dies, and a reused pid means
 * nothing. The journal is in memory: a file for it would be made, and left behind by a kill, though nothing is written.
 */
const takeLock = 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE';

/**
 * How long to wait for a lock, in ms: a reader that checks for a run holds it for a moment, and an owner needs a moment to write its
 * name.
 */
const graceMs = 250;

/** Open locks. A lock without references would be garbage collected, which closes its connection and loses the lock. */
const held = new Set<Database>();

/**
 * Takes the run directory for this process, and creates it if it is missing.
 * @throws StateError `state.locked` naming the owner; `state.network` | `state.readonly` | `state.full` | `state.foreign` |
 * `state.replaced` | `state.io` | `directory.kind` | `directory.system`
 */
export function acquireLock(directory: string, owner: LockOwner, options: LockOptions = {}): Lock {
  const file = join(directory, lockFileName);
  const ownerFile = join(directory, ownerFileName);
  const processes = options.processes ?? systemProcesses;
  return guarded(file, () => {
    makeFolders(directory);
    refuseNetwork(directory, options.fileSystem ?? systemProbe);
    checkFile(ownerFile, { inPlace: true });
    const files = lockFiles.map((name) => join(directory, name));
    const made = files.filter((path) => !checkFile(path));
    for (const path of files) createPrivately(path);
    const opened = files.map((path) => heldFile(path));
    const databases: Database[] = [];
    const close = (): void => {
      for (const database of databases.toReversed()) database.close();
    };
    try {
      for (const path of files) {
        const database = openLock(path, options);
        databases.push(database);
        if (!begin(database, takeLock)) throw lockedBy(directory, readOwner(ownerFile));
      }
      // Taken on the existing files, not on files that were removed meanwhile.
      checkHeld(opened);
      const me = identified(owner, processes);
      const other = readOwner(ownerFile);
      if (other !== undefined && !isSameProcess(other, me)) {
        if (isAlive(other, processes)) throw lockedBy(directory, other);
        // Existing free locks prove a death; new ones do not.
        if (isUnseen(other, processes) && made.length === files.length) {
          for (const path of made) rmSync(path, { force: true });
          throw lockedBy(directory, other, ownerFile);
        }
      }
      writeOwner(ownerFile, me);
      for (const database of databases) held.add(database);
      return {
        check: () => guarded(file, () => checkHeld(opened)),
        release: () => {
          if (!databases.every((database) => held.delete(database))) return;
          guarded(file, () => {
            try {
              const last = readOwner(ownerFile);
              if (last === undefined || isSameProcess(last, me)) rmSync(ownerFile, { force: true });
            } finally {
              // Closing ends the transaction too, but only when the driver really closes.
              for (const database of databases) database.exec('ROLLBACK');
              close();
            }
          });
        },
      };
    } catch (failure) {
      close();
      throw failure;
    }
  });
}

/**
 * Returns the current owner of the directory; undefined if no process runs on it. If the owner's name cannot be read, its pid is 0 and
 * its host empty.
 * @throws StateError as {@link acquireLock}
 */
export function lockOwner(directory: string, options: LockOptions = {}): LockOwner | undefined {
  const file = join(directory, lockFileName);
  const ownerFile = join(directory, ownerFileName);
  const processes = options.processes ?? systemProcesses;
  return guarded(file, () => {
    const isFree = lockFiles.every((name) => isFreeLock(join(directory, name), options));
    return isFree ? livingOwner(ownerFile, processes) : (readOwner(ownerFile) ?? unknownOwner);
  });
}

/** Whether a lock is free, also if its file is missing: no run was ever here, or it was removed. */
function isFreeLock(file: string, options: LockOptions): boolean {
  let database: Database;
  try {
    database = openLock(file, { ...options, readOnly: true });
  } catch (failure) {
    if (sqliteCode(failure) === 14) return true;
    throw failure;
  }
  try {
    // Reading needs a shared lock, which an owner's exclusive one excludes.
    return begin(database, 'BEGIN; SELECT count(*) FROM sqlite_schema; ROLLBACK');
  } finally {
    database.close();
  }
}

const unknownOwner: LockOwner = { pid: 0, host: '', startedAt: '' };

/** Opens a lock. Prepares no statement on it: the driver for Node 20 closes a connection only after its statements. */
function openLock(file: string, options: LockOptions & { readonly readOnly?: boolean }): Database {
  // Nothing is ever written into a lock: a file with content belongs to somebody else.
  if (checkFile(file) && lstatSync(file).size > 0) throw stateErrorOf('foreign', file);
  return openDatabase(file, {
    busyTimeoutMs: options.waitMs ?? graceMs,
    readOnly: options.readOnly ?? false,
    ...(options.driver === undefined ? {} : { driver: options.driver }),
  });
}

/** Begins a transaction. @returns false when another connection has the lock */
function begin(database: Database, sql: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch (failure) {
    if (sqliteCode(failure) === 5) return false;
    throw failure;
  }
}

/** Writes the owner under an unpredictable name and renames the file, so that readers see all of it or none. */
function writeOwner(file: string, owner: LockOwner): void {
  const written = `${file}.${randomBytes(4).toString('hex')}.part`;
  writeFileSync(written, `${JSON.stringify(owner)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(written, file);
}

/** Largest owner file in bytes: real ones are smaller. */
const maxOwnerBytes = 64 * 1024;

/** Longest name of a host (RFC 1035). */
const longestHost = 255;

/** Returns a host name that is safe to show: any process may have written the file. */
const plainHost = (host: string): string =>
  host.slice(0, longestHost).replaceAll(/[^\p{L}\p{M}\p{N}._:-]/gu, '?');

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^[\d:.TZ+-]{1,40}$/.test(value);

function readOwner(file: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(readOwnText(file, maxOwnerBytes) ?? 'null') as Partial<LockOwner> | null;
    if (!Number.isSafeInteger(owner?.pid) || typeof owner?.host !== 'string') return undefined;
    const { pid = 0, startedAt } = owner;
    return { ...owner, pid, host: plainHost(owner.host), startedAt: isTime(startedAt) ? startedAt : '' };
  } catch {
    // The name is only for a message; the lock is known to be held without it.
    return undefined;
  }
}

/** Returns the owner that still runs although the lock is free: its file was removed, and perhaps made again. */
function livingOwner(file: string, processes: ProcessProbe): LockOwner | undefined {
  const owner = readOwner(file);
  return owner !== undefined && isAlive(owner, processes) ? owner : undefined;
}

/** @param unseen the file of an owner of which this process cannot know whether it runs */
function lockedBy(directory: string, owner: LockOwner | undefined, unseen?: string): StateError {
  const who =
    owner === undefined
      ? 'another process'
      : `process ${owner.pid} on ${owner.host}, since ${owner.startedAt}`;
  if (unseen !== undefined)
    return new StateError(
      'state.locked',
      `Another run may hold ${directory}: ${who}, in another container. Its locks were removed.`,
      { hint: `Stop it there. If it has ended, remove ${unseen}.` },
    );
  return new StateError('state.locked', `Another run holds ${directory}: ${who}.`, {
    hint: 'Wait for it or stop it; `promptpress status` shows how far it is. Other work can go elsewhere with --out.',
  });
}
