import { closeSync, lstatSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exactJson } from '../pipeline/values/exact-json.ts';
import { type FileSystemProbe, refuseNetwork, systemProbe } from './files/file-system.ts';
import { makeFolders, syncFolder } from './files/folders.ts';
import { checkHeld, heldFile } from './files/held-files.ts';
import type { Lock } from './lock/lock.ts';
import { stateQueries, submissionsFact } from './query.ts';
import type { Driver } from './sqlite/driver.ts';
import { type DeclaredSchema, refuseOtherSchema, schemaMadeBy } from './sqlite/own-schema.ts';
import { applicationId, earliestReadable, type Migration, migrations } from './sqlite/schema.ts';
import { checkDatabaseFiles, type Database, openDatabase } from './sqlite/sqlite.ts';
import { guarded, stateErrorOf } from './state-error.ts';
import { stateFileName } from './state-files.ts';
import { invocationFact, StateError, type StateReader, type StateStore } from './store.ts';
import { openSubmissionCount, readSubmissionCount, type SubmissionCount } from './submission-count.ts';

export interface StateOptions {
  /** Default: the driver that this Node.js has. */
  readonly driver?: Driver;
  /** Default: the schema of this release. */
  readonly migrations?: readonly Migration[];
  /** Default: the real file system. */
  readonly fileSystem?: FileSystemProbe;
  /** The directory's lock, checked before each write. */
  readonly lock?: Pick<Lock, 'check'>;
}

/**
 * Opens the state of a run directory for writing; creates the directory and the state where they are missing, and
 * migrates an older one. The caller holds the directory's lock (`acquireLock`).
 * @throws StateError `state.foreign` | `state.version` | `state.network` | `state.full` | `state.readonly` |
 *   `state.busy` | `state.corrupt` | `state.replaced` | `state.io` | `state.schema` | `directory.link` | `directory.kind` | `directory.system`
 */
export function openState(directory: string, options: StateOptions = {}): StateStore {
  const file = join(directory, stateFileName);
  return guarded(file, () => {
    makeFolders(directory);
    refuseNetwork(directory, options.fileSystem ?? systemProbe);
    createPrivately(file);
    const opened = heldFile(file);
    const count = openSubmissionCount(directory);
    const database = openDatabase(file, driverOf(options));
    try {
      prepareForWriting(database, options);
      // The log is there from the first transaction on, and stays the same file until the last one has closed it.
      const files = [opened, heldFile(`${file}-wal`), heldFile(count.file)];
      const check = (): void => {
        options.lock?.check();
        checkHeld(files);
      };
      check();
      return stateStore(database, count, check);
    } catch (failure) {
      count.close();
      database.close();
      throw failure;
    }
  });
}

/**
 * Opens the state of a run directory for reading, also while another process writes it: no call keeps a lock or a
 * read transaction beyond its return, and nothing the reader does makes the writer wait.
 * @returns undefined where there is no state (yet)
 * @throws StateError as {@link openState}
 */
export function openStateForReading(directory: string, options: StateOptions = {}): StateReader | undefined {
  const file = join(directory, stateFileName);
  return guarded(file, () => {
    if (!hasBytes(file)) return undefined;
    const database = openReadOnly(file, options);
    try {
      const version = schemaVersion(database);
      if (version === 0) {
        database.close();
        return undefined;
      }
      const current = (options.migrations ?? migrations).length;
      if (version > current) throw tooNew(file, version, current);
      if (version < Math.min(current, earliestReadable)) {
        throw new StateError('state.version', `${file} was written by an older release of promptpress.`, {
          hint: 'Continue the run once with `promptpress run`: that brings its state up to date.',
        });
      }
      refuseOtherSchema(database, ownSchema(version, options));
      return stateQueries(database, () => readSubmissionCount(directory));
    } catch (failure) {
      database.close();
      throw failure;
    }
  });
}

const driverOf = (options: StateOptions): { driver?: Driver } =>
  options.driver === undefined ? {} : { driver: options.driver };

/** For its owner alone to read, and its name durable before anything is in it. */
function createPrivately(file: string): void {
  if (checkDatabaseFiles(file)) return;
  closeSync(openSync(file, 'wx', 0o600));
  syncFolder(dirname(file));
}

