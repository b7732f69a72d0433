import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  checkDatabaseFiles,
  createPrivately,
  databaseFiles,
  openDatabase,
  sqliteCode,
} from '../../../src/state/sqlite/sqlite.ts';
import { journalNaming } from '../../rig/journal.ts';
import { replaceFs, systemError } from '../../rig/replace-fs.ts';
import { around, sqliteError } from '../noting-driver.ts';
import { drivers, freshFolder } from '../places.ts';
import { codeOf } from '../refusals.ts';

describe.each(drivers.map((driver) => [driver.name, driver] as const))('a database with %s', (_, driver) => {
  it('is made readable for its owner alone, and keeps its mode', () => {
    const file = join(freshFolder(), 'a.db');
    openDatabase(file, { driver }).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o640);
    openDatabase(file, { driver }).close();
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it('is not made for reading, or in memory', () => {
    const folder = freshFolder();
    expect(() => openDatabase(join(folder, 'a.db'), { driver, readOnly: true })).toThrow(
      expect.objectContaining({ errcode: 14 }),
    );
    openDatabase(':memory:', { driver }).close();
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(':memory:')).toBe(false);
  });

  it('with a URI is opened as the URI says', () => {
    const folder = freshFolder();
    const file = join(folder, 'a.db');
    const first = openDatabase(file, { driver });
    first.exec('CREATE TABLE t (a); INSERT INTO t VALUES (7)');
    first.close();
    const uri = `${pathToFileURL(file).href}?immutable=1`;
    const database = openDatabase(uri, { driver, readOnly: true });
    expect(database.file).toBe(uri);
    expect(database.prepare('SELECT a FROM t').get()).toEqual({ a: 7 });
    database.close();
    expect(readdirSync(folder)).toEqual(['a.db']);
  });

  it('opened for reading is not written', () => {
    const file = join(freshFolder(), 'a.db');
    openDatabase(file, { driver }).close();
    const database = openDatabase(file, { driver, readOnly: true });
    expect(() => database.exec('CREATE TABLE t (a)')).toThrow(expect.objectContaining({ errcode: 8 }));
    database.close();
    const written = openDatabase(file, { driver });
    written.exec('CREATE TABLE t (a)');
    written.close();
  });

  it.each([
    [undefined, 5000],
    [0, 0],
    [250, 250],
    [99.9, 99],
  ])('waits %s ms for the lock of another connection', (busyTimeoutMs, expected) => {
    const database = openDatabase(':memory:', {
      driver,
      ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
    });
    expect(database.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: expected });
    database.close();
  });

  it('is closed if it cannot be prepared, and closed once', () => {
    const closed: string[] = [];
    const file = join(freshFolder(), 'a.db');
    const failing = around(driver, {
      exec: () => {
        throw sqliteError(11);
      },
      close: (location) => closed.push(location),
    });
    expect(() => openDatabase(file, { driver: failing })).toThrow('SQLite failed');
    expect(closed).toEqual([file]);
    const database = openDatabase(file, { driver: around(driver, { close: () => closed.push('again') }) });
    database.close();
    database.close();
    expect(closed).toEqual([file, 'again']);
    expect(() => database.exec('SELECT 1')).toThrow(/open/);
  });

  it('binds the values of statements in order', () => {
    const database = openDatabase(':memory:', { driver });
    database.exec('CREATE TABLE t (a, b); CREATE TABLE u (a)');
    const put = database.prepare('INSERT INTO t VALUES (?, ?)');
    expect([put.run(1, 'x'), put.run(2, null), put.run(3, new Uint8Array([7]))]).toEqual([1, 1, 1]);
    expect(database.prepare('UPDATE t SET b = ? WHERE a > ?').run('y', 1)).toBe(2);
    const all = database.prepare<{ a: number; b: string }>('SELECT a, b FROM t WHERE a >= ? ORDER BY a');
    expect(all.all(2)).toEqual([
      { a: 2, b: 'y' },
      { a: 3, b: 'y' },
    ]);
    expect([...all.iterate(3)]).toEqual([{ a: 3, b: 'y' }]);
    expect([all.get(1), all.get(9)]).toEqual([{ a: 1, b: 'x' }, undefined]);
    database.close();
  });
});

