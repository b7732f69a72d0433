import { mkdirSync, statfsSync, symlinkSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FileSystemProbe, refuseNetwork, systemProbe } from '../../../src/state/files/file-system.ts';
import { StateError } from '../../../src/state/store.ts';
import { replaceFs, systemError } from '../../rig/replace-fs.ts';
import { freshFolder } from '../places.ts';

const fuse = 0x65735546;

const linux = (type: number, mounts = ''): FileSystemProbe => ({
  type: () => type,
  mounts: () => mounts,
  platform: 'linux',
});

/** The name of the network file system for which a folder is refused; `accepted` where it is not. */
function refusedFor(folder: string, probe: FileSystemProbe): string {
  try {
    refuseNetwork(folder, probe);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof StateError) || error.code !== 'state.network') throw error;
    if (!error.message.includes(folder) || error.hint?.includes('--out') !== true) throw error;
    return /\(([^)]+)\)\.$/.exec(error.message)?.[1] ?? 'without a name';
  }
}

/** A line of proc_pid_mountinfo(5). */
const mount = (point: string, type: string, more = 'master:1'): string =>
  `36 35 98:0 / ${point} rw,noatime ${more} - ${type} remote rw,user_id=0\n`;

describe('a folder on Linux, by the number of its file system', () => {
  // linux/magic.h and statfs(2).
  it.each([
    [0x6969, 'NFS'],
    [0x517b, 'SMB'],
    [0xff534d42, 'CIFS'],
    [0xfe534d42, 'SMB 2'],
    [0x564c, 'NCP'],
    [0x5346414f, 'AFS'],
    [0x6b414653, 'AFS'],
    [0x73757245, 'Coda'],
    [0x00c36400, 'CephFS'],
    [0x0bd00bd0, 'Lustre'],
    [0x47504653, 'GPFS'],
    [0x20030528, 'OrangeFS'],
    [0x19830326, 'BeeGFS'],
    [0x7461636f, 'OCFS2'],
    [0x01161970, 'GFS2'],
    [0x786f4256, 'a VirtualBox shared folder'],
  ])('%i is refused as %s, with or without the extended sign', (type, name) => {
    expect(refusedFor('/runs', linux(type))).toBe(name);
    expect(refusedFor('/runs', linux(type | 0))).toBe(name);
  });

  it.each([
    ['ext4', 0xef53],
    ['xfs', 0x58465342],
    ['btrfs', 0x9123683e],
    ['overlay', 0x794c7630],
    ['tmpfs', 0x01021994],
    ['9p', 0x01021997],
    ['virtiofs', 0x6a656a63],
    ['no type that is known', 0],
  ])('%s is accepted', (_name, type) => {
    expect(refusedFor('/runs', linux(type))).toBe('accepted');
  });
});

