import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { platform } from 'node:os';
import { StateError } from '../store.ts';

/**
 * File systems that machines share, by the `f_type` that Linux reports (statfs(2), linux/magic.h). WAL keeps its index in memory shared
 * by all processes that have the file open, which works on one machine only (https://sqlite.org/wal.html).
 *
 * 9p and virtiofs are not listed: virtual machines and containers use them for the whole disk of one kernel, where locks and shared
 * memory work.
 */
const networkTypes: ReadonlyMap<number, string> = new Map([
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
]);

/** The type of FUSE, which shows only that a program serves the files; the mount table names the program. */
const fuseType = 0x65735546;

/** Programs behind FUSE that serve files from elsewhere. */
const networkFuse =
  /^fuse\.(sshfs|s3fs|s3ql|gcsfuse|goofys|geesefs|mount-s3|rclone|glusterfs|juicefs|ceph|davfs|curlftpfs|smbnetfs|mfs|moosefs|lizardfs|seaweedfs|vmhgfs-fuse|blobfuse2?|nfs)/i;

/** Recognises a file system; tests replace it. */
export interface FileSystemProbe {
  /** Returns the `f_type` of the file system of an existing folder. */
  type(folder: string): number;
  /** Returns Linux's mount table (`/proc/self/mountinfo`), or empty text if there is none. */
  mounts(): string;
  platform: string;
}

export const systemProbe: FileSystemProbe = {
  type: (folder) => statfsSync(folder).type,
  mounts: () => {
    try {
      return readFileSync('/proc/self/mountinfo', 'utf8');
    } catch {
      // Without a mount table FUSE stays unknown, and unknown is allowed.
      return '';
    }
  },
  platform: platform(),
};

/**
 * Refuses a folder that several machines may share. On macOS and Windows the number does not identify the type: there only Windows'
 * network paths (`\\server\share`) are recognised.
 * @throws StateError `state.network`; an error of the file system as it is
 */
export function refuseNetwork(folder: string, probe: FileSystemProbe): void {
  const name = networkName(folder, probe);
  if (name === undefined) return;
  throw new StateError(
    'state.network',
    `The run directory ${folder} lies on a network file system (${name}).`,
    {
      hint:
        'The state of a run needs a local disk: choose a directory on one with --out, and copy the results ' +
        'to the network when the run is over.',
    },
  );
}

function networkName(folder: string, probe: FileSystemProbe): string | undefined {
  if (probe.platform === 'win32') {
    return /^[\\/]{2}(?![?.][\\/](?!UNC))/i.test(folder) ? 'a network path' : undefined;
  }
  if (probe.platform !== 'linux') return undefined;
  // Some architectures sign-extend the type.
  const type = probe.type(folder) & 0xffffffff;
  const unsigned = type < 0 ? type + 2 ** 32 : type;
  if (unsigned !== fuseType) return networkTypes.get(unsigned);
  const served = fileSystemAt(realpathSync(folder), probe.mounts());
  return served !== undefined && networkFuse.test(served) ? served : undefined;
}

/** Returns the type that the mount table (proc_pid_mountinfo(5)) gives for the longest mount point that contains `folder`. */
function fileSystemAt(folder: string, mounts: string): string | undefined {
  let longest = '';
  let found: string | undefined;
  for (const line of mounts.split('\n')) {
    const [mount = '', description = ''] = line.split(' - ');
    const point = (mount.split(' ')[4] ?? '').replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const holds = point === '/' || folder === point || folder.startsWith(`${point}/`);
    // Of several mounts on one point the last one covers the others.
    if (point !== '' && holds && point.length >= longest.length) {
      longest = point;
      found = description.split(' ')[0];
    }
  }
  return found;
}