/** A file of no bytes is one that a crash left between its creation and the first transaction. */
const hasBytes = (file: string): boolean => (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/**
 * A reader of a WAL database needs its -wal and -shm files, and creates them where they are missing. In a folder that
 * it may not write, and without a -wal file, the database cannot be changing: it is read as it lies.
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
 * The schema version of a state file; 0 where nothing was written yet.
 * @throws StateError `state.foreign`
 */
function schemaVersion(database: Database): number {
  const facts = database.prepare<{ application: number; version: number; objects: number }>(
    `SELECT application_id AS application, user_version AS version,
       (SELECT count(*) FROM sqlite_schema) AS objects
     FROM pragma_application_id(), pragma_user_version()`,
  );
  const { application, version, objects } = facts.get() ?? { application: 0, version: 0, objects: 0 };
  if (application === applicationId && version > 0) return version;
  if (application === 0 && version === 0 && objects === 0) return 0;
  throw stateErrorOf('foreign', database.file);
}

const tooNew = (file: string, version: number, current: number): StateError =>
  new StateError(
    'state.version',
    `${file} was written by a newer release of promptpress (state version ${version}; this release knows ${current}).`,
    { hint: 'Upgrade promptpress, or choose another run directory with --out.' },
  );

/** What the first steps of a list of migrations make; made once. */
const schemas = new WeakMap<readonly Migration[], Map<number, DeclaredSchema>>();

/** What a state of this version declares, whichever SQLite wrote it. */
function ownSchema(version: number, options: StateOptions): DeclaredSchema {
  const steps = options.migrations ?? migrations;
  const known = schemas.get(steps) ?? new Map<number, DeclaredSchema>();
  schemas.set(steps, known);
  const schema =
    known.get(version) ??
    schemaMadeBy((database) => {
      for (const step of steps.slice(0, version)) step(database);
    }, driverOf(options));
  known.set(version, schema);
  return schema;
}

function prepareForWriting(database: Database, options: StateOptions): void {
  const steps = options.migrations ?? migrations;
  // The owner of the file must be known before its first byte is changed.
  const found = schemaVersion(database);
  if (found > steps.length) throw tooNew(database.file, found, steps.length);
  if (found > 0) refuseOtherSchema(database, ownSchema(found, options));

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
  // A commit returns when it is on the disk, not in a cache. The log is cut after it has once grown large.
  database.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -16384;
  `);
  if (found === steps.length) return;
  database.transaction(() => {
    for (const step of steps.slice(found)) step(database);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length};`);
  });
}

/** @param check throws where the open files are no longer those of the directory: called before each write */
function stateStore(database: Database, count: SubmissionCount, check: () => void): StateStore {
  const { file } = database;
  const queries = stateQueries(database, () => count.value);
  let { known } = queries.submissions();
  let numbered: number | undefined;
  // A process that was killed between its commit and its count has sent none of the difference.
  count.raise(known);
  // Replacing keeps the row's id, and with it the order in which jobs came.
  const put = database.prepare(
    `INSERT INTO jobs (key, status, code, root, slot, attempts, cost, tokens, possible, assumed, doc)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET status = excluded.status, code = excluded.code, root = excluded.root,
       slot = excluded.slot, attempts = excluded.attempts, cost = excluded.cost, tokens = excluded.tokens,
       possible = excluded.possible, assumed = excluded.assumed, doc = excluded.doc`,
  );
  const append = database.prepare('INSERT INTO attempts (key, doc) VALUES (?, ?)');
  const state = database.prepare(
    'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const remember = database.prepare(
    'INSERT OR REPLACE INTO inputs (path, sha256, bytes, mtime) VALUES (?, ?, ?, ?)',
  );
  return {
    ...queries,
    commit: (turn) => {
      const { submits = 0, invocation = numbered } = turn;
      if (turn.records.length === 0 && turn.attempts.length === 0 && submits === 0) return;
      guarded(file, () => {
        check();
        database.transaction(() => {
          for (const record of turn.records) {
            put.run(
              record.key,
              record.status,
              record.error?.code ?? '',
              record.parent === undefined ? 1 : 0,
              record.origin.slot,
              record.attempts,
              record.cost ?? 0,
              record.usage?.total ?? 0,
              (record.doubtful?.cost ?? 0) + (record.assumed?.cost ?? 0),
              record.assumed?.tokens ?? 0,
              exactJson(record),
            );
          }
          for (const attempt of turn.attempts) append.run(attempt.key, exactJson(attempt));
          if (submits > 0) state.run(submissionsFact, String(known + submits));
          if (invocation !== numbered) state.run(invocationFact, String(invocation));
        });
        known += submits;
        numbered = invocation;
      });
    },
    countSubmissions: () => {
      guarded(count.file, () => count.raise(known));
    },
    acceptMissing: () => {
      guarded(file, () => {
        check();
        state.run(submissionsFact, String(Math.max(known, count.value)));
        known = Math.max(known, count.value);
      });
    },
    setFact: (name, value) => {
      guarded(file, () => {
        check();
        state.run(name, value);
      });
    },
    rememberInputFile: ({ path, sha256, bytes, mtimeMs }) => {
      guarded(file, () => {
        check();
        remember.run(path, sha256, bytes, mtimeMs);
      });
    },
    close: () => {
      foldLog(database);
      queries.close();
      count.close();
    },
  };
}

/**
 * Moves the log into the database file, so that `state.db` alone is the whole state of a run that is over. SQLite does
 * it by itself when the last connection closes, but the driver for Node 20 closes only when its statements are gone.
 */
function foldLog(database: Database): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // A full disk or a second close: the log stays beside the database, and nothing in it is lost.
  }
}
