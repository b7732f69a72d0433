import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { checkFile, ownFile } from '../files/plain-path.ts';
import { StateError } from '../store.ts';
import { type Driver, type RawDatabase, type SqlRow, type SqlValue, sqliteDriver } from './driver.ts';

/** A compiled statement. Values bind to `?` in order. */
export interface Statement<Row = SqlRow> {
  /** Runs the statement. @returns the number of rows changed */
  run(...values: SqlValue[]): number;
  /** Inserts a row. @returns its id; undefined if none was inserted */
  insert(...values: SqlValue[]): number | undefined;
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  /** Yields rows; holds a read transaction open until it is exhausted or left. */
  iterate(...values: SqlValue[]): IterableIterator<Row>;
}

/** An open SQLite database; every call is synchronous. */
export interface Database {
  readonly file: string;
  /** Runs statements without results; one text may contain several. */
  exec(sql: string): void;
  /** Compiles a statement. `Row` is the caller's type of the columns: it is not checked. */
  prepare<Row = SqlRow>(sql: string): Statement<Row>;
  /**
   * Runs `work` as one transaction that takes the write lock at once (`BEGIN IMMEDIATE`): committed when `work` returns, rolled back
   * when it or the commit throws.
   */
  transaction<T>(work: () => T): T;
  /**
   * Closes the database, unless it is closed already. The driver for Node 20 cannot release a statement: its connection stays open,
   * unused, until the statements are collected, at the end of the process at the latest. Only then it removes `-wal` and `-shm`, by
   * name, if no other connection is open.
   */
  close(): void;
}

export interface OpenOptions {
  readonly readOnly?: boolean;
  /** How long a statement waits for another connection's lock, in ms; this blocks the thread. Default 5000. */
  readonly busyTimeoutMs?: number;
  /** Default: the result of `sqliteDriver()`. */
  readonly driver?: Driver;
  /** Called before every change of the database or of its shared memory; its errors are passed on. */
  readonly beforeWriting?: () => void;
}

/**
 * Opens a database file, and creates it unless `readOnly`, readable for its owner alone. The file may also be a `file:` URI, which is
 * opened unchanged. Declarations in the file are not trusted: its functions with outside effects are never called.
 * @throws the driver's Error, whose `errcode` is SQLite's result code (see `sqliteCode`); StateError `directory.link` |
 * `directory.kind` | `state.foreign`
 */
export function openDatabase(file: string, options: OpenOptions = {}): Database {
  const driver = options.driver ?? sqliteDriver();
  if (!/^(?::memory:$|file:)/.test(file) && !checkDatabaseFiles(file) && options.readOnly !== true)
    createPrivately(file);
  const raw = driver.open(file, { readOnly: options.readOnly ?? false });
  try {
    raw.exec(
      `PRAGMA busy_timeout = ${Math.trunc(options.busyTimeoutMs ?? 5000)}; PRAGMA trusted_schema = OFF`,
    );
  } catch (failure) {
    raw.close();
    throw failure;
  }
  let open = true;
  let isInTransaction = false;
  const { beforeWriting } = options;
  /** Writes the first thing that a read writes: a mark of how far this connection has read. Nobody else waits for that. */
  const readAgain = beforeWriting && (() => raw.exec('SELECT 1 FROM sqlite_schema LIMIT 1'));
  const writing = <T>(work: () => T): T => {
    if (beforeWriting === undefined || isInTransaction) return work();
    beforeWriting();
    const result = work();
    readAgain?.();
    return result;
  };
  return {
    file,
    exec: (sql) => writing(() => raw.exec(sql)),
    prepare: (sql) => prepare(raw, sql, writing),
    transaction: (work) =>
      writing(() => {
        isInTransaction = true;
        try {
          return transaction(raw, work);
        } finally {
          isInTransaction = false;
        }
      }),
    close: () => {
      if (!open) return;
      open = false;
      raw.close();
    },
  };
}