describe.each(drivers.map((driver) => [driver.name, driver] as const))(
  'a transaction with %s',
  (_, driver) => {
    const opened = (watch: Parameters<typeof around>[1] = {}) => {
      const statements: string[] = [];
      const database = openDatabase(join(freshFolder(), 'a.db'), {
        driver: around(driver, {
          ...watch,
          exec: (sql, location) => {
            statements.push(sql);
            return watch.exec?.(sql, location);
          },
        }),
      });
      database.exec('CREATE TABLE t (a)');
      statements.length = 0;
      const count = (): unknown => database.prepare('SELECT count(*) AS n FROM t').get();
      return { database, statements, count };
    };

    it('takes the write lock before its work, and is committed once with all of it', () => {
      const { database, statements, count } = opened();
      const result = database.transaction(() => {
        statements.push('work');
        database.exec('INSERT INTO t VALUES (1)');
        database.exec('INSERT INTO t VALUES (2)');
        return 7;
      });
      expect(result).toBe(7);
      expect(statements).toEqual([
        'BEGIN IMMEDIATE',
        'work',
        'INSERT INTO t VALUES (1)',
        'INSERT INTO t VALUES (2)',
        'COMMIT',
      ]);
      expect(count()).toEqual({ n: 2 });
      database.close();
    });

    it('leaves nothing of failed work, and can be repeated', () => {
      const { database, statements, count } = opened();
      const failure = new Error('no');
      expect(() =>
        database.transaction(() => {
          database.exec('INSERT INTO t VALUES (1)');
          throw failure;
        }),
      ).toThrow(failure);
      expect(statements.at(-1)).toBe('ROLLBACK');
      expect(count()).toEqual({ n: 0 });
      database.transaction(() => database.exec('INSERT INTO t VALUES (1)'));
      expect(count()).toEqual({ n: 1 });
      database.close();
    });

    it('leaves nothing of a failed commit, and reports that failure even if nothing is left to undo', () => {
      let fails = true;
      const { database, count } = opened({
        exec: (sql) => {
          if (!fails || sql !== 'COMMIT') return undefined;
          // As SQLite does on a full disk: it rolls back by itself.
          return 'ROLLBACK; INSERT INTO missing VALUES (1)';
        },
      });
      expect(() => database.transaction(() => database.exec('INSERT INTO t VALUES (1)'))).toThrow(/missing/);
      expect(count()).toEqual({ n: 0 });
      fails = false;
      database.transaction(() => database.exec('INSERT INTO t VALUES (1)'));
      expect(count()).toEqual({ n: 1 });
      database.close();
    });

    it('cannot be nested', () => {
      const { database } = opened();
      const other = openDatabase(database.file, { driver, busyTimeoutMs: 0 });
      database.transaction(() => {
        expect(codeIn(() => other.transaction(() => 1))).toBe(5);
      });
      expect(other.transaction(() => 1)).toBe(1);
      other.close();
      database.close();
    });

    const codeIn = (work: () => unknown): unknown => {
      try {
        return work();
      } catch (error) {
        return sqliteCode(error);
      }
    };
  },
);

