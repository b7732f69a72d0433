import { copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Driver } from '../../src/state/sqlite/driver.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading, type StateOptions } from '../../src/state/state.ts';
import { all } from '../rig/all.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';
import { refusalOf } from './refusals.ts';

/** A driver whose connections are changed as soon as they are open. */
const changed = (driver: Driver, sql: string): Driver => ({
  ...driver,
  open: (location, given) => {
    const raw = driver.open(location, given);
    raw.exec(sql);
    return raw;
  },
});

const probe = (driver: Driver, type: number, mounts = ''): StateOptions => ({
  driver,
  fileSystem: { type: () => type, mounts: () => mounts, platform: 'linux' },
});

const mount = (point: string, kind: string): string =>
  `36 35 98:0 / ${point} rw,noatime master:1 - ${kind} remote rw\n`;

describe.each(drivers.map((driver) => [driver.name, driver] as const))('state files with %s', (_, driver) => {
  const options: StateOptions = { driver };

  it('creates the run directory, and only its owner may read the state', () => {
    const directory = join(freshFolder(), 'runs', 'foxes');
    const state = openState(directory, options);
    state.commit({ records: [jobRecord('a', 'running')], attempts: [] });
    for (const name of readdirSync(directory)) {
      expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(readdirSync(directory)).toEqual(['state.db', 'state.db-shm', 'state.db-wal', 'submissions']);
    state.close();
    state.close();
  });

  it('continues where it was', () => {
    const directory = freshFolder();
    const first = openState(directory, options);
    first.commit({ records: [jobRecord('a', 'running', { taskId: '1' })], attempts: [] });
    first.close();
    const second = openState(directory, options);
    expect(second.unfinished()).toEqual([jobRecord('a', 'running', { taskId: '1' })]);
    second.close();
  });

  it('reads nothing if there is no state', () => {
    const directory = freshFolder();
    expect(openStateForReading(join(directory, 'missing'), options)).toBeUndefined();
    expect(openStateForReading(directory, options)).toBeUndefined();
    writeFileSync(join(directory, 'state.db'), '');
    expect(openStateForReading(directory, options)).toBeUndefined();
    expect(readdirSync(directory)).toEqual(['state.db']);
  });

  it('accepts a file that a crash left empty', () => {
    const directory = freshFolder();
    writeFileSync(join(directory, 'state.db'), '');
    const state = openState(directory, options);
    state.setFact('a', 'b');
    expect(state.fact('a')).toBe('b');
    state.close();
  });

  it('leaves the whole state in one file when it is closed', async () => {
    const directory = freshFolder();
    const state = openState(directory, options);
    state.commit({ records: [jobRecord('a', 'done')], attempts: [] });
    state.close();
    const alone = freshFolder();
    copyFileSync(join(directory, 'state.db'), join(alone, 'state.db'));
    const copy = openStateForReading(alone, options);
    expect(await copy?.get('a')).toEqual(jobRecord('a', 'done'));
    await copy?.close();
  });

  it('reads beside the writer, and sees each turn once it is committed', async () => {
    const directory = freshFolder();
    const state = openState(directory, options);
    const reader = openStateForReading(directory, options);
    expect((await reader?.totals())?.jobs.running).toBe(0);
    state.commit({ records: [jobRecord('a', 'running')], attempts: [] });
    expect((await reader?.totals())?.jobs.running).toBe(1);
    expect(await reader?.get('a')).toEqual(jobRecord('a', 'running'));
    // A reader that looks through pages holds nothing while it is between two of them.
    const walk = reader?.withStatus('running')[Symbol.asyncIterator]();
    expect((await walk?.next())?.value).toEqual(jobRecord('a', 'running'));
    state.commit({ records: [jobRecord('b', 'running')], attempts: [] });
    await reader?.close();
    state.close();
  });

  it('queries the indexes, not the table', async () => {
    const directory = freshFolder();
    const queries: string[] = [];
    const watched: Driver = {
      ...driver,
      open: (location, given) => {
        const raw = driver.open(location, given);
        return {
          exec: (sql) => raw.exec(sql),
          close: () => raw.close(),
          prepare: (sql) => {
            queries.push(sql);
            return raw.prepare(sql);
          },
        };
      },
    };
    const state = openState(directory, { driver: watched });
    for (const status of ['failed', 'in-doubt', 'pending'] as const)
      await all(state.reader.withStatus(status));
    state.close();
    const database = openDatabase(join(directory, 'state.db'), { driver });
    const plans = queries
      .filter((sql) => /^SELECT .* FROM (jobs|attempts|facts|json_each)/.test(sql))
      .map((sql) => [
        sql,
        database
          .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...Array.from(sql.matchAll(/\?/g), () => ''))
          .map((row) => row.detail)
          .join('; '),
      ]);
    database.close();
    expect(plans.length).toBeGreaterThanOrEqual(13);
    // A list of what is wanted is gone through; what it names is found through an index.
    const found = /^(SCAN wanted VIRTUAL TABLE INDEX \d+:; )?SEARCH (?!.*(SCAN|AUTOMATIC))/;
    expect(plans.filter(([, plan]) => !found.test(plan ?? ''))).toEqual([]);
  });

  describe('files that are not ours', () => {
    it('refuses another kind of file and leaves it unchanged', () => {
      const directory = freshFolder();
      const file = join(directory, 'state.db');
      writeFileSync(file, 'notes\n'.repeat(500));
      for (const open of [openState, openStateForReading]) {
        expect(refusalOf(() => open(directory, options)).code).toBe('state.foreign');
      }
      expect(statSync(file).size).toBe(3000);
    });

    it('refuses the database of another program and leaves it unchanged', () => {
      const directory = freshFolder();
      const file = join(directory, 'state.db');
      const other = openDatabase(file, { driver });
      other.exec('CREATE TABLE notes (text TEXT); PRAGMA user_version = 1');
      other.close();
      for (const open of [openState, openStateForReading]) {
        expect(refusalOf(() => open(directory, options)).code).toBe('state.foreign');
      }
      expect(existsSync(`${file}-wal`)).toBe(false);
    });
  });

  describe('disks that fail', () => {
    it('reports a full disk, keeps the former state, and continues when there is room', () => {
      const directory = freshFolder();
      const state = openState(directory, { driver: changed(driver, 'PRAGMA max_page_count = 40') });
      state.commit({ records: [jobRecord('a', 'running')], attempts: [] });
      const wide = jobRecord('b', 'done', { taskId: 'x'.repeat(200_000) });
      const failure = refusalOf(() =>
        state.commit({ records: [jobRecord('a', 'done'), wide], attempts: [] }),
      );
      expect(failure.code).toBe('state.full');
      expect(failure.cause).toBeInstanceOf(Error);
      expect(failure.message).toContain(directory);
      expect(state.get('a')?.status).toBe('running');
      state.commit({ records: [jobRecord('a', 'saving')], attempts: [] });
      expect(state.totals().jobs).toMatchObject({ saving: 1, done: 0 });
      state.close();
    });

    it('reports that the state cannot be written', () => {
      const directory = freshFolder();
      openState(directory, options).close();
      const state = openState(directory, { driver: changed(driver, 'PRAGMA query_only = 1') });
      const failure = refusalOf(() => state.commit({ records: [jobRecord('a', 'done')], attempts: [] }));
      expect(failure.code).toBe('state.readonly');
      state.close();
    });

    it('reports that the folder cannot be made', () => {
      const file = join(freshFolder(), 'file');
      writeFileSync(file, '');
      const failure = refusalOf(() => openState(join(file, 'run'), options));
      expect(failure.code).toBe('directory.kind');
      expect(failure.message).toContain(`${file} is a file, not a folder`);
    });

    it('reads the state of a read-only folder as it is, unless a log has more of it', async () => {
      const directory = freshFolder();
      // A reader needs a file beside the database, which SQLite cannot make there.
      const unwritable: Driver = {
        ...driver,
        open: (location, given) => {
          const raw = driver.open(location, given);
          if (location.startsWith('file:')) return raw;
          const failure = { code: 'ERR_SQLITE_ERROR', errcode: 14 };
          return {
            exec: (sql) => raw.exec(sql),
            close: () => raw.close(),
            prepare: () => {
              throw Object.assign(new Error('unable to open database file'), failure);
            },
          };
        },
      };
      const state = openState(directory, options);
      state.commit({ records: [jobRecord('a', 'running')], attempts: [] });
      const open = () => openStateForReading(directory, { driver: unwritable });
      expect(refusalOf(open).code).toBe('state.io');
      state.close();
      const reader = open();
      expect((await reader?.get('a'))?.status).toBe('running');
      await reader?.close();
    });

    it('reports that another program keeps the state locked', () => {
      const directory = freshFolder();
      const impatient: Driver = {
        ...driver,
        open: (location, given) => {
          const raw = driver.open(location, given);
          return {
            prepare: (sql) => raw.prepare(sql),
            close: () => raw.close(),
            exec: (sql) => raw.exec(sql.replace(/busy_timeout = \d+/, 'busy_timeout = 0')),
          };
        },
      };
      const state = openState(directory, { driver: impatient });
      const intruder = openDatabase(join(directory, 'state.db'), { driver });
      intruder.exec('BEGIN IMMEDIATE');
      const turn = { records: [jobRecord('a', 'running')], attempts: [] };
      expect(refusalOf(() => state.commit(turn)).code).toBe('state.busy');
      intruder.exec('ROLLBACK');
      intruder.close();
      state.commit(turn);
      expect(state.get('a')).toBeDefined();
      state.close();
    });
  });

  describe('network file systems', () => {
    it.each([
      ['NFS', 0x6969],
      ['SMB', 0x517b],
      ['CIFS', 0xff534d42],
      ['CIFS, sign-extended', 0xff534d42 - 2 ** 32],
    ])('refuses %s', (_name, type) => {
      const failure = refusalOf(() => openState(freshFolder(), probe(driver, type)));
      expect(failure.code).toBe('state.network');
      expect(failure.hint).toMatch(/--out/);
    });

    it.each([
      ['ext4', 0xef53],
      ['tmpfs', 0x01021994],
      ['9p', 0x01021997],
    ])('allows %s', (_name, type) => {
      const state = openState(freshFolder(), probe(driver, type));
      expect(state.totals().attempts).toBe(0);
      state.close();
    });

    it('identifies the programs behind FUSE by the longest mount', () => {
      const directory = freshFolder();
      const table = (kind: string): string =>
        `${mount('/', 'ext4')}${mount(directory, kind)}${mount('/other', 'fuse.sshfs')}`;
      expect(refusalOf(() => openState(directory, probe(driver, 0x65735546, table('fuse.sshfs')))).code).toBe(
        'state.network',
      );
      openState(directory, probe(driver, 0x65735546, table('fuse.mergerfs'))).close();
    });

    it('ignores a mount whose name is only a prefix of the directory', () => {
      const folder = freshFolder();
      const over = (name: string): StateOptions =>
        probe(
          driver,
          0x65735546,
          `${mount(folder, 'fuse.mergerfs')}${mount(join(folder, name), 'fuse.sshfs')}`,
        );
      openState(join(folder, 'database'), over('data')).close();
      expect(refusalOf(() => openState(join(folder, 'database'), over('database'))).code).toBe(
        'state.network',
      );
    });

    it('takes the later of two mounts at one point, because it covers the other', () => {
      const directory = freshFolder();
      const over = (...kinds: readonly string[]): StateOptions =>
        probe(driver, 0x65735546, kinds.map((kind) => mount(directory, kind)).join(''));
      expect(refusalOf(() => openState(directory, over('fuse.mergerfs', 'fuse.sshfs'))).code).toBe(
        'state.network',
      );
      openState(directory, over('fuse.sshfs', 'fuse.mergerfs')).close();
    });

    it('reads mount points with escaped characters', () => {
      const directory = join(freshFolder(), 'my runs');
      const table = mount(directory.replaceAll(' ', '\\040'), 'fuse.rclone');
      expect(refusalOf(() => openState(directory, probe(driver, 0x65735546, table))).code).toBe(
        'state.network',
      );
    });
  });
});
