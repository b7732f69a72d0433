import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { stateFileName } from '../../state/state-files.ts';

/** Limits of a search, in folders, entries, runs and levels: a home folder has more. */
const bounds = { folders: 20_000, entries: 1_000_000, runs: 1_000, depth: 12 };

/** The run directories below a folder. */
export interface FoundRuns {
  /** Absolute paths, sorted by name. */
  readonly directories: readonly string[];
  /** True if a limit was reached: there may be more. */
  readonly truncated: boolean;
}

/**
 * Finds the run directories below a folder, including the folder itself, level by level. Does not follow links or search run directories,
 * node_modules and folders that begin with a dot. Skips folders that cannot be read.
 *
 * @throws the error of the file system for the folder itself
 */
export async function findRunDirectories(folder: string, most = bounds): Promise<FoundRuns> {
  const found: string[] = [];
  let level: readonly string[] = [folder];
  let folders = 0;
  let entries = 0;
  let truncated = false;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most.depth) return { directories: found.sort(), truncated: true };
    const next: string[] = [];
    for (const place of level) {
      if (folders >= most.folders || entries >= most.entries || found.length >= most.runs)
        return { directories: found.sort(), truncated: true };
      folders += 1;
      const looked = await lookInto(place, most.entries - entries, { isFirst: depth === 0 });
      entries += looked.entries;
      truncated ||= looked.truncated;
      if (looked.isRun) found.push(place);
      else next.push(...looked.folders);
    }
    level = next;
  }
  return { directories: found.sort(), truncated };
}

interface Looked {
  readonly isRun: boolean;
  /** Absolute paths, sorted by name. */
  readonly folders: readonly string[];
  readonly entries: number;
  readonly truncated: boolean;
}

/** Reads a folder entry by entry: it may have millions. */
async function lookInto(place: string, most: number, { isFirst }: { isFirst: boolean }): Promise<Looked> {
  const folders: string[] = [];
  let entries = 0;
  try {
    for await (const entry of await opendir(place)) {
      if (entry.name === stateFileName) return { isRun: true, folders: [], entries, truncated: false };
      if (entries >= most) return { isRun: false, folders: folders.sort(), entries, truncated: true };
      entries += 1;
      if (entry.isDirectory() && !/^(?:\.|node_modules$)/.test(entry.name))
        folders.push(join(place, entry.name));
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // The folder may have been removed since its name was read.
    if (isFirst || !['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(code)) throw error;
  }
  return { isRun: false, folders: folders.sort(), entries, truncated: false };
}
