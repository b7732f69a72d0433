import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock, lockOwner } from '../../../src/state/lock/lock.ts';
import type { LockOwner } from '../../../src/state/lock/owner.ts';
import { drivers, freshFolder, startChild } from '../places.ts';
import { refusalOf } from '../refusals.ts';

const me: LockOwner = { pid: process.pid, host: 'here', startedAt: '2026-01-02T03:04:05.000Z' };

describe.each(drivers.map((driver) => [driver.name, driver] as const))('the lock with %s', (_, driver) => {
  it('is taken once, named to the second, and free again after its release', () => {
    const directory = join(freshFolder(), 'run');
    const lock = acquireLock(directory, me, { driver });
    const failure = refusalOf(() => acquireLock(directory, { ...me, pid: 1 }, { driver }));
    expect(failure.code).toBe('state.locked');
    expect(failure.message).toContain(`process ${process.pid} on here, since 2026-01-02T03:04:05.000Z`);
    expect(lockOwner(directory, { driver })).toMatchObject(me);
    expect(readdirSync(directory)).toEqual(['lock', 'lock.json', 'state.lock']);
    lock.release();
    lock.release();
    expect(readdirSync(directory)).toEqual(['lock', 'state.lock']);
    expect(lockOwner(directory, { driver })).toBeUndefined();
    acquireLock(directory, me, { driver }).release();
  });

  it('has no owner if nobody has run', () => {
    expect(lockOwner(join(freshFolder(), 'missing'), { driver })).toBeUndefined();
  });

  it('ignores every name once it is free, and needs none while it is held', () => {
    const directory = freshFolder();
    writeFileSync(join(directory, 'lock.json'), JSON.stringify({ ...me, pid: 1 }));
    expect(lockOwner(directory, { driver })).toBeUndefined();
    const lock = acquireLock(directory, me, { driver });
    expect(JSON.parse(readFileSync(join(directory, 'lock.json'), 'utf8'))).toMatchObject(me);
    const host = `\u001b[2J\u009b1m\u202e${'a'.repeat(1_000)}`;
    writeFileSync(join(directory, 'lock.json'), JSON.stringify({ ...me, host, startedAt: '\u001b[2J' }));
    expect(lockOwner(directory, { driver })).toMatchObject({
      host: `??2J?1m?${'a'.repeat(247)}`,
      startedAt: '',
    });
    writeFileSync(join(directory, 'lock.json'), JSON.stringify({ ...me, pid: 1.5 }));
    expect(lockOwner(directory, { driver })).toEqual({ pid: 0, host: '', startedAt: '' });
    writeFileSync(join(directory, 'lock.json'), '{"pid":');
    expect(refusalOf(() => acquireLock(directory, me, { driver })).message).toContain('another process');
    expect(lockOwner(directory, { driver })).toEqual({ pid: 0, host: '', startedAt: '' });
    lock.release();
  });

  it('refuses a lock file that another program wrote', () => {
    const directory = freshFolder();
    writeFileSync(join(directory, 'lock'), 'pid 7\n'.repeat(200));
    expect(refusalOf(() => acquireLock(directory, me, { driver })).code).toBe('state.foreign');
  });

  it('is refused on a network file system', () => {
    const fileSystem = { type: () => 0x6969, mounts: () => '', platform: 'linux' };
    expect(refusalOf(() => acquireLock(freshFolder(), me, { driver, fileSystem })).code).toBe(
      'state.network',
    );
  });
});

describe('the lock between processes', () => {
  it('is free as soon as its owner was killed, whatever name it left', async () => {
    const directory = freshFolder();
    const owner = startChild('owner.ts', directory);
    await owner.says('held');
    expect(refusalOf(() => acquireLock(directory, me)).message).toContain(`process ${owner.pid} on here`);
    expect(lockOwner(directory)?.pid).toBe(owner.pid);
    await owner.kill();
    expect(lockOwner(directory)).toBeUndefined();
    const lock = acquireLock(directory, me);
    expect(lockOwner(directory)?.pid).toBe(process.pid);
    lock.release();
  });

  it('refuses the other process, and admits it after the release', async () => {
    const directory = freshFolder();
    const lock = acquireLock(directory, me);
    const refused = startChild('owner.ts', directory);
    await refused.says('state.locked');
    expect(refused.output()).toContain(`process ${process.pid} on here`);
    expect(await refused.ended).toBe(0);
    lock.release();
    const next = startChild('owner.ts', directory);
    await next.says('held');
    next.send('let go');
    expect(await next.ended).toBe(0);
    expect(lockOwner(directory)).toBeUndefined();
  });
});
