import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock, lockOwner } from '../../../src/state/lock/lock.ts';
import {
  identified,
  isAlive,
  isSameProcess,
  type LockOwner,
  type ProcessProbe,
  systemProcesses,
} from '../../../src/state/lock/owner.ts';
import { StateError } from '../../../src/state/store.ts';
import { replaceFs, systemError } from '../../rig/replace-fs.ts';
import { drivers, freshFolder, startChild, startChildBy } from '../places.ts';

const startedAt = '2026-01-02T03:04:05.000Z';
const me: LockOwner = { pid: 1, host: 'here', startedAt };

/** A system on which these processes run: pid → start. */
const system = (
  bootId: string,
  running: Readonly<Record<number, string>>,
  pidNamespace?: string,
): ProcessProbe => ({
  bootId: () => bootId,
  pidNamespace: () => pidNamespace,
  startOf: (pid) => running[pid],
});

/** A system that has no /proc. */
const silent: ProcessProbe = {
  bootId: () => undefined,
  pidNamespace: () => undefined,
  startOf: () => undefined,
};

/** A directory whose lock is free and in which an owner left its name. */
function leftBy(owner: LockOwner): string {
  const directory = freshFolder();
  writeFileSync(join(directory, 'lock.json'), JSON.stringify(owner));
  return directory;
}

const codeOf = (work: () => { release(): void }): string => {
  try {
    work().release();
    return 'acquired';
  } catch (error) {
    if (error instanceof StateError) return error.code;
    throw error;
  }
};

describe.each(drivers.map((driver) => [driver.name, driver] as const))(
  'a lock that is free, with %s',
  (_, driver) => {
    const left = { ...me, pid: 1, bootId: 'b1', processStart: '900' };
    it.each([
      ['its owner runs', left, system('b1', { 1: '900', 7: '950' }), 7, 'state.locked'],
      [
        'a container was killed and started again: the same pid, begun later',
        left,
        system('b1', { 1: '950' }),
        1,
        'acquired',
      ],
      ['the machine was started again', left, system('b2', { 1: '900', 7: '950' }), 7, 'acquired'],
      ['nothing has its pid', left, system('b1', { 7: '950' }), 7, 'acquired'],
      ['another process has its pid', left, system('b1', { 1: '901', 7: '950' }), 7, 'acquired'],
      ['the owner is this very process', left, system('b1', { 1: '900' }), 1, 'acquired'],
      ['its start is unknown', { ...me, bootId: 'b1' }, system('b1', { 1: '900', 7: '950' }), 7, 'acquired'],
      ['its boot is unknown', { ...me, processStart: '900' }, system('b1', { 1: '900' }), 7, 'acquired'],
      ['the system knows nothing of it', left, silent, 7, 'acquired'],
      [
        'its owner runs in another container, and its locks were removed',
        { ...left, pidNamespace: 'n1' },
        system('b1', { 1: '950' }, 'n2'),
        1,
        'state.locked',
      ],
      [
        'it was left in another container before the machine was started again',
        { ...left, pidNamespace: 'n1' },
        system('b2', { 1: '950' }, 'n2'),
        1,
        'acquired',
      ],
      [
        'its owner in this container is over',
        { ...left, pidNamespace: 'n1' },
        system('b1', { 1: '950' }, 'n1'),
        1,
        'acquired',
      ],
    ] as const)('where %s', (_why, owner, processes, pid, outcome) => {
      const directory = leftBy(owner);
      expect(codeOf(() => acquireLock(directory, { ...me, pid }, { driver, processes }))).toBe(outcome);
      expect(existsSync(join(directory, 'lock.json'))).toBe(outcome === 'state.locked');
      // Also when it is tried again.
      expect(codeOf(() => acquireLock(directory, { ...me, pid }, { driver, processes }))).toBe(outcome);
    });

    it.each([
      ['both its locks lie there', []],
      ['its first lock was removed', ['lock']],
      ['its second lock was removed', ['state.lock']],
    ])('is taken if its owner in another container has died and %s', (_why, removed) => {
      const directory = freshFolder();
      const there = system('b1', { 1: '900' }, 'n1');
      const here = system('b1', { 1: '950' }, 'n2');
      acquireLock(directory, me, { driver, processes: there }).release();
      for (const name of removed) rmSync(join(directory, name));
      writeFileSync(join(directory, 'lock.json'), JSON.stringify({ ...left, pidNamespace: 'n1' }));
      expect(codeOf(() => acquireLock(directory, me, { driver, processes: here }))).toBe('acquired');
    });

    it.each(['lock', 'state.lock'])('is not taken if only %s was removed while its owner runs', (name) => {
      const directory = freshFolder();
      const there = system('b1', { 1: '900' }, 'n1');
      const here = system('b1', { 1: '950' }, 'n2');
      const lock = acquireLock(directory, me, { driver, processes: there });
      rmSync(join(directory, name));
      for (let times = 0; times < 2; times += 1) {
        expect(codeOf(() => acquireLock(directory, me, { driver, processes: here }))).toBe('state.locked');
        expect(lockOwner(directory, { driver, processes: here })?.pid).toBe(1);
      }
      expect(() => lock.check()).toThrow(StateError);
      lock.release();
    });

    it('reports a running owner to readers', () => {
      const processes = system('b1', { 1: '900' });
      const directory = leftBy(left);
      expect(lockOwner(directory, { driver, processes })).toEqual(left);
      writeFileSync(join(directory, 'lock'), '');
      expect(lockOwner(directory, { driver, processes })).toEqual(left);
      expect(lockOwner(directory, { driver, processes: system('b2', { 1: '900' }) })).toBeUndefined();
    });
  },
);

