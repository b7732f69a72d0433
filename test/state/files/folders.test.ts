import { chmodSync, closeSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isMissing, makeFolders, syncFolder, syncFolderAsync } from '../../../src/state/files/folders.ts';
import { StateError } from '../../../src/state/store.ts';
import { diskCalls, replaceFs, systemError } from '../../rig/replace-fs.ts';
import { onEachSync } from '../../rig/syncs.ts';
import { freshFolder } from '../places.ts';

describe('making the folders of a path', () => {
  it('makes missing folders with the mode, and leaves existing ones', () => {
    const base = freshFolder();
    mkdirSync(join(base, 'a'));
    chmodSync(join(base, 'a'), 0o750);
    makeFolders(join(base, 'a/b/c'), 0o700);
    makeFolders(join(base, 'a/b/c'), 0o755);
    const modes = ['a', 'a/b', 'a/b/c'].map((name) => statSync(join(base, name)).mode & 0o777);
    expect(modes).toEqual([0o750, 0o700, 0o700]);
  });

  it('follows links that lead to folders', () => {
    const base = freshFolder();
    mkdirSync(join(base, 'real'));
    symlinkSync('real', join(base, 'link'));
    makeFolders(join(base, 'link/a'));
    expect(statSync(join(base, 'real/a')).isDirectory()).toBe(true);
  });

  it.each(['file', 'file/a', 'file/a/b', 'nowhere', 'nowhere/a'])(
    'refuses %s because of what is in its way',
    (name) => {
      const base = freshFolder();
      writeFileSync(join(base, 'file'), '');
      symlinkSync('gone', join(base, 'nowhere'));
      const found = expect.objectContaining({
        code: 'directory.kind',
        message: expect.stringContaining(join(base, name.split('/')[0] ?? '')) as string,
        hint: expect.stringContaining('another directory') as string,
      }) as Error;
      expect(() => makeFolders(join(base, name))).toThrow(found);
    },
  );
});

describe('the durability of new folders', () => {
  it('comes from syncing each name in its parent folder before the next one is made', () => {
    const base = freshFolder();
    const calls = diskCalls((path) => relative(base, path) || '.');
    makeFolders(join(base, 'a/b/c'));
    expect(calls).toEqual([
      'mkdir a',
      'sync .',
      'close .',
      'mkdir a/b',
      'sync a',
      'close a',
      'mkdir a/b/c',
      'sync a/b',
      'close a/b',
    ]);
    calls.length = 0;
    makeFolders(join(base, 'a/b/c'));
    expect(calls).toEqual([]);
  });

  it('is skipped on file systems that cannot sync a folder, and for folders that cannot be listed', () => {
    for (const code of ['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP']) {
      const base = freshFolder();
      replaceFs({
        fsyncSync: () => {
          throw systemError(code, 'fsync');
        },
      });
      makeFolders(join(base, 'a/b'));
      expect(statSync(join(base, 'a/b')).isDirectory()).toBe(true);
    }
  });

  it('fails with an error if the disk fails', () => {
    replaceFs({
      fsyncSync: () => {
        throw systemError('EIO', 'fsync');
      },
    });
    expect(() => makeFolders(join(freshFolder(), 'a'))).toThrow(expect.objectContaining({ code: 'EIO' }));
  });

  it('does not depend on which process makes a folder first', () => {
    const base = freshFolder();
    const plainMkdir = mkdirSync;
    replaceFs({
      mkdirSync: (path: string, options: object) => {
        plainMkdir(path, { mode: 0o750 });
        return plainMkdir(path, options);
      },
    });
    makeFolders(join(base, 'a/b'), 0o700);
    expect(statSync(join(base, 'a/b')).mode & 0o777).toBe(0o750);
  });

  it('fails if another process put a file in its place', () => {
    const base = freshFolder();
    const plainMkdir = mkdirSync;
    replaceFs({
      mkdirSync: (path: string, options: object) => {
        writeFileSync(path, '');
        return plainMkdir(path, options);
      },
    });
    expect(() => makeFolders(join(base, 'a'))).toThrow(expect.objectContaining({ code: 'directory.kind' }));
  });

  it('fails with the reason of the file system', () => {
    for (const code of ['EACCES', 'ENOSPC', 'EROFS', 'ENAMETOOLONG']) {
      replaceFs({
        mkdirSync: () => {
          throw systemError(code, 'mkdir');
        },
      });
      expect(() => makeFolders(join(freshFolder(), 'a'))).toThrow(expect.objectContaining({ code }));
    }
  });
});

