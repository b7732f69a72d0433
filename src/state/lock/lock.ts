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
import { lockFileName, ownerFileName } from '../state-files.ts';
import { StateError } from '../store.ts';
import {
  identified,
  isAlive,
  isSameProcess,
  type LockOwner,
  type ProcessProbe,
  systemProcesses,
} from './owner.ts';

/** The right to write a run directory. */
export interface Lock {
  /**
   * Fails when the lock is lost: before anything is written or paid. @throws StateError `state.replaced` where its file is
   * gone
   */
  check(): void;
  /** Does nothing when it is released already. */
  release(): void;
}

export interface LockOptions {
  readonly driver?: Driver;
  readonly fileSystem?: FileSystemProbe;
  /** Default: the real processes. */
  readonly processes?: ProcessProbe;
  /** How long to wait for an owner that may just be leaving, in ms; the thread waits with it. Default: a moment. */
  readonly waitMs?: number;
}

/**
 * The lock is an empty SQLite file. The running process holds an exclusive transaction on it and never writes it, so that
 * there is no journal and nothing to repair; the operating system frees the lock in any death of the owner, and a pid that
 * is used again by another process means nothing. The journal is kept in memory: a file for it would be made, and left
 * behind by a kill, though nothing is written.
 */
const takeLock = 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE';

/**
 * How long to wait for a lock, in ms: a reader that asks whether a run is on holds it for a moment, and an owner
 * needs a moment to write its name.
 */
const graceMs = 250;

/** A lock without references would be garbage collected, its connection closed, and the lock lost. */
const held = new Set<Database>();

/**
 * Takes the run directory for this process, creating it where it is missing.
 * @throws StateError `state.locked` naming the owner; `state.network` | `state.readonly` | `state.full` |
 *   `state.foreign` | `state.replaced` | `state.io` | `directory.kind` | `directory.system`
 */
export function acquireLock(directory: string, owner: LockOwner, options: LockOptions = {}): Lock {
  const file = join(directory, lockFileName);
  const ownerFile = join(directory, ownerFileName);
  const processes = options.processes ?? systemProcesses;
  return guarded(file, () => {
    makeFolders(directory);
    refuseNetwork(directory, options.fileSystem ?? systemProbe);
    checkFile(ownerFile, { inPlace: true });
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
 * The owner of the directory at this moment; undefined where no process runs on it. Where the owner's name cannot be read,
 * its pid is 0 and its host empty. @throws StateError as {@link acquireLock}
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
      // The file is missing: no run has ever been here, or it was removed.
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
  // Nothing is ever written into a lock: one that holds something is a database, or a file, of somebody else.
  if (checkFile(file) && lstatSync(file).size > 0) throw stateErrorOf('foreign', file);
  return openDatabase(file, {
    busyTimeoutMs: options.waitMs ?? graceMs,
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

/** Written beside, under an unpredictable name, and renamed, so that a reader sees the whole file or none. */
function writeOwner(file: string, owner: LockOwner): void {
  const written = `${file}.${randomBytes(4).toString('hex')}.part`;
  writeFileSync(written, `${JSON.stringify(owner)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(written, file);
}

/** More than any owner's name takes. */
const mostOwnerBytes = 64 * 1024;

/** Longest name of a host (RFC 1035). */
const longestHost = 255;

/** Any process may have written the file, and its content is shown on terminals. */
const plainHost = (host: string): string =>
  host.slice(0, longestHost).replaceAll(/[^\p{L}\p{M}\p{N}._:-]/gu, '?');

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^[\d:.TZ+-]{1,40}$/.test(value);

function readOwner(file: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(readOwnText(file, mostOwnerBytes) ?? 'null') as Partial<LockOwner> | null;
    if (!Number.isSafeInteger(owner?.pid) || typeof owner?.host !== 'string') return undefined;
    const { pid = 0, startedAt } = owner;
    return { ...owner, pid, host: plainHost(owner.host), startedAt: isTime(startedAt) ? startedAt : '' };
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
