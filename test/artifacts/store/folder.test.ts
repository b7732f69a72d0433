import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SaveError } from '../../../src/artifacts/failure.ts';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { onEachSync } from '../../rig/syncs.ts';
import { beforeCalls, systemError } from '../../rig/system-calls.ts';
import { filesIn, freshFolder } from '../places.ts';
import { listed, put } from './stored.ts';

const failureOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => 'it was done',
    (reason: unknown) => reason,
  );
  return error instanceof SaveError ? `${error.failure.code}, ${error.failure.class}` : String(error);
};

/** What is synced from now on, of these names, since it was last asked. */
async function syncsIn(directory: string): Promise<(...names: readonly string[]) => readonly string[]> {
  const synced: number[] = [];
  await onEachSync((inode) => synced.push(inode));
  return (...names) => {
    const byInode = new Map(names.map((name) => [statSync(join(directory, name)).ino, name]));
    return synced.splice(0).map((inode) => byInode.get(inode) ?? 'another');
  };
}

describe('a file in a folder of artifacts', () => {
  it('has a durable name in durable folders, even if none of them existed before', async () => {
    const directory = join(freshFolder(), 'run');
    const store = openArtifactFolder(directory);
    const synced = await syncsIn(directory);
    await put(store, 'images/ab/abc-1.png');
    // The root and the directory, then the file, the folder's name, and the file's name in it.
    expect(synced('images', '.', 'images/ab/abc-1.png', 'images/ab')).toEqual([
      'images',
      '.',
      'images/ab/abc-1.png',
      'images',
      'images/ab',
    ]);
    await put(store, 'images/ab/abc-2.png');
    expect(synced('images/ab/abc-2.png', 'images/ab')).toEqual(['images/ab/abc-2.png', 'images/ab']);
    await put(store, 'video/ab/abc-1.mp4');
    expect(synced('video', '.', 'video/ab/abc-1.mp4', 'video/ab')).toEqual([
      'video',
      '.',
      'video/ab/abc-1.mp4',
      'video',
      'video/ab',
    ]);
  });

  it('has a durable name in a folder that somebody removed meanwhile', async () => {
    const directory = freshFolder();
    const store = openArtifactFolder(directory);
    await put(store, 'images/ab/abc-1.png');
    rmSync(join(directory, 'images/ab'), { recursive: true });
    const synced = await syncsIn(directory);
    await put(store, 'images/ab/abc-1.png');
    expect(synced('images/ab/abc-1.png', 'images', 'images/ab')).toEqual([
      'images/ab/abc-1.png',
      'images',
      'images/ab',
    ]);
  });

  it('is written under a unique name, and never into an existing file', async () => {
    const flags: unknown[] = [];
    beforeCalls('open', (path, how) => {
      if (String(path).endsWith('.part')) flags.push(how);
    });
    const file = await openArtifactFolder(freshFolder()).put('images/ab/abc-1');
    expect(flags).toEqual(['wx+']);
    await file.discard();
  });

  it('can be received once the obstacle to its folder is gone', async () => {
    const directory = freshFolder();
    const store = openArtifactFolder(directory);
    writeFileSync(join(directory, 'images'), 'in the way');
    for (const _ of [1, 2]) expect(await failureOf(put(store, 'images/ab/abc-1.png'))).toBe('disk.io, stop');
    rmSync(join(directory, 'images'));
    await put(store, 'images/ab/abc-1.png');
    expect(await listed(store)).toEqual(['images/ab/abc-1.png']);
  });

  it('that is being received when the store is closed can still be finished', async () => {
    const directory = freshFolder();
    const store = openArtifactFolder(directory);
    const file = await store.put('images/ab/abc-1');
    await store.close();
    await file.write(Buffer.from('late'));
    await file.finish('images/ab/abc-1.png');
    expect(readFileSync(join(directory, 'images/ab/abc-1.png'), 'utf8')).toBe('late');
  });

  it.each([
    ['mkdir', 'ENOSPC', 'disk.full, stop'],
    ['mkdir', 'EACCES', 'disk.readonly, stop'],
    ['rename', 'EDQUOT', 'disk.full, stop'],
    ['open', 'EMFILE', 'disk.io, stop'],
  ] as const)('stops the run where %s fails with %s, as %s', async (call, code, failure) => {
    const directory = freshFolder();
    const store = openArtifactFolder(directory);
    const file = await store.put('images/ab/abc-1');
    beforeCalls(call, () => {
      throw systemError(code, call);
    });
    expect(
      await failureOf(call === 'open' ? store.put('images/ab/abc-2') : file.finish('images/ab/abc-1.png')),
    ).toBe(failure);
    await file.discard();
    expect(filesIn(directory)).toEqual([]);
  });

  it('is placed even if another file makes the folder of both at the same moment', async () => {
    const directory = freshFolder();
    const store = openArtifactFolder(directory);
    const file = await store.put('images/ab/abc-1');
    beforeCalls('mkdir', () => mkdirSync(join(directory, 'images/ab'), { recursive: true }));
    await file.finish('images/ab/abc-1.png');
    expect(await listed(store)).toEqual(['images/ab/abc-1.png']);
  });

  it('is not placed behind a link that replaces its folder at the same moment', async () => {
    const [directory, elsewhere] = [freshFolder(), freshFolder()];
    const store = openArtifactFolder(directory);
    const file = await store.put('images/ab/abc-1');
    beforeCalls('mkdir', () => symlinkSync(elsewhere, join(directory, 'images/ab')));
    expect(await failureOf(file.finish('images/ab/abc-1.png'))).toBe('disk.link, stop');
    await file.discard();
    expect(filesIn(elsewhere)).toEqual([]);
  });
});

