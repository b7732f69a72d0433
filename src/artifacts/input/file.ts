import { createHash } from 'node:crypto';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { fail, onDisk } from '../failure.ts';
import { largestInput } from '../inputs.ts';
import {
  isAboutFile,
  isWithin,
  linkedArtifact,
  missingFile,
  placeRefusal,
  readFlags,
  replacedArtifact,
  tooLarge,
} from './failure.ts';

/**
 * A file that a pipeline names, with the content that its job was planned with.
 *
 * @param path relative to the pipeline's folder, or absolute
 * @throws SaveError
 */
export async function readPipelineFile(
  { path, sha256 }: { readonly path: string; readonly sha256: string },
  { folder, filesRoot }: { readonly folder: string; readonly filesRoot: string },
): Promise<Buffer> {
  const real = await found(isAbsolute(path) ? path : join(folder, path), path);
  const refusal = placeRefusal(path, real, filesRoot);
  if (refusal !== undefined) return fail(refusal);
  const bytes = await readWhole(real, path);
  if (hashOf(bytes) === sha256) return bytes;
  return fail({
    code: 'input.changed',
    class: 'permanent',
    message: `${path} has changed since the run was planned. Run again: that plans with the file as it is now.`,
  });
}

/** A file that a job of this run produced. @throws SaveError */
export async function readArtifact(
  { file, sha256 }: { readonly file: string; readonly sha256: string },
  directory: string,
): Promise<Buffer> {
  const path = join(directory, file);
  // The state may have come with a repository: what it names need not be what this program wrote.
  if (isAbsolute(file) || !isWithin(directory, path)) return fail(linkedArtifact(file));
  const expected = join(await found(directory, file), file);
  if ((await found(path, file)) !== expected) return fail(linkedArtifact(file));
  const bytes = await readWhole(expected, file);
  return hashOf(bytes) === sha256 ? bytes : fail(replacedArtifact(file));
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function found(path: string, name: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    return unreadable(cause, name);
  }
}

/** Never waits: what is no plain file (a pipe, a device) is not opened for reading. */
async function readWhole(path: string, name: string): Promise<Buffer> {
  let handle: FileHandle;
  try {
    handle = await open(path, readFlags);
  } catch (cause) {
    return unreadable(cause, name);
  }
  try {
    return await onDisk(async () => {
      const { size, isFile } = await handle.stat().then((is) => ({ size: is.size, isFile: is.isFile() }));
      if (!isFile) {
        return fail(missingFile(name));
      }
      if (size > largestInput) return fail(tooLarge(name));
      return await readUpTo(handle, size);
    });
  } finally {
    await handle.close();
  }
}

/** What is appended meanwhile is not read: the hash tells. */
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

function unreadable(cause: unknown, name: string): Promise<never> {
  if (!isAboutFile(cause)) return onDisk(() => Promise.reject(cause as Error));
  return fail(missingFile(name, cause));
}
