import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { readFlags } from '../../state/files/plain-file.ts';
import { onDisk } from '../failure.ts';
import { isAboutFile } from './file-error.ts';
import { isArtifactName } from './names.ts';

/** An artifact that is open for reading. The caller closes the handle. */
export type OpenArtifact =
  | { readonly ok: true; readonly handle: FileHandle; readonly bytes: number }
  | { readonly ok: false; readonly why: 'missing' | 'outside' };

/**
 * Opens an artifact of a run directory for those who read it piece by piece: a video need not fit into memory. Links are not followed,
 * and a name that leads out of the directory is `outside`: the state may have come with a repository, and can name anything.
 *
 * @param name as the state has it, relative to the run directory
 * @throws SaveError `disk.io` …, where the disk fails
 */
export async function openArtifactFile(directory: string, name: string): Promise<OpenArtifact> {
  if (!isArtifactName(name)) return { ok: false, why: 'outside' };
  return onDisk(async () => {
    try {
      const path = join(await realpath(directory), name);
      if ((await realpath(path)) !== path) return { ok: false, why: 'outside' };
      const handle = await open(path, readFlags);
      const found = await handle.stat();
      if (found.isFile()) return { ok: true, handle, bytes: found.size };
      await handle.close();
      return { ok: false, why: 'outside' };
    } catch (cause) {
      if (isAboutFile(cause)) return { ok: false, why: 'missing' };
      throw cause;
    }
  });
}
