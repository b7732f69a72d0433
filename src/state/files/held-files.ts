import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { StateError } from '../store.ts';

/** A file that this process has open, as the file system knew it when it was opened. */
export interface HeldFile {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/**
 * Notes which file a path leads to. As long as the process has that file open, the system gives its inode to no other.
 *
 * @throws StateError `state.replaced` where there is none
 */
export function heldFile(path: string): HeldFile {
  const found = identify(path);
  if (found === undefined) throw replaced(path);
  return { path, ...found };
}

/**
 * Fails where a path no longer leads to the open file. A write to the open file would then be lost to every reader, and a
 * lock on it would exclude nobody.
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
    `${basename(path)} in ${dirname(path)} was removed or replaced while it was in use, so nothing more is sent: what is ` +
      'sent could be paid for twice.',
    {
      hint:
        'Find out what removed it (a clean-up, a restored backup, a synchronised folder), put it back if it was replaced, ' +
        'and give the same command again.',
    },
  );
