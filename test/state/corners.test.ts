import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exactJson } from '../../src/pipeline/values/exact-json.ts';
import { WrittenNumber } from '../../src/pipeline/values/value.ts';
import { checkDirectory, pipelineFacts } from '../../src/state/binding.ts';
import { refuseNetwork } from '../../src/state/files/file-system.ts';
import { acquireLock, lockOwner } from '../../src/state/lock/lock.ts';
import type { LockOwner } from '../../src/state/lock/owner.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';
import { codeOf } from './refusals.ts';

describe.each(drivers.map((driver) => [driver.name, driver] as const))('a record with %s', (_, driver) => {
  it('keeps every digit of its integers, so that the same request is sent under the same key', async () => {
    const directory = freshFolder();
    const id = new WrittenNumber('12345678901234567890', Number('12345678901234567890'));
    const request = { kind: 'chat', fields: { model: 'm', prompt: 'p', extra: { id } } } as const;
    const first = openState(directory, { driver });
    first.commit({ records: [jobRecord('a', 'failed', { kind: 'chat', request })], attempts: [] });
    first.close();
    const state = openState(directory, { driver });
    expect(exactJson(state.get('a')?.request)).toBe(exactJson(request));
    expect(exactJson((await state.reader.get('a'))?.request)).toContain('"id":12345678901234567890');
    state.close();
  });
});

describe('a run directory', () => {
  const on = (platform: string, folder: string): string =>
    codeOf(() => refuseNetwork(folder, { type: () => 0x6969, mounts: () => '', platform }));

  it.each(['\\\\server\\share', '//server/share', '\\\\?\\UNC\\server\\share'])(
    'on Windows is refused at %s',
    (folder) => {
      expect(on('win32', folder)).toBe('state.network');
    },
  );

  it.each(['C:\\sets', '\\\\?\\C:\\sets', '\\\\.\\C:\\sets'])('on Windows is accepted at %s', (folder) => {
    expect(on('win32', folder)).toBe('done');
  });

  it('on macOS is accepted, because its numbers mean something else', () => {
    expect(on('darwin', '/Users/me/sets')).toBe('done');
  });

  it('that was bound only partly still belongs to its pipeline', async () => {
    const state = memoryStore();
    state.setFact(pipelineFacts.file, '../foxes.yaml');
    await expect(
      checkDirectory(state.reader, '/sets/runs/foxes', { file: '/other/foxes.yaml', text: '' }),
    ).rejects.toMatchObject({ code: 'state.foreign', message: expect.stringContaining('../foxes.yaml') });
  });
});

describe.each(drivers.map((driver) => [driver.name, driver] as const))('with %s', (_, driver) => {
  it('a file that a crash left without a schema is not a state yet, and becomes one', async () => {
    const directory = freshFolder();
    const file = join(directory, 'state.db');
    const database = openDatabase(file, { driver });
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); DROP TABLE t;');
    database.close();
    expect(openStateForReading(directory, { driver })).toBeUndefined();
    openState(directory, { driver }).close();
    expect((await openStateForReading(directory, { driver })?.totals())?.attempts).toBe(0);
  });

  it('a database in a missing folder cannot be made', () => {
    const file = join(freshFolder(), 'missing', 'a.db');
    expect(() => openDatabase(file, { driver })).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  it.each([
    ['null', { pid: 0, host: '', startedAt: '' }],
    ['{"pid":"7","host":"here"}', { pid: 0, host: '', startedAt: '' }],
    ['{"pid":7}', { pid: 0, host: '', startedAt: '' }],
    ['{"pid":7,"host":"here"}', { pid: 7, host: 'here', startedAt: '' }],
  ])('a lock whose owner is written as %s is still held', (text, owner) => {
    const directory = freshFolder();
    const me: LockOwner = { pid: process.pid, host: 'here', startedAt: '2026-01-02T03:04:05.000Z' };
    const lock = acquireLock(directory, me, { driver });
    writeFileSync(join(directory, 'lock.json'), text);
    expect(lockOwner(directory, { driver })).toEqual(owner);
    lock.release();
  });
});
