import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { aFlag, aMapping, aText } from '../../pipeline/values/shape.ts';
import { readFlags } from '../../state/files/plain-file.ts';

/** A file as it was at one moment. Numbers of the file system are texts: they do not fit into JSON's numbers. */
export interface SeenFile {
  readonly path: string;
  /** Links resolved: what a link leads to may move without being changed. */
  readonly realPath: string;
  /** Device, inode, size, and the nanoseconds of its last change and of the last change of its inode. */
  readonly identity: string;
  readonly sha256: string;
  /** It had been changed just before: a later change may bear the same time, so that its bytes are to be read again. */
  readonly young: boolean;
}

export const isSeenFile = aMapping({
  path: aText,
  realPath: aText,
  identity: aText,
  sha256: aText,
  young: aFlag,
});

/** The clock of a file system may be so coarse that two changes bear the same time. */
const grainMs = 2_000;

/**
 * A file that was read, for {@link isAsSeen}. It may have been changed since it was read: one that was changed after `readSince` is read again.
 *
 * @param read SHA-256 of what was read, hexadecimal
 * @param readSince Unix ms before which nothing of it was read
 * @param now Unix ms
 * @returns undefined where it is not, or may not be, what was read
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

/** A file that this process has just written whole: whether it is still that, its hash says. */
export function writtenFile(path: string, sha256: string): SeenFile | undefined {
  const found = lookAt(path);
  return found && { path, realPath: found.realPath, identity: found.identity, sha256, young: true };
}

/**
 * A file whose bytes were read again, and were the same, after `readSince` (Unix ms). Where its last change was long before, a later
 * one bears another time: it need not be read again.
 */
export function matured(file: SeenFile, readSince: number): SeenFile {
  if (!file.young) return file;
  const found = lookAt(file.path);
  const isOld = found?.identity === file.identity && found.changedMs <= readSince - grainMs;
  return isOld ? { ...file, young: false } : file;
}

/** False where a file is gone, moved, replaced or changed, and where that cannot be known. */
export function isAsSeen({ path, realPath, identity, sha256, young }: SeenFile): boolean {
  const found = lookAt(path);
  if (found?.realPath !== realPath || found.identity !== identity) return false;
  return !young || hashOfFile(realPath) === sha256;
}

interface Found {
  readonly realPath: string;
  readonly identity: string;
  /** Unix ms of the later one of its last changes. */
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
    // Whatever keeps it from being looked at: whoever reads it says what is wrong.
    return undefined;
  }
}

/** How much is read at a time. */
const stride = 1_048_576;

/** SHA-256 of the bytes of a file, hexadecimal; undefined where it cannot be read. */
function hashOfFile(path: string): string | undefined {
  const hash = createHash('sha256');
  return readWhole(path, (bytes) => {
    hash.update(bytes);
    return true;
  })
    ? hash.digest('hex')
    : undefined;
}

/** Whether a file holds none of these texts; false where it cannot be read. */
export function holdsNone(path: string, texts: readonly string[]): boolean {
  if (texts.length === 0) return true;
  const sought = texts.map((text) => Buffer.from(text));
  const reach = Math.max(...sought.map(({ length }) => length)) - 1;
  let before = Buffer.alloc(0);
  return readWhole(path, (piece) => {
    // What begins in one piece may end in the next.
    const bytes = Buffer.concat([before, piece]);
    before = bytes.subarray(Math.max(0, bytes.length - reach));
    return !sought.some((text) => bytes.includes(text));
  });
}

/** Reads a plain file to its end. @param take false ends the reading @returns false where it was ended, or the file cannot be read */
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