describe('a folder that cannot be made', () => {
  const messageOf = (folder: string): string => {
    try {
      makeFolders(folder);
    } catch (error) {
      if (error instanceof StateError) return error.message;
      throw error;
    }
    return 'made';
  };

  it('is reported with the obstacle and its kind', () => {
    const base = freshFolder();
    writeFileSync(join(base, 'file'), '');
    symlinkSync('gone', join(base, 'link'));
    expect(messageOf(join(base, 'file'))).toBe(`${join(base, 'file')} is a file, not a folder.`);
    expect(messageOf(join(base, 'link'))).toBe(`${join(base, 'link')} is a link that leads nowhere.`);
    expect(messageOf(join(base, 'file/a'))).toBe(
      `The folder ${join(base, 'file/a')} cannot be made: ${join(base, 'file')} is a file, not a folder.`,
    );
    expect(messageOf(join(base, 'link/a'))).toBe(
      `The folder ${join(base, 'link/a')} cannot be made: ${join(base, 'link')} is a link that leads nowhere.`,
    );
    expect(readdirSync(base)).toEqual(['file', 'link']);
  });

  it('is distinguished from one that cannot be inspected', () => {
    replaceFs({
      statSync: () => {
        throw systemError('EACCES', 'stat');
      },
    });
    expect(() => makeFolders('/a')).toThrow(expect.objectContaining({ code: 'EACCES' }));
  });

  it('is made below the working directory for a relative path', () => {
    const base = freshFolder();
    makeFolders(relative(process.cwd(), join(base, 'a')));
    expect(statSync(join(base, 'a')).isDirectory()).toBe(true);
  });

  describe.runIf(platform() === 'linux')('lies on a file system of the kernel', () => {
    // linux/magic.h
    it.each([
      [0x9fa0, 'procfs'],
      [0x62656572, 'sysfs'],
      [0x1cd1, 'devpts'],
      [0x64626720, 'debugfs'],
      [0x74726163, 'tracefs'],
      [0x73636673, 'securityfs'],
      [0xf97cff8c, 'selinuxfs'],
      [0x62656570, 'configfs'],
      [0xcafe4a11, 'bpf'],
      [0x0027e0eb, 'cgroup'],
      [0x63677270, 'cgroup2'],
      [0x19800202, 'mqueue'],
      [0x42494e4d, 'binfmt_misc'],
      [0x6165676c, 'pstore'],
      [0xde5e81e4, 'efivarfs'],
    ])('%i: %s', (type, name) => {
      const base = freshFolder();
      for (const reported of [type, type | 0]) {
        replaceFs({ statfsSync: () => ({ type: reported }) });
        expect(messageOf(join(base, 'a/b'))).toContain(`${base} belongs to the system (${name})`);
      }
      expect(readdirSync(base)).toEqual([]);
      // What is there needs not be made.
      expect(messageOf(base)).toBe('made');
    });

    it('is refused at once, with advice', () => {
      const refused = expect.objectContaining({
        code: 'directory.system',
        message: expect.stringContaining('(procfs)') as string,
        hint: expect.stringMatching(/\.$/) as string,
      }) as Error;
      expect(() => makeFolders('/proc/promptpress/runs/foxes')).toThrow(refused);
    });
  });
});

describe('an error of the file system', () => {
  it.each([
    ['ENOENT', true],
    ['ENOTDIR', true],
    ['EACCES', false],
    ['ELOOP', false],
  ])('%s means a missing path: %s', (code, expected) => {
    expect(isMissing(systemError(code))).toBe(expected);
  });

  it('is an error with a code', () => {
    for (const other of [new Error('ENOENT'), { code: 'ENOENT' }, undefined, null, 'ENOENT'])
      expect(isMissing(other)).toBe(false);
  });
});

describe('syncing a folder', () => {
  it('syncs that folder, and closes it', () => {
    const base = freshFolder();
    const calls = diskCalls((path) => relative(base, path) || '.');
    syncFolder(base);
    expect(calls).toEqual(['sync .', 'close .']);
  });

  it('closes the folder and fails where the disk fails, whatever the reason', () => {
    const base = freshFolder();
    const closed: number[] = [];
    const plainClose = closeSync;
    replaceFs({
      fsyncSync: () => {
        throw systemError('EINVAL', 'fsync');
      },
      closeSync: (file: number) => {
        closed.push(file);
        plainClose(file);
      },
    });
    expect(() => syncFolder(base)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    expect(closed).toHaveLength(1);
    expect(() => syncFolder(join(base, 'missing'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  it('syncs that folder without blocking', async () => {
    const base = freshFolder();
    const synced: number[] = [];
    await onEachSync((inode) => synced.push(inode));
    await syncFolderAsync(base);
    expect(synced).toEqual([statSync(base).ino]);
  });

  it('skips file systems that cannot do it without blocking, and fails if the disk fails', async () => {
    let code = '';
    await onEachSync(() => {
      throw systemError(code, 'fsync');
    });
    const outcomes: Record<string, string> = {};
    for (code of ['EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EIO', 'ENOSPC', 'EACCES'])
      outcomes[code] = await syncFolderAsync(freshFolder()).then(
        () => 'synced',
        (error: NodeJS.ErrnoException) => `fails with ${error.code}`,
      );
    expect(outcomes).toEqual({
      EPERM: 'synced',
      EISDIR: 'synced',
      EINVAL: 'synced',
      ENOTSUP: 'synced',
      EIO: 'fails with EIO',
      ENOSPC: 'fails with ENOSPC',
      EACCES: 'fails with EACCES',
    });
    await expect(syncFolderAsync(join(freshFolder(), 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.runIf(platform() === 'linux')('leaves nothing open, however it ends', async () => {
    const base = freshFolder();
    const open = (): number => readdirSync('/proc/self/fd').length;
    await syncFolderAsync(base);
    const before = open();
    for (let n = 0; n < 4; n += 1) await syncFolderAsync(base);
    await onEachSync(() => {
      throw systemError('EINVAL', 'fsync');
    });
    const during = open();
    for (let n = 0; n < 4; n += 1) await syncFolderAsync(base);
    expect([during, open()]).toEqual([before, before]);
  });
});
