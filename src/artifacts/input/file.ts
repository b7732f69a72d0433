import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { readPlainFile } from '../../state/files/plain-file.ts';
import { fail, onDisk, SaveError } from '../failure.ts';
import { largestInput, type SharedInputs } from '../inputs.ts';
import { isAboutFile } from '../store/file-error.ts';
import type { ArtifactStore } from '../store/store.ts';
import {
  linkedArtifact,
  missingFile,
  otherCopy,
  placeFailure,
  replacedArtifact,
  tooLarge,
} from './failure.ts';

/**
 * Reads a file that a pipeline names, with the content that its job was planned with.
 *
 * @param path relative to the pipeline's folder, or absolute
 * @throws SaveError
 */
export async function readPipelineFile(
  { path, sha256 }: { readonly path: string; readonly sha256: string },
  { folder, filesRoot }: { readonly folder: string; readonly filesRoot: string },
): Promise<Buffer> {
  const bytes = await aboutFile(path, async () => {
    const real = await realpath(isAbsolute(path) ? path : join(folder, path));
    const failure = placeFailure(path, real, filesRoot);
    if (failure !== undefined) return fail(failure);
    const read = await readPlainFile(real, largestInput);
    if (read.ok) return read.bytes;
    return fail(read.why === 'too-large' ? tooLarge(path) : missingFile(path));
  });
  if (hashOf(bytes) === sha256) return bytes;
  return fail({
    code: 'input.changed',
    class: 'permanent',
    message: `${path} has changed since the run was planned. Run again: that plans with the file as it is now.`,
  });
}

/**
 * Reads a file as `readPipelineFile` does, or from the run's copies if this machine does not have it.
 *
 * @param shared absent: a run on one machine @throws SaveError
 */
export async function readInputFile(
  source: { readonly path: string; readonly sha256: string },
  place: { readonly folder: string; readonly filesRoot: string; readonly shared?: Pick<SharedInputs, 'get'> },
): Promise<Buffer> {
  try {
    return await readPipelineFile(source, place);
  } catch (error) {
    if (!(error instanceof SaveError) || error.failure.class !== 'permanent') throw error;
    const bytes = await place.shared?.get(source.sha256);
    if (bytes === undefined) throw error;
    return hashOf(bytes) === source.sha256 ? bytes : fail(otherCopy(source));
  }
}

/** Reads a file that a job of this run produced. @throws SaveError */
export async function readArtifact(
  { file, sha256 }: { readonly file: string; readonly sha256: string },
  store: Pick<ArtifactStore, 'get'>,
): Promise<Buffer> {
  // The state may have come with a repository: this program need not have written the named file.
  const found = await store.get(file, largestInput);
  if (found.ok) return hashOf(found.bytes) === sha256 ? found.bytes : fail(replacedArtifact(file));
  switch (found.why) {
    case 'outside':
      return fail(linkedArtifact(file));
    case 'too-large':
      return fail(tooLarge(file));
    case 'missing':
      return fail(missingFile(file, found.cause));
  }
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Assigns errors about the file to the file, and all others to the disk. @throws SaveError */
async function aboutFile(name: string, work: () => Promise<Buffer>): Promise<Buffer> {
  return onDisk(async () => {
    try {
      return await work();
    } catch (cause) {
      if (isAboutFile(cause)) return fail(missingFile(name, cause));
      throw cause;
    }
  });
}