describe('a process', () => {
  const known = { ...me, pid: 7, bootId: 'b1', processStart: '900' };

  it('is named with its boot and its start, where the system reports both', () => {
    expect(identified({ ...me, pid: 7 }, system('b1', { 7: '900' }))).toEqual(known);
    expect(identified({ ...me, pid: 7 }, system('b1', { 8: '900' }))).toEqual({ ...me, pid: 7 });
    expect(identified({ ...me, pid: 7 }, { ...system('', { 7: '900' }), bootId: () => undefined })).toEqual({
      ...me,
      pid: 7,
    });
  });

  it.each([
    ['of no known boot', { bootId: undefined }],
    ['of no known start', { processStart: undefined }],
    ['of another boot', { bootId: 'b2' }],
    ['of another start', { processStart: '901' }],
    ['of another pid', { pid: 8 }],
  ])('%s is not known to run', (_which, other) => {
    const { bootId, processStart, ...plain } = { ...known, ...other };
    const owner: LockOwner = {
      ...plain,
      ...(bootId === undefined ? {} : { bootId }),
      ...(processStart === undefined ? {} : { processStart }),
    };
    expect(isAlive(known, system('b1', { 7: '900' }))).toBe(true);
    expect(isAlive(owner, system('b1', { 7: '900' }))).toBe(false);
    expect(isAlive(owner, silent)).toBe(false);
    expect(isSameProcess(known, owner)).toBe(false);
    expect(isSameProcess(owner, known)).toBe(false);
  });

  it('without known facts does not run on a system that reports nothing either', () => {
    const half: ProcessProbe = { ...silent, startOf: () => '900' };
    const other: ProcessProbe = { ...silent, bootId: () => 'b1' };
    for (const processes of [silent, half, other])
      for (const owner of [me, { ...me, bootId: 'b1' }, { ...me, processStart: '900' }, known])
        expect(isAlive(owner, processes)).toBe(false);
  });

  it('is the same under another host, start of the run, or command', () => {
    expect(isSameProcess(known, { ...known, host: 'there', startedAt: '', command: 'x' })).toBe(true);
    expect(isSameProcess(me, { ...me })).toBe(true);
  });
});

