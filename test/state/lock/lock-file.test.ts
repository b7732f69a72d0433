import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock, lockOwner } from '../../../src/state/lock/lock.ts';
import type { LockOwner } from '../../../src/state/lock/owner.ts';
import type { Driver } from '../../../src/state/sqlite/driver.ts';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { diskCalls, replaceFs, systemError } from '../../rig/replace-fs.ts';
import { around, sqliteError } from '../noting-driver.ts';
import { drivers, freshFolder } from '../places.ts';
import { codeOf, refusalOf } from '../refusals.ts';

const me: LockOwner = { pid: process.pid, host: 'here', startedAt: '2026-01-02T03:04:05.000Z' };

/** Waits 1 ms for whoever holds the lock, not a quarter of a second: here nobody lets go of it meanwhile. */
const hasty = (driver: Driver): Driver =>
  around(driver, { exec: (sql) => sql.replace(/(?<=busy_timeout = )250\b/, '1') });

describe.each(drivers.map((driver) => [driver.name, hasty(driver)] as const))(
  'the lock and its file, with %s',
  (_, driver) => {
    const ownerFile = (directory: string): string => join(directory, 'lock.json');

    it('is free for the next owner after each failure to take it', () => {
      const directory = freshFolder();
      const elsewhere = join(freshFolder(), 'kept');
      writeFileSync(elsewhere, '{}');
      for (const [bad, code] of [
        [() => symlinkSync(elsewhere, ownerFile(directory)), 'directory.link'],
        [() => linkSync(elsewhere, ownerFile(directory)), 'directory.link'],
        [() => mkdirSync(ownerFile(directory)), 'directory.kind'],
      ] as const) {
        bad();
        expect(codeOf(() => acquireLock(directory, me, { driver }))).toBe(code);
        rmSync(ownerFile(directory), { recursive: true });
        expect(lockOwner(directory, { driver })).toBeUndefined();
        acquireLock(directory, me, { driver }).release();
      }
      expect(readFileSync(elsewhere, 'utf8')).toBe('{}');
    });

    it('is free again if the name of its owner cannot be written', () => {
      const directory = freshFolder();
      const undo = replaceFs({
        renameSync: () => {
          throw systemError('ENOSPC', 'rename');
        },
      });
      expect(refusalOf(() => acquireLock(directory, me, { driver })).code).toBe('state.full');
      undo();
      acquireLock(directory, { ...me, pid: 1 }, { driver }).release();
    });

    it('is taken before its owner is named, and the name appears only when it is complete', () => {
      const directory = freshFolder();
      let seen: unknown;
      const calls = diskCalls((path) => relative(directory, path).replace(/[0-9a-f]{8}/, 'X'));
      const noting = around(driver, {
        executed: (sql) => {
          if (sql.includes('EXCLUSIVE')) calls.push('lock');
          if (sql === 'ROLLBACK') calls.push('free');
        },
        close: () => calls.push('closed'),
      });
      const lock = acquireLock(directory, me, { driver: noting });
      seen = JSON.parse(readFileSync(ownerFile(directory), 'utf8'));
      lock.release();
      expect(seen).toMatchObject(me);
      expect(calls).toEqual([
        'create lock',
        'close lock',
        'create state.lock',
        'close state.lock',
        'lock',
        'lock',
        'write lock.json.X.part',
        'rename lock.json.X.part lock.json',
        'close lock.json',
        'remove lock.json',
        'free',
        'free',
        'closed',
        'closed',
      ]);
    });

    it('waits a moment, and no longer, for others who check it', () => {
      const waits: string[] = [];
      const noting = around(driver, {
        executed: (sql) => waits.push(...(/busy_timeout = (\d+)/.exec(sql)?.slice(1) ?? [])),
      });
      const directory = freshFolder();
      const lock = acquireLock(directory, me, { driver: noting });
      expect(lockOwner(directory, { driver: noting })?.pid).toBe(me.pid);
      lock.release();
      expect(waits).toEqual(['250', '250', '250']);
    });

    it('is freed even if the name of its owner cannot be removed', () => {
      const directory = freshFolder();
      const processes = { bootId: () => undefined, pidNamespace: () => undefined, startOf: () => undefined };
      const lock = acquireLock(directory, me, { driver, processes });
      const undo = replaceFs({
        rmSync: () => {
          throw systemError('EROFS', 'rm');
        },
      });
      expect(refusalOf(() => lock.release()).code).toBe('state.readonly');
      undo();
      lock.release();
      expect(readdirSync(directory)).toEqual(['lock', 'lock.json', 'state.lock']);
      expect(lockOwner(directory, { driver })).toBeUndefined();
      acquireLock(directory, { ...me, pid: 1 }, { driver }).release();
    });

    it('leaves no unreadable name behind, and ignores a missing one', () => {
      const directory = freshFolder();
      const first = acquireLock(directory, me, { driver });
      writeFileSync(ownerFile(directory), '{"pid":');
      first.release();
      expect(readdirSync(directory)).toEqual(['lock', 'state.lock']);
      const second = acquireLock(directory, me, { driver });
      rmSync(ownerFile(directory));
      second.release();
      expect(readdirSync(directory)).toEqual(['lock', 'state.lock']);
    });

    it.each([
      ['another pid', { pid: 2 }],
      ['another boot', { bootId: 'b2' }],
      ['another start', { processStart: '901' }],
    ])('keeps the name of a process with %s', (_which, other) => {
      const directory = freshFolder();
      const processes = { bootId: () => 'b1', pidNamespace: () => undefined, startOf: () => '900' };
      const lock = acquireLock(directory, { ...me, pid: 1 }, { driver, processes });
      const name = { ...me, pid: 1, bootId: 'b1', processStart: '900', ...other };
      writeFileSync(ownerFile(directory), JSON.stringify(name));
      lock.release();
      expect(JSON.parse(readFileSync(ownerFile(directory), 'utf8'))).toEqual(name);
    });

    it('is not taken if it was replaced while it was taken', () => {
      const directory = freshFolder();
      const swapping = around(driver, {
        exec: (sql, location) => {
          if (sql.includes('EXCLUSIVE')) {
            rmSync(location);
            writeFileSync(location, '');
          }
          return undefined;
        },
      });
      expect(codeOf(() => acquireLock(directory, me, { driver: swapping }))).toBe('state.replaced');
      expect(readdirSync(directory)).toEqual(['lock', 'state.lock']);
      acquireLock(directory, me, { driver }).release();
    });

    it('is lost with its file, and the next writer is told', () => {
      const directory = freshFolder();
      const lock = acquireLock(directory, me, { driver });
      lock.check();
      expect(statSync(ownerFile(directory)).mode & 0o777).toBe(0o600);
      rmSync(ownerFile(directory));
      lock.check();
      rmSync(join(directory, 'lock'));
      expect(codeOf(() => lock.check())).toBe('state.replaced');
      writeFileSync(join(directory, 'lock'), '');
      expect(codeOf(() => lock.check())).toBe('state.replaced');
      lock.release();
    });

    it('is checked without a trace: nothing is made, and nothing stays open', () => {
      const directory = freshFolder();
      for (const there of [[], ['lock'], ['lock', 'state.lock']]) {
        for (const name of there) writeFileSync(join(directory, name), '');
        expect(lockOwner(directory, { driver })).toBeUndefined();
        expect(readdirSync(directory)).toEqual(there);
      }
      const closed: string[] = [];
      const noting = around(driver, {
        close: (_location, readOnly) => closed.push(readOnly ? 'reader' : 'writer'),
      });
      lockOwner(directory, { driver: noting });
      expect(closed).toEqual(['reader', 'reader']);
      expect(() => acquireLock(directory, { ...me, host: 1n as never }, { driver: noting })).toThrow(
        TypeError,
      );
      expect(closed).toEqual(['reader', 'reader', 'writer', 'writer']);
    });

    it('is refused with any content by readers too', () => {
      const directory = freshFolder();
      writeFileSync(join(directory, 'lock'), 'x');
      expect(codeOf(() => lockOwner(directory, { driver }))).toBe('state.foreign');
      const database = openDatabase(join(freshFolder(), 'lock'), { driver });
      database.exec('CREATE TABLE notes (a)');
      database.close();
      copyFileSync(database.file, join(directory, 'lock'));
      for (const work of [
        () => acquireLock(directory, me, { driver }),
        () => lockOwner(directory, { driver }),
      ])
        expect(codeOf(work)).toBe('state.foreign');
    });

    it('reports a failure of SQLite that does not concern an owner', () => {
      const directory = freshFolder();
      acquireLock(directory, me, { driver }).release();
      const failing = (part: string, errcode: number): Driver =>
        around(driver, {
          exec: (sql) => {
            if (sql.includes(part)) throw sqliteError(errcode);
            return undefined;
          },
        });
      for (const [part, errcode, code] of [
        ['BEGIN', 10, 'state.io'],
        ['BEGIN', 11, 'state.corrupt'],
        ['busy_timeout', 11, 'state.corrupt'],
      ] as const) {
        const options = { driver: failing(part, errcode) };
        expect(codeOf(() => lockOwner(directory, options))).toBe(code);
        expect(codeOf(() => acquireLock(directory, me, options))).toBe(code);
      }
      expect(codeOf(() => acquireLock(directory, me, { driver: failing('BEGIN', 5) }))).toBe('state.locked');
    });

    it('is recognised by any SQLite while it is held', () => {
      for (const other of drivers) {
        const directory = freshFolder();
        const lock = acquireLock(directory, me, { driver });
        expect(lockOwner(directory, { driver: other })?.pid).toBe(me.pid);
        expect(codeOf(() => acquireLock(directory, me, { driver: other }))).toBe('state.locked');
        lock.release();
      }
    });
  },
);

