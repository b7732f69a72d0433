import { createReadStream, type Dirent, existsSync } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FileFacts, type FilePort, placeOf } from '../../pipeline/files.ts';
import { listingText } from '../../pipeline/matrix/table/glob.ts';
import { type FolderEntry, listFiles } from '../../pipeline/matrix/table/list-files.ts';

/**
 * Gives a pipeline access to the files of this machine.
 *
 * Links are resolved, and `read` refuses every file outside the root: a pipeline from somewhere else must not be able to send `~/.ssh` to a
 * service.
 *
 * @param root a folder, its links resolved
 */
export const machineFiles = (root: string): FilePort => ({
  root,
  facts: factsOf,
  list: async function* (listing) {
    yield Buffer.from(listingText(await listFiles(listing, { root, facts: factsOf, entries })));
  },
  read: async function* (file) {
    const realPath = await realpath(file);
    if (placeOf(root, realPath) !== 'inside') throw new Error(`A pipeline may not read ${file}.`);
    yield* createReadStream(realPath) as AsyncIterable<Uint8Array>;
  },
});

async function factsOf(file: string): Promise<FileFacts | undefined> {
  try {
    const realPath = await realpath(file);
    const found = await stat(realPath);
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
    return { kind, realPath, bytes: found.size };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}

async function* entries(folder: string): AsyncGenerator<FolderEntry, void, undefined> {
  for await (const entry of await opendir(folder)) yield { name: entry.name, kind: kindOf(entry) };
}

function kindOf(entry: Dirent): FolderEntry['kind'] {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'folder' : 'other';
}

/** Returns the folder that a pipeline's files must lie in by default: its git work tree, else its own folder. */
export function defaultFilesRoot(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    // `.git` is a file in linked work trees and submodules, a folder elsewhere.
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return folder;
  }
}
