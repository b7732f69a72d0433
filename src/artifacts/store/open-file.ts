import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { readFlags } from '../../state/files/plain-file.ts';
import { onDisk } from '../failure.ts';
import { isAboutFile } from './file-error.ts';
import { isArtifactName } from './names.ts';
import type { OpenArtifact } from './store.ts';

const pieceBytes = 1024 * 1024;

/**
 * Opens an artifact of a run directory. Links are not followed, and a name that leads out of the directory is `outside`: the state may
 * have come with a repository, and can name anything.
 *
 * @param name as in the state, relative to the run directory
 * @throws SaveError `disk.io` …, if the disk fails
 */
export async function openArtifactFile(directory: string, name: string): Promise<OpenArtifact> {
  if (!isArtifactName(name)) return { ok: false, why: 'outside' };
  return onDisk(async () => {
    try {
      const path = join(await realpath(directory), name);
      if ((await realpath(path)) !== path) return { ok: false, why: 'outside' };
      const handle = await open(path, readFlags);
      const found = await handle.stat();
      if (found.isFile()) return opened(handle, path, found.size);
      await handle.close();
      return { ok: false, why: 'outside' };
    } catch (cause) {
      if (isAboutFile(cause)) return { ok: false, why: 'missing' };
      throw cause;
    }
  });
}

/**
 * Reads the bytes of a local file from one position to before another, in pieces; default: all. A failure here is certainly the disk's,
 * wherever the pieces go.
 *
 * @throws SaveError `disk.*`
 */
export async function* filePieces(
  path: string,
  from = 0,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  const handle = await onDisk(() => open(path, readFlags));
  try {
    yield* piecesOf(handle, from, before);
  } finally {
    await handle.close();
  }
}

const opened = (handle: FileHandle, path: string, bytes: number): OpenArtifact => ({
  ok: true,
  bytes,
  path,
  pieces: (from = 0, before = bytes) => piecesOf(handle, from, before),
  close: () => handle.close(),
});

async function* piecesOf(handle: FileHandle, from: number, before: number): AsyncGenerator<Buffer> {
  for (let at = from; at < before; ) {
    const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, before - at));
    const { bytesRead } = await onDisk(() => handle.read(buffer, 0, buffer.length, at));
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