/** Endings of the files that SQLite keeps beside a database. */
const besides = ['-wal', '-shm', '-journal'] as const;

/** Returns the names of a database's files. */
export const databaseFiles = (file: string): readonly string[] => [
  file,
  ...besides.map((ending) => `${file}${ending}`),
];

/**
 * Refuses a database whose files are not plain files of its folder: SQLite follows links, and writes and deletes files beside the
 * database.
 * @returns whether the database exists
 * @throws StateError `directory.link` | `directory.kind` | `state.foreign`
 */
export function checkDatabaseFiles(file: string): boolean {
  const there = databaseFiles(file).map((name) => checkFile(name, { inPlace: true }));
  if (there.at(-1) === true) refuseSuperJournal(`${file}-journal`);
  return there[0] === true;
}

/** The last bytes of a journal that belongs to a transaction over several databases (https://sqlite.org/fileformat.html). */
const superJournalMark = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * Refuses a journal that ends with the name of another file: SQLite would delete that file, anywhere on the machine, after its
 * rollback. Only a transaction over several databases writes such a name, and there is none here. Reads the file only if nobody holds a
 * lock on it: closing it drops the locks of this process, and SQLite holds none on a journal.
 */
function refuseSuperJournal(file: string): void {
  const descriptor = openSync(file, constants.O_RDONLY | ownFile);
  try {
    const end = Buffer.alloc(superJournalMark.length);
    const { size } = fstatSync(descriptor);
    if (size < end.length) return;
    readSync(descriptor, end, 0, end.length, size - end.length);
    if (!end.equals(superJournalMark)) return;
  } finally {
    closeSync(descriptor);
  }
  throw new StateError(
    'state.foreign',
    `${file} names another file that SQLite would delete; promptpress never writes such a journal.`,
    {
      hint: 'Do not trust the directory: somebody made this file. Take another one with --out.',
    },
  );
}

/**
 * Creates a missing file, readable for its owner alone. SQLite would create it for everyone; its -wal and -shm files take over the mode
 * of this one. An existing file is left alone: opening and closing it would drop the locks that this process holds on it (POSIX).
 */
export function createPrivately(file: string): void {
  if (checkFile(file, { inPlace: true })) return;
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Another process was quicker.
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
  }
}

function prepare<Row>(raw: RawDatabase, sql: string, writing: <T>(work: () => T) => T): Statement<Row> {
  const statement = raw.prepare(sql);
  return {
    run: (...values) => writing(() => Number(statement.run(...values).changes)),
    insert: (...values) => {
      const { changes, lastInsertRowid } = writing(() => statement.run(...values));
      return Number(changes) === 0 ? undefined : Number(lastInsertRowid);
    },
    get: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as Row[],
    iterate: (...values) => statement.iterate(...values) as IterableIterator<Row>,
  };
}

function transaction<T>(raw: RawDatabase, work: () => T): T {
  raw.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    raw.exec('COMMIT');
    return result;
  } catch (failure) {
    try {
      raw.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself (full disk, I/O error): there is nothing to undo, and the first failure is the real one.
    }
    throw failure;
  }
}

/** SQLite's message for each result code (sqlite3_errstr), unchanged since version 3.7. */
const codeByMessage: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'database table is locked': 6,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'locking protocol': 15,
  'file is not a database': 26,
};

/**
 * Returns SQLite's primary result code of a driver's error; undefined for any other error. The driver for Node 20 leaves out the code
 * if `all` or `iterate` fail, so its message decides.
 */
export function sqliteCode(failure: unknown): number | undefined {
  if (!(failure instanceof Error) || !('code' in failure) || failure.code !== 'ERR_SQLITE_ERROR') {
    return undefined;
  }
  if ('errcode' in failure && typeof failure.errcode === 'number') {
    // The low byte is the primary code, the rest refines it (https://sqlite.org/rescode.html).
    return failure.errcode & 0xff;
  }
  return codeByMessage[failure.message];
}