describe('the files of a database', () => {
  it('are four', () => {
    expect(databaseFiles('/runs/a.db')).toEqual([
      '/runs/a.db',
      '/runs/a.db-wal',
      '/runs/a.db-shm',
      '/runs/a.db-journal',
    ]);
  });

  it('exist if the first of them exists', () => {
    const file = join(freshFolder(), 'a.db');
    expect(checkDatabaseFiles(file)).toBe(false);
    writeFileSync(`${file}-wal`, '');
    expect(checkDatabaseFiles(file)).toBe(false);
    writeFileSync(file, '');
    expect(checkDatabaseFiles(file)).toBe(true);
  });

  it.each(['', '-wal', '-shm', '-journal'])('have no second name, and are not folders: %s', (ending) => {
    const folder = freshFolder();
    const file = join(folder, 'a.db');
    const other = join(freshFolder(), 'kept');
    writeFileSync(other, 'kept');
    linkSync(other, `${file}${ending}`);
    expect(codeOf(() => openDatabase(file))).toBe('directory.link');
    expect(codeOf(() => createPrivately(`${file}${ending}`))).toBe('directory.link');
    expect(readFileSync(other, 'utf8')).toBe('kept');
    const elsewhere = join(freshFolder(), 'a.db');
    mkdirSync(`${elsewhere}${ending}`);
    expect(codeOf(() => openDatabase(elsewhere))).toBe('directory.kind');
  });

  it.each([0, 7, 8, 9, 100])('may include a journal of %i bytes that names no other file', (size) => {
    const file = join(freshFolder(), 'a.db');
    writeFileSync(`${file}-journal`, Buffer.alloc(size, 0xd9));
    expect(codeOf(() => checkDatabaseFiles(file))).toBe('done');
  });

  it('may not include a journal that names another file, and are closed when it is refused', () => {
    const file = join(freshFolder(), 'a.db');
    const journal = journalNaming(join(freshFolder(), 'victim'));
    for (const bytes of [journal, journal.subarray(-8), journal.subarray(-9)]) {
      writeFileSync(`${file}-journal`, bytes);
      expect(codeOf(() => checkDatabaseFiles(file))).toBe('state.foreign');
    }
    const open = (): number => (platform() === 'linux' ? readdirSync('/proc/self/fd').length : 0);
    const before = open();
    for (let n = 0; n < 4; n += 1) expect(codeOf(() => checkDatabaseFiles(file))).toBe('state.foreign');
    truncateSync(`${file}-journal`, journal.length - 1);
    for (let n = 0; n < 4; n += 1) expect(codeOf(() => checkDatabaseFiles(file))).toBe('done');
    expect(open()).toBe(before);
    expect(() => {
      writeFileSync(`${file}-journal`, journal);
      checkDatabaseFiles(file);
    }).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`${file}-journal names another file`) as string,
        hint: expect.stringContaining('--out') as string,
      }),
    );
  });
});

describe('a file that is created privately', () => {
  it('is empty and for its owner alone; an existing one is not changed', () => {
    const file = join(freshFolder(), 'a');
    createPrivately(file);
    expect([statSync(file).size, statSync(file).mode & 0o777]).toEqual([0, 0o600]);
    writeFileSync(file, 'text');
    chmodSync(file, 0o640);
    createPrivately(file);
    expect([statSync(file).size, statSync(file).mode & 0o777]).toEqual([4, 0o640]);
  });

  it('may be created by another process meanwhile, and fails for every other reason', () => {
    const file = join(freshFolder(), 'a');
    for (const [code, outcome] of [
      ['EEXIST', 'done'],
      ['ENOSPC', 'ENOSPC'],
      ['EACCES', 'EACCES'],
    ] as const) {
      replaceFs({
        openSync: () => {
          throw systemError(code);
        },
      });
      let found = 'done';
      try {
        createPrivately(file);
      } catch (error) {
        found = String((error as NodeJS.ErrnoException).code);
      }
      expect(found).toBe(outcome);
    }
  });
});

describe("SQLite's result code of an error", () => {
  it.each([
    [5, 5],
    [261, 5],
    [2570, 10],
    [0xff, 0xff],
  ])('%i has the primary code %i', (errcode, primary) => {
    expect(sqliteCode(sqliteError(errcode))).toBe(primary);
  });

  // sqlite3_errstr
  it.each([
    ['database is locked', 5],
    ['database table is locked', 6],
    ['attempt to write a readonly database', 8],
    ['disk I/O error', 10],
    ['database disk image is malformed', 11],
    ['database or disk is full', 13],
    ['unable to open database file', 14],
    ['locking protocol', 15],
    ['file is not a database', 26],
    ['something else', undefined],
  ])('is found by the words if the driver leaves it out: %s', (message, code) => {
    const error = Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR' });
    expect(sqliteCode(error)).toBe(code);
    expect(sqliteCode(Object.assign(error, { errcode: '13' }))).toBe(code);
    expect(sqliteCode(Object.assign(error, { errcode: 13 }))).toBe(13);
  });

  it('is undefined for any other error', () => {
    for (const other of [
      new Error('database is locked'),
      Object.assign(new Error('database is locked'), { code: 'EIO', errcode: 5 }),
      { code: 'ERR_SQLITE_ERROR', errcode: 5, message: 'database is locked' },
      undefined,
      null,
      'database is locked',
    ])
      expect(sqliteCode(other)).toBeUndefined();
  });
});
