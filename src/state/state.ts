import { closeSync, lstatSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type FileSystemProbe, refuseNetwork, systemProbe } from './files/file-system.ts';
import { makeFolders, syncFolder } from './files/folders.ts';
import { checkHeld, heldFile } from './files/held-files.ts';
import { type LogFile, openLogFile } from './files/log-file.ts';
import { fullDiskOf, probeForReading, reserveIn } from './files/reserve.ts';
import { repliesFolder, segmentFilesOf } from './files/segment-files.ts';
import type { Lock } from './lock/lock.ts';
import { readerOf, stateQueries, submissionsFact, uncountedFact } from './query.ts';
import type { StateReader } from './reader.ts';
import { type StateChanges, stateChanges } from './sqlite/changes.ts';
import type { Driver } from './sqlite/driver.ts';
import { type DeclaredSchema, refuseOtherSchema, schemaMadeBy } from './sqlite/own-schema.ts';
import { applicationId, formerApplicationId, stateSchema, stateVersion } from './sqlite/schema.ts';
import { checkDatabaseFiles, type Database, openDatabase, sqliteCode } from './sqlite/sqlite.ts';
import { guarded, stateErrorOf } from './state-error.ts';
import { stateFileName } from './state-files.ts';
import { StateError, type StateStore } from './store.ts';
import {
  hasSubmissionCount,
  openSubmissionCount,
  readSubmissionCount,
  type SubmissionCount,
} from './submission-count.ts';
import { stateStore } from './write.ts';

export interface StateOptions {
  /** Default: the driver of this Node.js. */
  readonly driver?: Driver;
  /** Default: the real file system. */
  readonly fileSystem?: FileSystemProbe;
  /** The directory's lock, checked before each write. */
  readonly lock?: Pick<Lock, 'check'>;
  /** Opens the log that is synced for each turn. Default: the real file. */
  readonly log?: (path: string) => LogFile;
}

/**
 * Opens the state of a run directory for writing; makes what is missing. The caller holds the lock (`acquireLock`).
 * @throws StateError `state.foreign` | `state.version` | `state.older` | `state.network` | `state.full` | `state.readonly` |
 * `state.busy` | `state.corrupt` | `state.replaced` | `state.io` | `state.schema` | `directory.link` | `directory.kind` |
 * `directory.system`
 */
export function openState(directory: string, options: StateOptions = {}): StateStore {
  const file = join(directory, stateFileName);
  return guarded(file, () => {
    makeFolders(directory);
    refuseNetwork(directory, options.fileSystem ?? systemProbe);
    const reserve = reserveIn(directory);
    createPrivately(file);
    const opened = heldFile(file);
    const isCounted = hasSubmissionCount(directory);
    let count: SubmissionCount | undefined;
    const { probeMemory } = reserve;
    // Closing the state takes disk space too.
    if (probeMemory !== undefined) reserve.hold(1);
    const database = openDatabase(file, {
      ...driverOf(options),
      ...(probeMemory && { beforeWriting: probeMemory }),
    });
    let log: LogFile | undefined;
    try {
      prepareForWriting(database, options);
      if (!isCounted) noteUncounted(database);
      count = openSubmissionCount(directory);
      // The log exists from the first read on, and stays the same file until the last connection has closed it.
      const files = [opened, heldFile(`${file}-wal`), heldFile(count.file)];
      log = (options.log ?? openLogFile)(`${file}-wal`);
      const check = (): void => {
        options.lock?.check();
        checkHeld(files);
      };
      check();
      // A process killed between a turn and its sync has left a log that can be read, but may not survive a power cut.
      log.sync();
      const folder = { path: join(directory, repliesFolder), files: segmentFilesOf(directory) };
      return stateStore(database, count, check, log, folder, reserve);
    } catch (failure) {
      // SQLite reports a used-up quota as any kind of error.
      const full = sqliteCode(failure) === undefined ? undefined : fullDiskOf(reserve);
      reserve.close();
      log?.close();
      count?.close();
      database.close();
      throw full ?? failure;
    }
  });
}

/**
 * Opens the state of a run directory for reading, also while another process writes it: no call keeps a lock or a read transaction
 * after its return, and the writer never waits for the reader.
 * @returns undefined if there is no state (yet)
 * @throws StateError as {@link openState}
 */
export function openStateForReading(
  directory: string,
  options: StateOptions = {},
): (StateReader & StateChanges) | undefined {
  const file = join(directory, stateFileName);
  return guarded(file, () => {
    if (!hasBytes(file)) return undefined;
    probeForReading(directory);
    const database = openReadOnly(file, options);
    try {
      if (!isMade(database)) {
        database.close();
        return undefined;
      }
      refuseOtherSchema(database, ownSchema(options));
      return {
        ...readerOf(
          stateQueries(database, () =>
            hasSubmissionCount(directory) ? readSubmissionCount(directory) : undefined,
          ),
        ),
        ...stateChanges(database, (work) => guarded(file, work)),
      };
    } catch (failure) {
      database.close();
      throw failure;
    }
  });
}

