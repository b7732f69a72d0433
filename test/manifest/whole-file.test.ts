import { readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWhole } from '../../src/manifest/whole-file.ts';
import { removeUnfinished } from '../../src/state/files/unfinished.ts';
import { systemError } from '../rig/replace-fs.ts';
import { onEachSync } from '../rig/syncs.ts';

it('writeWhole syncs the text before the rename, and the folder after it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
  try {
    const file = join(folder, 'manifest.csv');
    await writeFile(file, 'before');
    const synced: { readonly inode: number; readonly named: string }[] = [];
    await onEachSync((inode) => synced.push({ inode, named: readFileSync(file, 'utf8') }));
    await writeWhole(file, ['after']);
    expect(synced).toEqual([
      { inode: statSync(file).ino, named: 'before' },
      { inode: statSync(folder).ino, named: 'after' },
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('writeWhole removes temporary files of killed writers, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
  try {
    for (const name of ['manifest.csv', 'manifest.csv.c9fd51cd.part', 'run.json.00000000.part', 'notes.part'])
      await writeFile(join(folder, name), 'x');
    await removeUnfinished(folder);
    expect((await readdir(folder)).toSorted()).toEqual(['manifest.csv', 'notes.part']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe('a file that is written whole', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
    file = join(folder, 'manifest.csv');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function* asChunks(...chunks: readonly string[]): AsyncGenerator<string> {
    yield* chunks;
  }

  it('has all chunks in order, in UTF-8, whether they are asynchronous or not', async () => {
    await writeWhole(file, ['a,', 'füchse,', '', '🦊\r\n']);
    expect(readFileSync(file)).toEqual(Buffer.from('a,füchse,🦊\r\n'));
    await writeWhole(file, asChunks('b', 'c'));
    expect(readFileSync(file, 'utf8')).toBe('bc');
    await writeWhole(file, []);
    expect(readFileSync(file, 'utf8')).toBe('');
    expect(await readdir(folder)).toEqual(['manifest.csv']);
  });

  it.skipIf(platform() === 'win32')(
    'has the mode that it is given, also in the place of another one',
    async () => {
      await writeWhole(file, ['a'], { mode: 0o600 });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await writeWhole(file, ['b'], { mode: 0o640 });
      expect(statSync(file).mode & 0o777).toBe(0o640);
    },
  );

  it('is unchanged if its text fails in the middle, and no temporary file is left', async () => {
    await writeFile(file, 'before');
    const failure = new Error('The state is damaged.');
    const chunks = async function* (): AsyncGenerator<string> {
      yield 'after';
      expect(await readdir(folder)).toHaveLength(2);
      throw failure;
    };
    await expect(writeWhole(file, chunks())).rejects.toBe(failure);
    expect([readFileSync(file, 'utf8'), await readdir(folder)]).toEqual(['before', ['manifest.csv']]);
  });

  it('is unchanged if its sync fails, and has its new text if only the sync of its folder fails', async () => {
    await writeFile(file, 'before');
    let count = 0;
    let fails = 1;
    await onEachSync(() => {
      count += 1;
      if (count === fails) throw systemError('EIO', 'fsync');
    });
    await expect(writeWhole(file, ['after'])).rejects.toMatchObject({ code: 'EIO' });
    expect([readFileSync(file, 'utf8'), await readdir(folder)]).toEqual(['before', ['manifest.csv']]);
    [count, fails] = [0, 2];
    await expect(writeWhole(file, ['after'])).rejects.toMatchObject({ code: 'EIO' });
    expect([readFileSync(file, 'utf8'), await readdir(folder)]).toEqual(['after', ['manifest.csv']]);
  });

  it.skipIf(platform() === 'win32')('never replaces a link or a folder', async () => {
    const elsewhere = join(folder, 'elsewhere');
    await writeFile(elsewhere, 'kept');
    await symlink(elsewhere, file);
    await expect(writeWhole(file, ['after'])).rejects.toMatchObject({ code: 'directory.link' });
    await rm(file);
    await mkdir(file);
    await expect(writeWhole(file, ['after'])).rejects.toMatchObject({ code: 'directory.kind' });
    expect([readFileSync(elsewhere, 'utf8'), await readdir(folder)]).toEqual([
      'kept',
      ['elsewhere', 'manifest.csv'],
    ]);
  });

  it('asks for no text before it can be written', async () => {
    let asked = 0;
    const chunks = {
      *[Symbol.iterator]() {
        asked += 1;
        yield 'a';
      },
    };
    await expect(writeWhole(join(folder, 'missing', 'a.csv'), chunks)).rejects.toMatchObject({
      code: 'ENOENT',
    });
    expect(asked).toBe(0);
  });

  it('has the complete text of one writer if two write at the same time', async () => {
    const texts = ['a', 'b'].map((letter) => Array.from({ length: 50 }, () => letter.repeat(1000)));
    await Promise.all(texts.map((chunks) => writeWhole(file, asChunks(...chunks))));
    expect(texts.map((chunks) => chunks.join(''))).toContain(readFileSync(file, 'utf8'));
    expect(await readdir(folder)).toEqual(['manifest.csv']);
  });
});
