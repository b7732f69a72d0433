import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolderAsync } from '../state/files/folders.ts';
import { checkFile } from '../state/files/plain-path.ts';
import { unfinishedName } from '../state/files/unfinished.ts';

/**
 * Writes a file completely or not at all: to a temporary file beside it, which is synced and renamed; then the folder is synced. So a
 * reader, a crash or a full disk never leaves half of it. Takes only the memory of one chunk. If two processes write at the same time, the
 * last one wins. A chunk may be reused once the next one is asked for.
 *
 * @throws the error of the file system, with its `code`; StateError if the name is a link or a folder. The old file is then unchanged
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