describe('a folder of artifacts', () => {
  it.each(['images', 'images/.incoming'])('removes nothing behind a link: %s', async (name) => {
    const [directory, elsewhere] = [freshFolder(), freshFolder()];
    mkdirSync(join(elsewhere, '.incoming'));
    for (const at of ['.incoming/abc-1.0123abcd.part', 'abc-1.0123abcd.part'])
      writeFileSync(join(elsewhere, at), 'of somebody else');
    if (name !== 'images') mkdirSync(join(directory, 'images'));
    symlinkSync(elsewhere, join(directory, name));
    await openArtifactFolder(directory).close();
    expect(filesIn(elsewhere)).toEqual(['.incoming/abc-1.0123abcd.part', 'abc-1.0123abcd.part']);
  });

  it.each([
    [true, 2],
    [false, 1],
  ])('keeps what others receive if it is shared: %s', async (isShared, kept) => {
    const directory = freshFolder();
    const [one, other] = [openArtifactFolder(directory, isShared), openArtifactFolder(directory, isShared)];
    const file = await one.put('images/ab/abc-1');
    await file.write(Buffer.from('fox'));
    const more = await other.put('images/ab/abc-2');
    expect(filesIn(directory)).toHaveLength(kept);
    await more.discard();
    await other.close();
    expect(filesIn(directory)).toHaveLength(kept - 1);
    await file.discard();
  });

  it.each([
    [true, 1],
    [false, 0],
  ])(
    'removes what a killed process was receiving, even if it receives nothing, unless it is shared: %s',
    async (isShared, left) => {
      const directory = freshFolder();
      mkdirSync(join(directory, 'images/.incoming'), { recursive: true });
      writeFileSync(join(directory, 'images/.incoming/abc-1.0123abcd.part'), 'half');
      await openArtifactFolder(directory, isShared).close();
      expect(filesIn(directory)).toHaveLength(left);
    },
  );

  it('tells only one of several simultaneous callers that it removed a file', async () => {
    const store = openArtifactFolder(freshFolder());
    for (let round = 0; round < 20; round += 1) {
      await put(store, 'images/ab/abc-1.png');
      const found = await Promise.all([1, 2, 3].map(() => store.remove(['images/ab/abc-1.png'])));
      expect(found.filter(Boolean)).toEqual([true]);
    }
  });

  it('treats a file that is gone before its removal as missing, and reports any other error', async () => {
    const directory = freshFolder();
    const store = openArtifactFolder(directory);
    await put(store, 'images/ab/abc-1.png');
    beforeCalls('unlink', () => rmSync(join(directory, 'images/ab/abc-1.png')));
    expect(await store.remove(['images/ab/abc-1.png'])).toBe(false);
    await put(store, 'images/ab/abc-2.png');
    beforeCalls('unlink', () => {
      throw systemError('EROFS', 'unlink');
    });
    expect(await failureOf(store.remove(['images/ab/abc-2.png']))).toBe('disk.readonly, stop');
  });

  it('can be read through a link to the run directory', async () => {
    const place = freshFolder();
    const [directory, link] = [join(place, 'run'), join(place, 'link')];
    await put(openArtifactFolder(directory), 'images/ab/abc-1.png', 'fox');
    symlinkSync(directory, link);
    const store = openArtifactFolder(link);
    expect(await store.get('images/ab/abc-1.png', 10)).toEqual({ ok: true, bytes: Buffer.from('fox') });
    expect(await listed(store)).toEqual(['images/ab/abc-1.png']);
  });

  it('has no file if a folder has its name', async () => {
    const directory = freshFolder();
    mkdirSync(join(directory, 'images/ab/abc-1.png'), { recursive: true });
    const store = openArtifactFolder(directory);
    expect(await store.get('images/ab/abc-1.png', 10)).toEqual({ ok: false, why: 'missing' });
    expect(await listed(store)).toEqual([]);
  });

  it('stops the run if a file cannot be read because of the disk', async () => {
    const store = openArtifactFolder(freshFolder());
    await put(store, 'images/ab/abc-1.png');
    beforeCalls('open', () => {
      throw systemError('EIO', 'open');
    });
    expect(await failureOf(store.get('images/ab/abc-1.png', 100))).toBe('disk.io, stop');
    expect(await failureOf(store.get('images/ab/abc-2.png', 100))).toBe('it was done');
  });
});

