import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { vi } from 'vitest';

/**
 * Calls back before each file or folder is synced through a handle of `node:fs/promises`, until the test is over.
 *
 * @param note takes its inode: a file keeps that when it is renamed
 */
export async function onEachSync(note: (inode: number) => void): Promise<void> {
  const handle = await open(tmpdir(), 'r');
  const prototype = Object.getPrototypeOf(handle) as { sync: (this: FileHandle) => Promise<void> };
  await handle.close();
  const { sync } = prototype;
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    note((await this.stat()).ino);
    await sync.call(this);
  });
}
