import { join } from 'node:path';
import { makeFolders } from '../../../state/files/folders.ts';
import { refuseOtherSchema, schemaMadeBy } from '../../../state/sqlite/own-schema.ts';
import { type Database, openDatabase, type Statement, sqliteCode } from '../../../state/sqlite/sqlite.ts';
import { stateErrorOf } from '../../../state/state-error.ts';
import { StateError } from '../../../state/store.ts';
import { type ImageShelf, sha256Of } from '../../images/shelf.ts';
import type { StoredTask } from '../task.ts';
import type { TaskBook } from './book.ts';

const databaseName = 'sandbox.sqlite';

const schema = `
  CREATE TABLE IF NOT EXISTS task (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    request TEXT NOT NULL,
    occupies_until REAL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS image (
    sha256 TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS task_request ON task (request);
  CREATE INDEX IF NOT EXISTS task_occupies ON task (occupies_until) WHERE occupies_until IS NOT NULL;
`;

/**
 * A store of tasks in `sandbox.sqlite` of the state folder. `add` returns when the task is on the disk, so that a task id that a client
 * knows is never forgotten. A transaction on `sandbox.lock`, which ends with the process, excludes other sandboxes.
 */
export class DiskBook implements TaskBook {
  readonly #folder: string;
  readonly #lock: Database;
  readonly #database: Database;
  readonly #insert: Statement;
  readonly #select: Statement<{ record: string }>;
  readonly #count: Statement<{ count: number }>;
  readonly #update: Statement;
  readonly images: ImageShelf;

  /** @throws StateError: `state.locked` if another sandbox uses the folder, `state.corrupt`, or an error of the file system or of SQLite */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      makeFolders(folder);
      this.#lock = openDatabase(join(folder, 'sandbox.lock'), { busyTimeoutMs: 0 });
    } catch (cause) {
      throw bookFailure(folder, cause);
    }
    try {
      this.#lock.exec('BEGIN EXCLUSIVE');
      this.#database = openDatabase(join(folder, databaseName));
    } catch (cause) {
      this.#lock.close();
      throw bookFailure(folder, cause);
    }
    try {
      const own = schemaMadeBy((database) => database.exec(schema));
      refuseOtherSchema(this.#database, own, { partly: true });
      // On macOS, fsync alone leaves data in the cache of the drive.
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
      this.#database.exec(schema);
    } catch (cause) {
      this.#database.close();
      this.#lock.close();
      throw bookFailure(folder, cause);
    }
    this.#insert = this.#database.prepare(
      'INSERT OR REPLACE INTO task (id, request, occupies_until, record) VALUES (?, ?, ?, ?)',
    );
    this.#select = this.#database.prepare('SELECT record FROM task WHERE id = ?');
    this.#update = this.#database.prepare(
      'UPDATE task SET request = ?, occupies_until = ?, record = ? WHERE id = ?',
    );
    this.images = shelfIn(this.#database);
    this.#count = this.#database.prepare('SELECT count(*) AS count FROM task WHERE request = ?');
  }

  add(task: StoredTask, changed?: StoredTask): void {
    if (changed === undefined) {
      this.#insertOne(task);
      return;
    }
    this.#database.transaction(() => {
      this.change(changed);
      this.#insertOne(task);
    });
  }

  forget(): void {
    this.#database.exec('DELETE FROM task');
  }

  change(task: StoredTask): void {
    this.#update.run(task.request, task.occupies ? task.endAt : null, JSON.stringify(task), task.id);
  }

  get(id: string): StoredTask | undefined {
    return this.#ask(() => read(this.#select.get(id)));
  }

  unfinished(now: number): readonly StoredTask[] {
    return this.#all('SELECT record FROM task WHERE occupies_until > ? ORDER BY number', now);
  }

  accepted(request: string): number {
    return this.#count.get(request)?.count ?? 0;
  }

  madeBy(request: string): StoredTask | undefined {
    const sql = 'SELECT record FROM task WHERE request = ? ORDER BY number LIMIT 1';
    return read(this.#database.prepare<{ record: string }>(sql).get(request));
  }

  lastId(): string | undefined {
    return this.newest(1)[0]?.id;
  }

  newest(count: number): readonly StoredTask[] {
    return this.#all('SELECT record FROM task ORDER BY number DESC LIMIT ?', count);
  }

  get size(): number {
    const row = this.#database.prepare<{ count: number }>('SELECT count(*) AS count FROM task').get();
    return row?.count ?? 0;
  }

  close(): void {
    this.#database.close();
    this.#lock.exec('ROLLBACK');
    this.#lock.close();
  }

  #insertOne(task: StoredTask): void {
    this.#insert.run(task.id, task.request, task.occupies ? task.endAt : null, JSON.stringify(task));
  }

  #all(sql: string, value: number): readonly StoredTask[] {
    return this.#ask(() =>
      this.#database
        .prepare<{ record: string }>(sql)
        .all(value)
        .flatMap((row) => read(row) ?? []),
    );
  }

  #ask<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw bookFailure(this.#folder, cause);
    }
  }
}

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const busy = 5;
const damageCodes: readonly (number | undefined)[] = [11, 26];

/** Turns an error of SQLite or JSON into a StateError for the user. Returns any other error unchanged. */
function bookFailure(folder: string, cause: unknown): unknown {
  const code = sqliteCode(cause);
  if (code === busy) {
    return new StateError(
      'state.locked',
      `The sandbox cannot keep its tasks in ${folder}: another sandbox holds it.`,
      { cause, hint: 'End that one, or give each sandbox its own folder.' },
    );
  }
  if (damageCodes.includes(code) || cause instanceof SyntaxError) {
    return new StateError('state.corrupt', `${join(folder, databaseName)} is damaged.`, {
      cause,
      hint: 'Restore it from a backup, or remove it: a sandbox makes a new one, and no longer knows the tasks of this one.',
    });
  }
  if (code !== undefined) return stateErrorOf('io', join(folder, databaseName), cause);
  return cause;
}

function read(row: { readonly record: string } | undefined): StoredTask | undefined {
  return row === undefined ? undefined : (JSON.parse(row.record) as StoredTask);
}

function shelfIn(database: Database): ImageShelf {
  const insert = database.prepare('INSERT OR IGNORE INTO image (sha256, bytes) VALUES (?, ?)');
  const select = database.prepare<{ bytes: Uint8Array }>('SELECT bytes FROM image WHERE sha256 = ?');
  return {
    keep(bytes) {
      const sha256 = sha256Of(bytes);
      insert.run(sha256, bytes);
      return sha256;
    },
    get(sha256) {
      const row = select.get(sha256);
      return row === undefined ? undefined : Buffer.from(row.bytes);
    },
  };
}