describe.runIf(platform() === 'linux')('what this system reports of a process', () => {
  const reporting = (files: Readonly<Record<string, string>>): void => {
    replaceFs({
      readFileSync: (file: string) => {
        const text = files[file];
        if (text === undefined) throw systemError('ENOENT');
        return text;
      },
    });
  };
  /** proc_pid_stat(5): the state is field 3, the start field 22. */
  const stat = (name: string, state: string): string =>
    `7 (${name}) ${state} 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 900 1000 10 184 0\n`;

  it.each(['node', 'a b', ')', ') Z 1 2 (', '(((', 'X) S 1 (x'])(
    'has its start, whatever its name: %s',
    (name) => {
      reporting({ '/proc/7/stat': stat(name, 'S') });
      expect(systemProcesses.startOf(7)).toBe('900');
    },
  );

  it.each([
    ['S', '900'],
    ['R', '900'],
    ['D', '900'],
    ['T', '900'],
    ['Z', undefined],
    ['X', undefined],
  ])('has a start only while it runs: state %s', (state, start) => {
    reporting({ '/proc/7/stat': stat('node', state) });
    expect(systemProcesses.startOf(7)).toBe(start);
  });

  it('has no start if it is missing, or on a system without /proc', () => {
    reporting({});
    expect([systemProcesses.startOf(7), systemProcesses.bootId()]).toEqual([undefined, undefined]);
    reporting({ '/proc/7/stat': '' });
    expect(systemProcesses.startOf(7)).toBeUndefined();
  });

  it('has the boot without its line end', () => {
    reporting({ '/proc/sys/kernel/random/boot_id': '55218d29-fdde\n' });
    expect(systemProcesses.bootId()).toBe('55218d29-fdde');
  });
});

describe.runIf(platform() === 'linux')('processes of this system', () => {
  it('are identified by boot, pid and start, as long as they run', async () => {
    const directory = freshFolder();
    const owner = startChild('owner.ts', directory);
    await owner.says('held');
    const name = JSON.parse(readFileSync(join(directory, 'lock.json'), 'utf8')) as LockOwner;
    expect(name).toMatchObject({
      pid: owner.pid,
      bootId: expect.any(String),
      processStart: expect.any(String),
    });
    expect(isAlive(name, systemProcesses)).toBe(true);
    expect(isAlive({ ...name, processStart: '1' }, systemProcesses)).toBe(false);
    // Its lock is removed under it: the name alone says that it is there.
    rmSync(join(directory, 'lock'));
    expect(codeOf(() => acquireLock(directory, { ...me, pid: process.pid }))).toBe('state.locked');
    await owner.kill();
    expect(isAlive(name, systemProcesses)).toBe(false);
    expect(codeOf(() => acquireLock(directory, { ...me, pid: process.pid }))).toBe('acquired');
  });

  it('have no start after they have ended, even before somebody has waited for them', async () => {
    // The child ends once the shell has become a program that never waits for it.
    const child = 'until grep -q sleep /proc/$PPID/comm; do :; done';
    const shell = spawn('sh', ['-c', `sh -c '${child}' & echo $!; exec sleep 60`]);
    try {
      const pid = Number(
        await new Promise<string>((resolve) => shell.stdout.once('data', (text) => resolve(String(text)))),
      );
      const state = (): string | undefined =>
        existsSync(`/proc/${pid}/stat`)
          ? readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0]
          : undefined;
      while (state() !== 'Z') await new Promise((resolve) => setImmediate(resolve));
      expect(systemProcesses.startOf(pid)).toBeUndefined();
      expect(systemProcesses.startOf(shell.pid ?? 0)).toMatch(/^\d+$/);
    } finally {
      shell.kill('SIGKILL');
    }
  });
});

/** A program in a pid namespace of its own, as in a container: it is process 1 there. */
const apart = 'unshare --user --map-root-user --pid --fork --kill-child --mount-proc'.split(' ');
const [unshare = '', ...flags] = apart;

describe.runIf(spawnSync(unshare, [...flags, 'true']).status === 0)('two containers of this machine', () => {
  it.each([
    ['lock.json', 'lock'],
    ['lock', 'state.lock'],
  ])('are not both let into a directory of which %s and %s were removed', async (...removed) => {
    const directory = freshFolder();
    const first = startChildBy(apart, 'owner.ts', directory);
    await first.says('held');
    expect(JSON.parse(readFileSync(join(directory, 'lock.json'), 'utf8'))).toMatchObject({ pid: 1 });
    for (const name of removed) rmSync(join(directory, name));
    const second = startChildBy(apart, 'owner.ts', directory);
    await second.says('state.locked');
    await first.kill();
  });
});
