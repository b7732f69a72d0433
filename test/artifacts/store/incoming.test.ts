import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, it, vi } from 'vitest';
import { SaveError } from '../../../src/artifacts/failure.ts';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { filesIn, freshFolder } from '../places.ts';

type Write = (
  this: FileHandle,
  buffer: Buffer,
  offset: number,
  length: number,
  position: number,
) => Promise<{ readonly bytesWritten: number }>;

/** Lets the system write no more than so many bytes of a buffer at a time, until the test is over. */
async function writeAtMost(bytes: number): Promise<void> {
  const handle = await open(tmpdir(), 'r');
  const prototype = Object.getPrototypeOf(handle) as { write: Write };
  await handle.close();
  const { write } = prototype;
  vi.spyOn(prototype, 'write').mockImplementation(function (
    this: FileHandle,
    buffer,
    offset,
    length,
    position,
  ) {
    return write.call(this, buffer, offset, Math.min(length, bytes), position);
  });
}

it('a file is what came, also where the system writes only a part of each chunk', async () => {
  await writeAtMost(4);
  const store = openArtifactFolder(freshFolder());
  const file = await store.put('images/ab/abc-1');
  for (const chunk of ['abcdefghij', 'klm', 'nopqrstuvwxyz']) await file.write(Buffer.from(chunk));
  const content = Buffer.from('abcdefghijklmnopqrstuvwxyz');
  expect([file.size, file.sha256]).toEqual([26, createHash('sha256').update(content).digest('hex')]);
  await file.finish('images/ab/abc-1.png');
  expect(await store.get('images/ab/abc-1.png', 1000)).toEqual({ ok: true, bytes: content });
  await store.close();
});

it.each(['seal', 'discard'] as const)(
  'a file holds nothing open after %s, and takes nothing more',
  async (end) => {
    const directory = freshFolder();
    const file = await openArtifactFolder(directory).put('images/ab/abc-1');
    await file.write(Buffer.from('fox'));
    await file[end]();
    await file[end]();
    await expect(file.write(Buffer.from('owl'))).rejects.toThrow(SaveError);
    await expect(file.read(0, 1)).rejects.toThrow(SaveError);
    await file.discard();
    expect(filesIn(directory)).toEqual([]);
  },
);

it('a file is read to its end and no further, from any place', async () => {
  const file = await openArtifactFolder(freshFolder()).put('images/ab/abc-1');
  await file.write(Buffer.from('0123456789'));
  const read = async (position: number, length: number) => String(await file.read(position, length));
  expect([
    await read(0, 10),
    await read(8, 10),
    await read(10, 1),
    await read(11, 5),
    await read(3, 0),
  ]).toEqual(['0123456789', '89', '', '', '']);
  await file.discard();
});
