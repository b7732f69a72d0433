import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolderAsync } from '../state/files/folders.ts';
import { checkFile } from '../state/files/plain-path.ts';
import { unfinishedName } from '../state/files/unfinished.ts';

/**
 * Writes a file whole or not at all: beside it under another name, synced, renamed, and the folder synced, so that
 * a reader, a crash or a full disk never meets half of it. Takes only as much memory as one chunk. Of two writers at
 * the same time the last one wins, whole. The bytes of a chunk may be others once the next one is asked for.
 *
 * @throws the error of the file system, with its `code`; StateError where a link or a folder has the name. What was there before is
 *   then untouched
 */
export async function writeWhole(
  file: string,
  chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
  options: { readonly mode?: number } = {},
): Promise<void> {
  checkFile(file);
  const temporary = unfinishedName(file);
  try {
    const handle = await open(temporary, 'wx', options.mode);
    try {
      for await (const chunk of chunks) await handle.writeFile(chunk, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolderAsync(dirname(file));
}