describe('the name of an owner, written by any process,', () => {
  const shown = (written: unknown): LockOwner | undefined => {
    const directory = freshFolder();
    const lock = acquireLock(directory, me);
    writeFileSync(join(directory, 'lock.json'), JSON.stringify(written));
    const owner = lockOwner(directory);
    lock.release();
    return owner;
  };

  it.each(['plain-host.example.org', 'füchse_7', 'fe80::1', '狐', 'ͣe\u0301'])('shows the host %s', (host) => {
    expect(shown({ ...me, host })?.host).toBe(host);
  });

  it.each([
    ['a host (other)', 'a?host??other?'],
    ['a\r\nb\t', 'a??b?'],
    ['<b>/\\"\'', '?b?????'],
    ['\u200b\u202e', '??'],
  ])('shows %j as %s', (host, plain) => {
    expect(shown({ ...me, host })?.host).toBe(plain);
  });

  it('shows a host of the longest allowed length', () => {
    for (const length of [0, 1, 254, 255])
      expect(shown({ ...me, host: 'a'.repeat(length) })?.host).toHaveLength(length);
    expect(shown({ ...me, host: 'a'.repeat(256) })?.host).toHaveLength(255);
  });

  it.each([
    ['2026-01-02T03:04:05.000Z', true],
    ['2026-01-02T03:04:05+01:00', true],
    ['1'.repeat(40), true],
    ['1'.repeat(41), false],
    ['', false],
    ['2026-01-02 03:04:05', false],
    ['\u001b[2J2026', false],
    ['2026\u001b[2J', false],
    ['2026-01-02T03:04:05.000Z\n', false],
    ['yesterday', false],
    [20_260_102, false],
    [null, false],
    [['2026'], false],
  ])('shows the time %j only if it is a time', (startedAt, isTime) => {
    expect(shown({ ...me, startedAt })?.startedAt).toBe(isTime ? startedAt : '');
  });

  it('keeps the other facts about the process', () => {
    const known = { command: 'promptpress run', bootId: 'b', processStart: '7' };
    expect(shown({ ...me, ...known })).toEqual({ ...me, ...known });
  });

  it.each([
    ['no number', { ...me, pid: '7' }],
    ['no whole number', { ...me, pid: 7.5 }],
    ['no safe number', { ...me, pid: 2 ** 53 }],
    ['no pid', { host: 'here', startedAt: '' }],
    ['no host', { pid: 7, startedAt: '' }],
    ['a host that is no text', { ...me, host: 7 }],
    ['nothing', null],
    ['a list', []],
    ['a text', 'me'],
    ['more than any owner writes', { ...me, host: 'a'.repeat(64 * 1024) }],
  ])('is unknown if it has %s', (_what, written) => {
    expect(shown(written)).toEqual({ pid: 0, host: '', startedAt: '' });
  });

  it('is read up to 64 KiB', () => {
    const directory = freshFolder();
    const lock = acquireLock(directory, me);
    const text = JSON.stringify({ ...me, command: '' });
    const withLength = (length: number): string => {
      writeFileSync(
        join(directory, 'lock.json'),
        text.replace('""', `"${'a'.repeat(length - text.length)}"`),
      );
      return lockOwner(directory)?.host ?? 'nobody';
    };
    expect([withLength(64 * 1024), withLength(64 * 1024 + 1)]).toEqual(['here', '']);
    lock.release();
  });

  it('is in the refusal, with advice', () => {
    const directory = freshFolder();
    const lock = acquireLock(directory, me);
    const { message, hint } = refusalOf(() => acquireLock(directory, { ...me, pid: 1 }));
    expect(message).toBe(
      `Another run holds ${directory}: process ${process.pid} on here, since 2026-01-02T03:04:05.000Z.`,
    );
    expect(hint).toMatch(/--out/);
    lock.release();
  });
});
