import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ownFile } from './plain-path.ts';

/** Flags for reading that never wait for a pipe or a device. Links are resolved before; a later link is not followed. */
export const readFlags = constants.O_RDONLY | ownFile;

/** The content of a file, or the reason in the file for which it was not read. */
export type PlainFile =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly why: 'no-file' | 'too-large' };

/**
 * Reads a whole plain file of at most `maxBytes`. Bytes appended meanwhile are not read.
 *
 * @throws the error of the file system
 */
export async function readPlainFile(path: string, maxBytes: number): Promise<PlainFile> {
  const handle = await open(path, readFlags);
  try {
    const found = await handle.stat();
    if (!found.isFile()) return { ok: false, why: 'no-file' };
    if (found.size > maxBytes) return { ok: false, why: 'too-large' };
    return { ok: true, bytes: await readUpTo(handle, found.size) };
  } finally {
    await handle.close();
  }
}

async function readUpTo(handle: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await handle.read(buffer, at, size - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return buffer.subarray(0, at);
}
