import { mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Driver } from '../../src/state/sqlite/driver.ts';
import { applicationId, formerApplicationId, stateVersion } from '../../src/state/sqlite/schema.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { StateError } from '../../src/state/store.ts';
import { diskCalls, replaceFs, systemError } from '../rig/replace-fs.ts';
import { around, sqliteError } from './noting-driver.ts';
import { drivers, freshFolder } from './places.ts';
import { codeOf } from './refusals.ts';

describe.each(drivers.map((driver) => [driver.name, driver] as const))(
  'opening a state with %s',
  (_, driver) => {
    /** A driver that counts its open connections, by their file. */
    const counting = (plain: Driver = driver) => {
      const open: string[] = [];
      const counted = around(plain, {
        open: (location) => open.push(location),
        close: (location) => open.splice(open.indexOf(location), 1),
      });
      return { driver: counted, open };
    };

    it('makes the name of its file durable before anything is in it', () => {
      const base = freshFolder();
      const calls = diskCalls((path) => relative(base, path) || '.');
      const noting = around(driver, { open: (location) => calls.push(`open ${relative(base, location)}`) });
      const state = openState(join(base, 'runs'), { driver: noting });
      expect(calls.filter((call) => !/^(close|open :memory:|open \.\.)/.test(call)).slice(0, 7)).toEqual([
        'mkdir runs',
        'sync .',
        'create runs/state.db',
        'sync runs',
        'open runs/state.db',
        'create runs/submissions',
        'sync runs',
      ]);
      state.close();
      calls.length = 0;
      openState(join(base, 'runs'), { driver: noting }).close();
      expect(calls.filter((call) => /^(sync|mkdir|create runs\/state)/.test(call))).toEqual([]);
    });

    it('waits for the disk at each commit, truncates a long log, and keeps 16 MiB of pages', () => {
      const settings: unknown[] = [];
      const noting: Driver = {
        ...driver,
        open: (location, given) => {
          const raw = driver.open(location, given);
          if (location === ':memory:') return raw;
          return {
            prepare: (sql) => raw.prepare(sql),
            exec: (sql) => raw.exec(sql),
            close: () => {
              for (const name of [
                'synchronous',
                'fullfsync',
                'checkpoint_fullfsync',
                'journal_mode',
                'journal_size_limit',
                'cache_size',
              ])
                settings.push(raw.prepare(`PRAGMA ${name}`).get());
              raw.close();
            },
          };
        },
      };
      const directory = freshFolder();
      const expected = [
        { synchronous: 2 },
        // On macOS these reach the disk itself; elsewhere they are set and change nothing.
        { fullfsync: 1 },
        { checkpoint_fullfsync: 1 },
        { journal_mode: 'wal' },
        { journal_size_limit: 64 * 1024 * 1024 },
        { cache_size: -16 * 1024 },
      ];
      for (let n = 0; n < 2; n += 1) {
        settings.length = 0;
        openState(directory, { driver: noting }).close();
        expect(settings).toEqual(expected);
      }
    });

    it('is refused if the file system has no memory that processes share', () => {
      const { driver: counted, open } = counting();
      const rollback: Driver = {
        ...counted,
        open: (location, given) => {
          const raw = counted.open(location, given);
          return {
            exec: (sql) => raw.exec(sql),
            close: () => raw.close(),
            prepare: (sql) => raw.prepare(sql.replace('journal_mode = WAL', 'journal_mode = DELETE')),
          };
        },
      };
      const directory = freshFolder();
      expect(() => openState(directory, { driver: rollback })).toThrow(
        expect.objectContaining({
          code: 'state.io',
          message: expect.stringContaining('no shared memory') as string,
          hint: expect.stringContaining('--out') as string,
        }),
      );
      expect(open).toEqual([]);
    });

    it('is refused on a network file system before anything is made', () => {
      const directory = freshFolder();
      const fileSystem = { type: () => 0x6969, mounts: () => '', platform: 'linux' };
      expect(codeOf(() => openState(directory, { driver, fileSystem }))).toBe('state.network');
      expect(readdirSync(directory)).toEqual([]);
    });

    it('checks the lock before it returns, and closes everything if the lock is lost', () => {
      const directory = freshFolder();
      const { driver: counted, open } = counting();
      const lock = {
        check: () => {
          throw new StateError('state.replaced', 'The lock is gone.');
        },
      };
      const counts = (): number => {
        if (platform() !== 'linux') return 0;
        const files = readdirSync('/proc/self/fd').map((name) => {
          try {
            return readlinkSync(join('/proc/self/fd', name));
          } catch {
            // The handle of the listing itself.
            return '';
          }
        });
        return files.filter((file) => file === join(directory, 'submissions')).length;
      };
      for (let n = 0; n < 3; n += 1)
        expect(codeOf(() => openState(directory, { driver: counted, lock }))).toBe('state.replaced');
      expect([open, counts()]).toEqual([[], 0]);
      openState(directory, { driver }).close();
    });

    it('is refused if one of its files is a link, and nothing is written through it', () => {
      for (const name of ['state.db', 'state.db-wal', 'submissions']) {
        const directory = freshFolder();
        const elsewhere = join(freshFolder(), 'kept');
        writeFileSync(elsewhere, '');
        symlinkSync(elsewhere, join(directory, name));
        expect(codeOf(() => openState(directory, { driver }))).toBe('directory.link');
        expect(statSync(elsewhere).size).toBe(0);
      }
    });

    it('marks a state with its maker and its version, together with its tables', () => {
      const directory = freshFolder();
      openState(directory, { driver }).close();
      const database = openDatabase(join(directory, 'state.db'), { driver, readOnly: true });
      expect(database.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0x50507374 });
      expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: stateVersion });
      database.close();
      const failing = around(driver, {
        exec: (sql, location) => {
          if (location !== ':memory:' && sql.includes('PRAGMA application_id')) throw sqliteError(13);
          return undefined;
        },
      });
      const fresh = freshFolder();
      expect(codeOf(() => openState(fresh, { driver: failing }))).toBe('state.full');
      expect(openStateForReading(fresh, { driver })).toBeUndefined();
    });

    it.each([
      ['no mark of ours', 0, 1, ''],
      ['no version', applicationId, 0, ''],
      ['a version below 0', applicationId, -1, ''],
      ['another mark', applicationId + 1, 1, ''],
      ['a table only', 0, 0, 'CREATE TABLE jobs (key)'],
    ])('is refused if a file has %s, and the file is not changed', (_what, application, version, sql) => {
      const directory = freshFolder();
      const file = join(directory, 'state.db');
      const database = openDatabase(file, { driver });
      database.exec(`PRAGMA application_id = ${application}; PRAGMA user_version = ${version}; ${sql}`);
      database.close();
      const { mtimeMs, size } = statSync(file);
      const { driver: counted, open } = counting();
      expect(codeOf(() => openState(directory, { driver: counted }))).toBe('state.foreign');
      expect(codeOf(() => openStateForReading(directory, { driver: counted }))).toBe('state.foreign');
      expect([open, statSync(file).mtimeMs, statSync(file).size]).toEqual([[], mtimeMs, size]);
    });

    it.each([
      [
        'of a newer release',
        'state.version',
        applicationId,
        stateVersion + 1,
        'state version 2; this release knows 1',
      ],
      ['of before the first release', 'state.older', formerApplicationId, 8, 'before 0.1.0'],
    ])('%s is refused, and not changed', (_what, code, application, version, words) => {
      const directory = freshFolder();
      openState(directory, { driver }).close();
      const file = join(directory, 'state.db');
      const database = openDatabase(file, { driver });
      database.exec(`PRAGMA application_id = ${application}; PRAGMA user_version = ${version}`);
      database.close();
      const { mtimeMs, size } = statSync(file);
      const { driver: counted, open } = counting();
      for (const work of [openState, openStateForReading])
        expect(() => work(directory, { driver: counted })).toThrow(
          expect.objectContaining({ code, message: expect.stringContaining(words) as string }),
        );
      expect([open, statSync(file).mtimeMs, statSync(file).size]).toEqual([[], mtimeMs, size]);
    });
  },
);

describe('a state whose disk fails', () => {
  it('reports the code of the failure, whatever step of opening fails', () => {
    for (const [name, code] of [
      ['openSync', 'state.full'],
      ['lstatSync', 'state.full'],
      ['fsyncSync', 'state.full'],
    ] as const) {
      const directory = freshFolder();
      const undo = replaceFs({
        [name]: () => {
          throw systemError('ENOSPC', 'write');
        },
      });
      expect(codeOf(() => openState(directory))).toBe(code);
      undo();
      openState(directory).close();
    }
  });

  it('is refused if a folder has its name, or its own folder is a file', () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'state.db'));
    writeFileSync(join(folder, 'file'), '');
    expect(codeOf(() => openStateForReading(folder))).toBe('directory.kind');
    expect(codeOf(() => openStateForReading(join(folder, 'file')))).toBe('state.io');
  });
});
