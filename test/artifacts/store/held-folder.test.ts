import fs, { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { HeldFolder } from '../../../src/artifacts/store/held-folder.ts';
import { replaceFs, systemError } from '../../rig/replace-fs.ts';
import { freshFolder } from '../places.ts';
import { listed, put } from './stored.ts';

/** Syncs that are carried out only when they are let go on. */
function heldSyncs(): { readonly begun: number[]; readonly finish: (error?: Error) => void } {
  const waiting: (() => void)[] = [];
  const begun: number[] = [];
  let failure: Error | null = null;
  replaceFs({
    fsync: (file: number, done: (error: Error | null) => void) => {
      begun.push(file);
      waiting.push(() => done(failure));
    },
  });
  return {
    begun,
    finish: (error) => {
      failure = error ?? null;
      for (const go of waiting.splice(0)) go();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('all callers during a sync of a folder share the next sync, which begins after the current one', async () => {
  const folder = new HeldFolder(freshFolder());
  const { begun, finish } = heldSyncs();
  const over: number[] = [];
  const syncs = [1, 2, 3].map((n) => folder.sync().then(() => over.push(n)));
  await turn();
  expect(begun).toHaveLength(1);
  finish();
  await turn();
  expect(over).toEqual([1]);
  expect(begun).toHaveLength(2);
  finish();
  await Promise.all(syncs);
  expect([over, begun.length]).toEqual([[1, 2, 3], 2]);
});

it('a failed sync fails for all who share it, but not for those of the next', async () => {
  const folder = new HeldFolder(freshFolder());
  const { finish } = heldSyncs();
  const first = folder.sync();
  const [second, third] = [folder.sync(), folder.sync()];
  finish(systemError('EIO', 'fsync'));
  await expect(first).rejects.toMatchObject({ code: 'EIO' });
  await turn();
  finish(systemError('EINVAL', 'fsync'));
  // A file system whose folders cannot be synced.
  await Promise.all([second, third]);
});

it('a folder is no longer in place once it was moved, removed, or replaced by another or a link', () => {
  const place = freshFolder();
  const path = join(place, 'ab');
  const fresh = (): HeldFolder => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    return new HeldFolder(path);
  };
  expect(fresh().isInPlace).toBe(true);
  const moved = fresh();
  renameSync(path, join(place, 'cd'));
  expect(moved.isInPlace).toBe(false);
  const other = fresh();
  rmSync(path, { recursive: true });
  mkdirSync(path);
  expect(other.isInPlace).toBe(false);
  const linked = fresh();
  rmSync(path, { recursive: true });
  symlinkSync(join(place, 'cd'), path);
  expect(linked.isInPlace).toBe(false);
  expect(() => new HeldFolder(path)).toThrow(/ELOOP|ENOTDIR/);
});

it('a folder is closed once it is retired and nobody uses it, and never twice', () => {
  const closed: number[] = [];
  const { closeSync } = fs;
  const folder = new HeldFolder(freshFolder());
  replaceFs({
    closeSync: (file: number) => {
      closed.push(file);
      closeSync(file);
    },
  });
  folder.enter();
  folder.retire();
  expect([closed.length, folder.isInPlace]).toEqual([0, false]);
  folder.leave();
  folder.retire();
  expect(closed).toHaveLength(1);
});

it('all files get their names in more folders than are held open, whatever is placed at the same time', async () => {
  const store = openArtifactFolder(freshFolder());
  const names = Array.from({ length: 360 }, (_, n) => {
    const folder = n.toString(36).padStart(2, '0');
    return `images/${folder}/${folder}-1.png`;
  });
  await Promise.all([...names, ...names.slice(0, 40)].map((name) => put(store, name)));
  expect(await listed(store)).toEqual(names.toSorted());
  await store.close();
});

it('absent names are not looked up, and files of an earlier run are found', async () => {
  const directory = freshFolder();
  mkdirSync(join(directory, 'images/ab'), { recursive: true });
  writeFileSync(join(directory, 'images/ab/abc-1.webp'), 'of an earlier run');
  const store = openArtifactFolder(directory);
  await put(store, 'images/ab/abc-1.png');
  const asked: string[] = [];
  const { lstatSync } = fs;
  replaceFs({
    lstatSync: (path: string, ...rest: []) => {
      asked.push(path);
      return lstatSync(path, ...rest);
    },
  });
  const others = ['jpg', 'gif', 'avif'].map((extension) => `images/ab/abc-1.${extension}`);
  expect(await store.remove(others)).toBe(false);
  expect(asked).toEqual([]);
  expect(await store.remove([...others, 'images/ab/abc-1.webp'])).toBe(true);
  expect(await listed(store)).toEqual(['images/ab/abc-1.png']);
  await store.close();
});
