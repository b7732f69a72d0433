import { appendFileSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readPlainFile } from '../../../src/state/files/plain-file.ts';
import { makePipe } from '../../rig/pipe.ts';
import { freshFolder } from '../places.ts';

function fileOf(bytes: string | Uint8Array): string {
  const file = join(freshFolder(), 'file');
  writeFileSync(file, bytes);
  return file;
}

/** Changes how handles read until the test is over. */
async function onEachRead(
  file: string,
  change: (read: (length: number) => ReturnType<FileHandle['read']>, length: number) => unknown,
): Promise<void> {
  const handle = await open(file, 'r');
  const prototype = Object.getPrototypeOf(handle) as {
    read: (buffer: Buffer, at: number, length: number, position: number) => ReturnType<FileHandle['read']>;
  };
  await handle.close();
  const { read } = prototype;
  vi.spyOn(prototype, 'read').mockImplementation(async function (
    this: unknown,
    buffer,
    at,
    length,
    position,
  ) {
    const result = change((most) => read.call(this, buffer, at, most, position), length);
    return (await result) as never;
  });
}

describe('a plain file', () => {
  it.each([0, 1, 8, 100_000])('of %i bytes is read whole if that size is allowed', async (size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, n) => n % 251));
    const file = fileOf(bytes);
    for (const most of [size, size + 1]) {
      const read = await readPlainFile(file, most);
      expect(read.ok && read.bytes.equals(bytes)).toBe(true);
    }
  });

  it('is too large with one byte more than allowed', async () => {
    expect(await readPlainFile(fileOf('12345'), 4)).toEqual({ ok: false, why: 'too-large' });
    expect(await readPlainFile(fileOf('1'), 0)).toEqual({ ok: false, why: 'too-large' });
  });

  it('fails with the error of the file system if it is missing', async () => {
    await expect(readPlainFile(join(freshFolder(), 'missing'), 9)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.skipIf(platform() === 'win32')(
    'is neither a folder nor a pipe, and a pipe is never waited for',
    async () => {
      const folder = freshFolder();
      mkdirSync(join(folder, 'folder'));
      makePipe(join(folder, 'pipe'));
      for (const name of ['folder', 'pipe'])
        expect(await readPlainFile(join(folder, name), 1_000_000)).toEqual({ ok: false, why: 'no-file' });
    },
  );

  it.skipIf(platform() === 'win32')('is not read through a link', async () => {
    const file = fileOf('secret');
    symlinkSync(file, `${file}.link`);
    await expect(readPlainFile(`${file}.link`, 99)).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('is read to its end if the system returns parts of it', async () => {
    const file = fileOf('a longer text');
    await onEachRead(file, (read, length) => read(Math.min(length, 5)));
    expect(await readPlainFile(file, 99)).toEqual({ ok: true, bytes: Buffer.from('a longer text') });
  });

  it('is read without bytes that are appended meanwhile', async () => {
    const file = fileOf('a text');
    await onEachRead(file, (read, length) => {
      appendFileSync(file, ' and more');
      return read(Math.min(length, 4));
    });
    expect(await readPlainFile(file, 6)).toEqual({ ok: true, bytes: Buffer.from('a text') });
  });

  it('ends where it was cut off while it was read', async () => {
    const file = fileOf('a text');
    await onEachRead(file, async (read, length) => {
      const part = await read(Math.min(length, 4));
      truncateSync(file, 4);
      return part;
    });
    expect(await readPlainFile(file, 6)).toEqual({ ok: true, bytes: Buffer.from('a te') });
  });

  it.runIf(platform() === 'linux')('is closed however the reading ends', async () => {
    const file = fileOf('12345');
    const before = readdirSync('/proc/self/fd').length;
    for (let n = 0; n < 5; n += 1) {
      await readPlainFile(file, 9);
      await readPlainFile(file, 1);
    }
    await onEachRead(file, () => {
      throw new Error('The disk fails.');
    });
    const during = readdirSync('/proc/self/fd').length;
    for (let n = 0; n < 5; n += 1) await expect(readPlainFile(file, 9)).rejects.toThrow('The disk fails.');
    expect([during, readdirSync('/proc/self/fd').length]).toEqual([before, before]);
  });
});