const driverOf = (options: StateOptions): { driver?: Driver } =>
  options.driver === undefined ? {} : { driver: options.driver };

/** Creates a file for its owner alone; its name is durable before anything is in it. */
function createPrivately(file: string): void {
  if (checkDatabaseFiles(file)) return;
  closeSync(openSync(file, 'wx', 0o600));
  syncFolder(dirname(file));
}

/** Whether a file has content: a crash between its creation and the first transaction leaves it empty. */
const hasBytes = (file: string): boolean => (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/**
 * Opens a database for reading. A reader of a WAL database needs its -wal and -shm files, and creates them if they are missing. In a
 * folder that it may not write, and without a -wal file, the database cannot be changing: it is read as it is.
 */
function openReadOnly(file: string, options: StateOptions): Database {
  const database = openDatabase(file, { ...driverOf(options), readOnly: true });
  try {
    database.prepare('SELECT 1 FROM sqlite_schema').get();
    return database;
  } catch (failure) {
    database.close();
    if (hasBytes(`${file}-wal`) || !hasBytes(file)) throw failure;
    try {
      const unchanging = openDatabase(`${pathToFileURL(file).href}?immutable=1`, {
        ...driverOf(options),
        readOnly: true,
      });
      unchanging.prepare('SELECT 1 FROM sqlite_schema').get();
      return unchanging;
    } catch {
      throw failure;
    }
  }
}

/**
 * Whether a state file has been written; otherwise it is empty.
 * @throws StateError `state.foreign` | `state.version` | `state.older`
 */
function isMade(database: Database): boolean {
  const facts = database.prepare<{ application: number; version: number; objects: number }>(
    `SELECT application_id AS application, user_version AS version,
       (SELECT count(*) FROM sqlite_schema) AS objects
     FROM pragma_application_id(), pragma_user_version()`,
  );
  const { application, version, objects } = facts.get() ?? { application: 0, version: 0, objects: 0 };
  if (application === applicationId && version === stateVersion) return true;
  if (application === 0 && version === 0 && objects === 0) return false;
  const { file } = database;
  if (application === applicationId && version > stateVersion)
    throw new StateError(
      'state.version',
      `${file} was written by a newer release of promptpress (state version ${version}; this release knows ${stateVersion}).`,
      { hint: 'Upgrade promptpress, or choose another run directory with --out.' },
    );
  if (application === formerApplicationId)
    throw new StateError(
      'state.older',
      `${file} was written by promptpress before 0.1.0, in a form that this release does not read.`,
      {
        hint:
          'Continue it with the commit 73d08d41 of promptpress, the last that reads it, or begin anew in another run directory with --out. ' +
          'Its images and its manifest are as they were.',
      },
    );
  throw stateErrorOf('foreign', file);
}

let declared: DeclaredSchema | undefined;

/** Returns the declarations of a state, as this SQLite writes them. */
function ownSchema(options: StateOptions): DeclaredSchema {
  declared ??= schemaMadeBy((database) => database.exec(stateSchema), driverOf(options));
  return declared;
}

/** Notes that the count is gone although the state knows submissions, before it is made again: the state may be an older one. */
function noteUncounted(database: Database): void {
  database
    .prepare(
      `INSERT INTO facts (name, value) SELECT ?, '1' FROM facts WHERE name = ? AND CAST(value AS INTEGER) > 0
       ON CONFLICT (name) DO NOTHING`,
    )
    .run(uncountedFact, submissionsFact);
}

function prepareForWriting(database: Database, options: StateOptions): void {
  // The owner of the file must be known before its first byte is changed.
  const wasMade = isMade(database);
  if (wasMade) refuseOtherSchema(database, ownSchema(options));

  const mode = database.prepare<{ journal_mode: string }>('PRAGMA journal_mode = WAL').get();
  if (mode?.journal_mode !== 'wal') {
    throw new StateError(
      'state.io',
      `${database.file} cannot be used here: its file system has no shared memory.`,
      {
        hint: 'Choose a directory on a local disk with --out.',
      },
    );
  }
  // A commit returns when it is on the disk, not in a cache: on macOS, fsync alone leaves it in the cache of the drive. A turn that is
  // synced apart from its commit sets this itself (`write.ts`). The log is truncated after it has once grown large.
  database.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA wal_autocheckpoint = 4096;
    PRAGMA cache_size = -16384;
  `);
  if (!wasMade)
    database.transaction(() =>
      database.exec(
        `${stateSchema}PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${stateVersion};`,
      ),
    );
  // A copy made by `VACUUM INTO`, or a recovered state, has no log yet: the first read makes it.
  database.prepare('SELECT 1 FROM sqlite_schema').get();
}
