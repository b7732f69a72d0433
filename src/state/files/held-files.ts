import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { StateError } from '../store.ts';

/** The identity of a file that this process has open, as it was when it was opened. */
export interface HeldFile {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/**
 * Notes which file a path leads to. While the process has that file open, no other file gets its inode.
 *
 * @throws StateError `state.replaced` if there is no file
 */
export function heldFile(path: string): HeldFile {
  const found = identify(path);
  if (found === undefined) throw replaced(path);
  return { path, ...found };
}

/**
 * Fails if a path no longer leads to the open file. Otherwise a write would be lost to every reader, and a lock would exclude nobody.
 *
 * @throws StateError `state.replaced`
 */
export function checkHeld(files: readonly HeldFile[]): void {
  for (const { path, device, inode } of files) {
    const found = identify(path);
    if (found?.device !== device || found.inode !== inode) throw replaced(path);
  }
}

function identify(path: string): Pick<HeldFile, 'device' | 'inode'> | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { device: found.dev, inode: found.ino };
}

const replaced = (path: string): StateError =>
  new StateError(
    'state.replaced',
    `${basename(path)} in ${dirname(path)} was removed or replaced while it was in use, so nothing more is sent: further ` +
      'requests could be paid for twice.',
    {
      hint:
        'Find out what removed it (a clean-up, a restored backup, a synchronised folder), put it back if it was replaced, ' +
        'and give the same command again.',
    },
  );
