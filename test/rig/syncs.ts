import fs from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { vi } from 'vitest';
import { replaceFs } from './replace-fs.ts';

/**
 * Calls back before each file or folder is synced without holding up the event loop, until the test is over: through a handle of
 * `node:fs/promises`, or by `fsync` of `node:fs`.
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
  const { fsync, fstatSync } = fs;
  replaceFs({
    fsync: (file: number, done: fs.NoParamCallback) => {
      note(fstatSync(file).ino);
      fsync(file, done);
    },
  });
}
