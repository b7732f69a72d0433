import { createHash } from 'node:crypto';
import fs, { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SaveError } from '../../../src/artifacts/failure.ts';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { replaceFs } from '../../rig/replace-fs.ts';
import { filesIn, freshFolder } from '../places.ts';

/** Lets the system write no more than so many bytes of a buffer at a time, until the test is over. */
function writeAtMost(bytes: number): void {
  const { write } = fs;
  replaceFs({
    write: (
      file: number,
      buffer: Uint8Array,
      offset: number,
      length: number,
      position: number,
      done: (error: NodeJS.ErrnoException | null, written: number) => void,
    ) => write(file, buffer, offset, Math.min(length, bytes), position, done),
  });
}

it('a file contains all received bytes, even if the system writes only a part of each chunk', async () => {
  writeAtMost(4);
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
  'a file holds nothing open after %s, and accepts nothing more',
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

it('a file that has its name is not discarded any more', async () => {
  const directory = freshFolder();
  const file = await openArtifactFolder(directory).put('images/ab/abc-1');
  await file.write(Buffer.from('fox'));
  const [part = ''] = filesIn(directory);
  await file.finish('images/ab/abc-1.png');
  writeFileSync(join(directory, part), 'of somebody else');
  await file.discard();
  expect(filesIn(directory)).toEqual([part, 'images/ab/abc-1.png']);
});

it('a small file is read from memory, a large one from the disk', async () => {
  let reads = 0;
  const { read } = fs;
  replaceFs({
    read: (...given: Parameters<typeof read>) => {
      reads += 1;
      read(...given);
    },
  });
  const readsOf = async (...sizes: readonly number[]): Promise<number> => {
    const file = await openArtifactFolder(freshFolder()).put('images/ab/abc-1');
    for (const size of sizes) await file.write(Buffer.alloc(size, 'x'));
    reads = 0;
    expect(String(await file.read(file.size - 3, 3))).toBe('xxx');
    await file.discard();
    return reads;
  };
  const held = 256 * 1024;
  expect([await readsOf(held), await readsOf(held - 3, 3)]).toEqual([0, 0]);
  expect([await readsOf(held + 1), await readsOf(held, 3), await readsOf(held, 3, 1)]).toEqual([1, 1, 1]);
});

it('a file is read to its end and no further, from any position', async () => {
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

it('a file is closed after a write in progress, so that no other file gets those bytes', async () => {
  const calls: string[] = [];
  const { write, close } = fs;
  replaceFs({
    write: (...given: Parameters<typeof write>) => {
      const done = given.pop() as unknown as (error: Error | null, written: number) => void;
      write(...(given as unknown as [number, Uint8Array, number, number, number]), (error, written) => {
        calls.push('written');
        done(error, written);
      });
    },
    close: (file: number, done: fs.NoParamCallback) => {
      calls.push('close');
      close(file, done);
    },
  });
  const store = openArtifactFolder(freshFolder());
  const file = await store.put('images/ab/abc-1');
  await Promise.all([file.write(Buffer.from('fox')), file.discard()]);
  expect(calls).toEqual(['written', 'close']);
  await store.close();
});