describe('a folder on Linux behind FUSE', () => {
  const servedBy = (type: string): string => {
    const folder = freshFolder();
    return refusedFor(folder, linux(fuse, mount(folder, type)));
  };

  it.each([
    'sshfs',
    's3fs',
    's3ql',
    'gcsfuse',
    'goofys',
    'geesefs',
    'mount-s3',
    'rclone',
    'glusterfs',
    'juicefs',
    'ceph',
    'davfs',
    'curlftpfs',
    'smbnetfs',
    'mfs',
    'moosefs',
    'lizardfs',
    'seaweedfs',
    'vmhgfs-fuse',
    'blobfuse',
    'blobfuse2',
    'nfs',
    // Programs append their version or their remote to the name.
    'ceph-fuse',
    'JuiceFS',
  ])('is refused if its program serves remote files: %s', (program) => {
    expect(servedBy(`fuse.${program}`)).toBe(`fuse.${program}`);
  });

  it.each([
    'fuse.mergerfs',
    'fuse.encfs',
    'fuse.bindfs',
    'fuseblk',
    'fuse',
    'ext4',
    'sshfs',
    'xfuse.sshfs',
    'fusexsshfs',
  ])('is accepted if its program serves local files: %s', (type) => {
    expect(servedBy(type)).toBe('accepted');
  });

  it('is looked up in the mount table only if the number means FUSE', () => {
    const folder = freshFolder();
    expect(refusedFor(folder, linux(0xef53, mount(folder, 'fuse.sshfs')))).toBe('accepted');
  });

  it('is accepted without a mount table, or without its mount in the table', () => {
    expect(refusedFor(freshFolder(), linux(fuse))).toBe('accepted');
    expect(refusedFor(freshFolder(), linux(fuse, 'nonsense\n\n - \n'))).toBe('accepted');
    expect(refusedFor(freshFolder(), linux(fuse, mount('/elsewhere', 'fuse.sshfs')))).toBe('accepted');
  });

  it('belongs to the mount of the root if no other contains it', () => {
    expect(refusedFor(freshFolder(), linux(fuse, mount('/', 'fuse.sshfs')))).toBe('fuse.sshfs');
  });

  it.each([
    ['the longest mount that holds it, whatever the order', ['fuse.sshfs', 'fuse.mergerfs'], 'accepted'],
    ['and not to one that is further away', ['fuse.mergerfs', 'fuse.sshfs'], 'fuse.sshfs'],
  ])('belongs to %s', (_which, [far = '', near = ''], expected) => {
    const folder = freshFolder();
    const inner = join(folder, 'a/b');
    mkdirSync(inner, { recursive: true });
    const lines = [mount('/', 'ext4'), mount(folder, far), mount(join(folder, 'a'), near)];
    expect(refusedFor(inner, linux(fuse, lines.join('')))).toBe(expected);
    expect(refusedFor(inner, linux(fuse, lines.toReversed().join('')))).toBe(expected);
  });

  it('belongs to the last of several mounts on one point, also on the root', () => {
    const lines = (point: string, ...types: readonly string[]): string =>
      types.map((type) => mount(point, type)).join('');
    const folder = freshFolder();
    for (const point of [folder, '/']) {
      expect(refusedFor(folder, linux(fuse, lines(point, 'ext4', 'fuse.sshfs')))).toBe('fuse.sshfs');
      expect(refusedFor(folder, linux(fuse, lines(point, 'fuse.sshfs', 'ext4')))).toBe('accepted');
    }
  });

  it('does not belong to a mount whose name is only a prefix of its own', () => {
    const folder = freshFolder();
    const inner = join(folder, 'database');
    mkdirSync(inner);
    const table = mount('/', 'ext4') + mount(join(folder, 'data'), 'fuse.sshfs');
    expect(refusedFor(inner, linux(fuse, table))).toBe('accepted');
  });

  it('is judged by the folder behind links', () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'remote'));
    symlinkSync('remote', join(folder, 'link'));
    const table = mount('/', 'ext4') + mount(join(folder, 'remote'), 'fuse.rclone');
    expect(refusedFor(join(folder, 'link'), linux(fuse, table))).toBe('fuse.rclone');
  });

  it.each([
    [' ', '\\040'],
    ['\t', '\\011'],
    ['\n', '\\012'],
    ['\\', '\\134'],
    ['#', '\\043'],
  ])('is recognised by a mount point with %j in it, which the table writes as %s', (character, escape) => {
    const folder = freshFolder();
    const inner = join(folder, `my${character}run${character}s`);
    mkdirSync(inner);
    const table = mount('/', 'ext4') + mount(join(folder, `my${escape}run${escape}s`), 'fuse.s3fs');
    expect(refusedFor(inner, linux(fuse, table))).toBe('fuse.s3fs');
  });

  it('is recognised with many optional fields in its line, or none', () => {
    const folder = freshFolder();
    for (const more of ['shared:1 master:2 propagate_from:3', ''])
      expect(refusedFor(folder, linux(fuse, mount(folder, 'fuse.sshfs', more).replace('  ', ' ')))).toBe(
        'fuse.sshfs',
      );
  });
});

describe('a folder on another system', () => {
  const on = (system: string, folder: string): string =>
    refusedFor(folder, { type: () => 0x6969, mounts: () => mount('/', 'fuse.sshfs'), platform: system });

  it.each([
    '\\\\server\\share',
    '//server/share',
    '\\/server\\share',
    '\\\\?\\UNC\\server\\share',
    '\\\\.\\UNC\\server\\share',
    '//?/UNC/server/share',
    '\\\\?\\unc\\server\\share',
    '\\\\?server\\share',
  ])('is refused on Windows at the network path %s', (folder) => {
    expect(on('win32', folder)).toBe('a network path');
  });

  it.each([
    'C:\\sets',
    'C:\\\\sets\\\\a',
    'C://sets',
    '\\sets',
    '\\\\?\\C:\\sets',
    '\\\\.\\C:\\sets',
    '//?/C:/sets',
  ])('is accepted on Windows at %s', (folder) => {
    expect(on('win32', folder)).toBe('accepted');
  });

  it.each(['darwin', 'freebsd'])('is accepted on %s, where the numbers mean something else', (system) => {
    expect(on(system, '/Users/me/sets')).toBe('accepted');
    expect(on(system, '//server/share')).toBe('accepted');
  });
});

describe('the report of this system about a folder', () => {
  it('contains its platform, and the number of its file system', () => {
    const folder = freshFolder();
    expect(systemProbe.platform).toBe(platform());
    expect(systemProbe.type(folder)).toBe(statfsSync(folder).type);
    expect(() => systemProbe.type(join(folder, 'missing'))).toThrow(
      expect.objectContaining({ code: 'ENOENT' }),
    );
  });

  it.runIf(platform() === 'linux')('is the mount table, with a type for each mount point', () => {
    expect(systemProbe.mounts()).toMatch(/^\d+ \d+ \d+:\d+ \S+ \/ .* - \S+ \S+ \S+$/m);
  });

  it('contains an empty mount table if there is none', () => {
    replaceFs({
      readFileSync: () => {
        throw systemError('ENOENT');
      },
    });
    expect(systemProbe.mounts()).toBe('');
  });
});
