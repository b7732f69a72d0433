import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { aFlag, aMapping, aText } from '../../pipeline/values/shape.ts';
import { readFlags } from '../../state/files/plain-file.ts';

/** The facts of a file at one moment. Numbers of the file system are kept as text: they are too large for JSON numbers. */
export interface SeenFile {
  readonly path: string;
  /** Path with links resolved, as the target of a link may move without being changed. */
  readonly realPath: string;
  /** Device, inode, size, and the times of the last change of the file and of its inode in ns. */
  readonly identity: string;
  readonly sha256: string;
  /** The file had just been changed, so a later change may have the same time: its bytes must be read again. */
  readonly young: boolean;
}

export const isSeenFile = aMapping({
  path: aText,
  realPath: aText,
  identity: aText,
  sha256: aText,
  young: aFlag,
});

/** Coarsest resolution of file times: two changes within it may have the same time. */
const grainMs = 2_000;

/**
 * Returns the facts of a file that was read, for {@link isAsSeen}. A file that changed after `readSince` is read again.
 *
 * @param read SHA-256 of the bytes that were read, hexadecimal
 * @param readSince Unix ms before the first byte was read
 * @param now Unix ms
 * @returns undefined if the file is not, or may not be, what was read
 */
export function seenFile(path: string, read: string, readSince: number, now: number): SeenFile | undefined {
  const found = lookAt(path);
  if (found === undefined) return undefined;
  const { realPath, identity, changedMs } = found;
  if (changedMs > readSince - grainMs) {
    if (hashOfFile(realPath) !== read || lookAt(path)?.identity !== identity) return undefined;
  }
  return { path, realPath, identity, sha256: read, young: changedMs > now - grainMs };
}

/** Returns the facts of a file that this process has just written; its hash tells whether it is unchanged. */
export function writtenFile(path: string, sha256: string): SeenFile | undefined {
  const found = lookAt(path);
  return found && { path, realPath: found.realPath, identity: found.identity, sha256, young: true };
}

/**
 * Returns the facts of a file whose bytes were read again, unchanged, after `readSince` (Unix ms). If its last change is old enough, any
 * later change has another time, so the file need not be read again.
 */
export function matured(file: SeenFile, readSince: number): SeenFile {
  if (!file.young) return file;
  const found = lookAt(file.path);
  const isOld = found?.identity === file.identity && found.changedMs <= readSince - grainMs;
  return isOld ? { ...file, young: false } : file;
}

/** Whether a file is unchanged; false where it is gone, moved, replaced or changed, or cannot be checked. */
export function isAsSeen({ path, realPath, identity, sha256, young }: SeenFile): boolean {
  const found = lookAt(path);
  if (found?.realPath !== realPath || found.identity !== identity) return false;
  return !young || hashOfFile(realPath) === sha256;
}

interface Found {
  readonly realPath: string;
  readonly identity: string;
  /** Unix ms of the last change of the file or of its inode. */
  readonly changedMs: number;
}

function lookAt(path: string): Found | undefined {
  try {
    const realPath = realpathSync(path);
    const facts = statSync(realPath, { bigint: true });
    if (!facts.isFile()) return undefined;
    const { dev, ino, size, mtimeNs, ctimeNs } = facts;
    const changed = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
    return {
      realPath,
      identity: [dev, ino, size, mtimeNs, ctimeNs].join(' '),
      changedMs: Number(changed / 1_000_000n),
    };
  } catch {
    // Code that reads the file reports the error.
    return undefined;
  }
}

/** Bytes per read. */
const stride = 1_048_576;

/** Returns the SHA-256 of a file, hexadecimal; undefined if it cannot be read. */
function hashOfFile(path: string): string | undefined {
  const hash = createHash('sha256');
  return readWhole(path, (bytes) => {
    hash.update(bytes);
    return true;
  })
    ? hash.digest('hex')
    : undefined;
}

/** Whether a file contains none of these texts; false if it cannot be read. */
export function holdsNone(path: string, texts: readonly string[]): boolean {
  if (texts.length === 0) return true;
  const sought = texts.map((text) => Buffer.from(text));
  const reach = Math.max(...sought.map(({ length }) => length)) - 1;
  let before = Buffer.alloc(0);
  return readWhole(path, (piece) => {
    // A text may begin in one chunk and end in the next.
    const bytes = Buffer.concat([before, piece]);
    before = bytes.subarray(Math.max(0, bytes.length - reach));
    return !sought.some((text) => bytes.includes(text));
  });
}

/** Reads a regular file in chunks. @param take returns false to stop @returns false if it was stopped, or the file cannot be read */
function readWhole(path: string, take: (bytes: Buffer) => boolean): boolean {
  try {
    const descriptor = openSync(path, readFlags);
    try {
      if (!fstatSync(descriptor).isFile()) return false;
      const buffer = Buffer.allocUnsafe(stride);
      for (;;) {
        const read = readSync(descriptor, buffer, 0, stride, null);
        if (read === 0) return true;
        if (!take(buffer.subarray(0, read))) return false;
      }
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}