describe('the names in a folder of artifacts', () => {
  it('are sorted as whole names, even if the name of a folder begins that of another', async () => {
    const store = openArtifactFolder(freshFolder());
    const names = ['images/a-/a-b-1.png', 'images/a./a.b-1.png', 'images/a/a-1.png', 'images/a/a-10.png'];
    expect(names.toSorted()).toEqual(names);
    for (const name of names.toReversed()) await put(store, name);
    expect(await listed(store)).toEqual(names);
  });

  it('are those with the requested beginning, up to a whole name', async () => {
    const store = openArtifactFolder(freshFolder());
    const names = [
      'images/ab/abc-1.png',
      'images/ab/abc-12.png',
      'images/cd/cde-1.png',
      'video/ab/abc-1.mp4',
    ];
    for (const name of names) await put(store, name);
    const [first = '', second = '', third = ''] = names;
    expect(await listed(store, 'images/ab/abc-1')).toEqual([first, second]);
    expect(await listed(store, 'images/ab/abc-1.')).toEqual([first]);
    expect(await listed(store, third)).toEqual([third]);
    expect(await listed(store, 'images/c')).toEqual([third]);
    expect(await listed(store, `${third}x`)).toEqual([]);
  });

  it('are found beside a root that is a link, which stops a search of all', async () => {
    const [directory, elsewhere] = [freshFolder(), freshFolder()];
    const store = openArtifactFolder(directory);
    await put(store, 'images/ab/abc-1.png');
    symlinkSync(elsewhere, join(directory, 'video'));
    expect(await listed(store, 'images/')).toEqual(['images/ab/abc-1.png']);
    expect(await failureOf(listed(store))).toBe('disk.link, stop');
  });

  it('are empty for a folder that vanishes while they are read, and stop the run if they cannot be read', async () => {
    const directory = freshFolder();
    const store = openArtifactFolder(directory);
    for (const name of ['images/ab/abc-1.png', 'images/cd/cde-1.png']) await put(store, name);
    beforeCalls('readdir', (folder) => {
      if (String(folder).endsWith('ab')) rmSync(String(folder), { recursive: true });
    });
    expect(await listed(store)).toEqual(['images/cd/cde-1.png']);
    beforeCalls('readdir', () => {
      throw systemError('EIO', 'readdir');
    });
    expect(await failureOf(listed(store))).toBe('disk.io, stop');
  });
});

it('all files get their names, whatever is placed at the same time', async () => {
  const store = openArtifactFolder(freshFolder());
  const names = Array.from({ length: 360 }, (_, n) => {
    const folder = n.toString(36).padStart(2, '0');
    return `images/${folder}/${folder}-1.png`;
  });
  await Promise.all([...names, ...names.slice(0, 40)].map((name) => put(store, name)));
  expect(await listed(store)).toEqual(names.toSorted());
  await store.close();
});

it('removes files of an earlier run in another format', async () => {
  const directory = freshFolder();
  mkdirSync(join(directory, 'images/ab'), { recursive: true });
  writeFileSync(join(directory, 'images/ab/abc-1.webp'), 'of an earlier run');
  const store = openArtifactFolder(directory);
  await put(store, 'images/ab/abc-1.png');
  const others = ['jpg', 'gif', 'avif'].map((extension) => `images/ab/abc-1.${extension}`);
  expect(await store.remove(others)).toBe(false);
  expect(await store.remove([...others, 'images/ab/abc-1.webp'])).toBe(true);
  expect(await listed(store)).toEqual(['images/ab/abc-1.png']);
  await store.close();
});
