import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SaveError } from '../../../src/artifacts/failure.ts';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { imagePath, videoPath } from '../../../src/artifacts/store/names.ts';
import { type ArtifactStore, hasArtifacts } from '../../../src/artifacts/store/store.ts';
import { memoryArtifacts } from '../../rig/memory-artifacts.ts';
import { onEachSync } from '../../rig/syncs.ts';
import { filesIn, freshFolder } from '../places.ts';
import { openRig } from './s3/rig.ts';
import { listed, put } from './stored.ts';

/** Opens a place that keeps its files: each call of what is returned is the next run over them. */
const places: readonly (readonly [string, () => Promise<() => ArtifactStore>])[] = [
  [
    'folder',
    async () => {
      const directory = join(freshFolder(), 'run');
      return await Promise.resolve(() => openArtifactFolder(directory));
    },
  ],
  [
    'memory',
    async () => {
      const files = new Map<string, Buffer>();
      return await Promise.resolve(() => memoryArtifacts(files));
    },
  ],
  [
    's3',
    async () => {
      const { open } = await openRig();
      return open;
    },
  ],
];

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function contentOf(store: ArtifactStore, name: string): Promise<string> {
  const found = await store.get(name, 1000);
  return found.ok ? found.bytes.toString() : found.why;
}

describe.each(places)('an artifact store: %s', (_, place) => {
  it('is empty when it is new', async () => {
    const store = (await place())();
    expect(await listed(store)).toEqual([]);
    expect(await store.get('images/ab/abc-1.png', 1000)).toMatchObject({ ok: false, why: 'missing' });
    expect(await store.remove(['images/ab/abc-1.png'])).toBe(false);
    expect(await hasArtifacts(store, 'images/')).toBe(false);
    await store.close();
  });

  it('shows a file under its name once it is finished, and not before', async () => {
    const store = (await place())();
    const file = await store.put('images/ab/abc-1');
    await file.write(Buffer.from('one'));
    await file.write(Buffer.from('two'));
    expect([file.size, file.sha256]).toEqual([6, sha256(Buffer.from('onetwo'))]);
    expect((await file.read(2, 3)).toString()).toBe('etw');
    expect((await file.read(4, 100)).toString()).toBe('wo');
    await file.seal();
    expect(await listed(store)).toEqual([]);
    expect(await contentOf(store, 'images/ab/abc-1.png')).toBe('missing');
    await file.finish('images/ab/abc-1.png');
    await file.discard();
    expect(await contentOf(store, 'images/ab/abc-1.png')).toBe('onetwo');
    await store.close();
  });

  it('keeps its files for the next run, but no unfinished ones', async () => {
    const open = await place();
    const killed = open();
    await put(killed, 'video/ab/abc-1.mp4', 'whole');
    const half = await killed.put('video/ab/abc-2');
    await half.write(Buffer.from('half'));
    await half.seal();
    const store = open();
    await put(store, 'video/ab/abc-3.mp4', 'next');
    expect(await listed(store)).toEqual(['video/ab/abc-1.mp4', 'video/ab/abc-3.mp4']);
    expect(await contentOf(store, 'video/ab/abc-1.mp4')).toBe('whole');
    await store.close();
  });

  it('replaces a file as a whole, also by a second file that was received at the same time', async () => {
    const store = (await place())();
    await put(store, 'video/ab/abc-1.mp4', 'the first, which is longer');
    const [second, third] = [await store.put('video/ab/abc-1'), await store.put('video/ab/abc-1')];
    await second.write(Buffer.from('second'));
    await third.write(Buffer.from('third'));
    await third.finish('video/ab/abc-1.mp4');
    expect(await contentOf(store, 'video/ab/abc-1.mp4')).toBe('third');
    await second.finish('video/ab/abc-1.mp4');
    expect(await contentOf(store, 'video/ab/abc-1.mp4')).toBe('second');
    await store.close();
  });

  it('removes a file that is discarded, and keeps a finished one', async () => {
    const store = (await place())();
    await put(store, 'video/ab/abc-1.mp4', 'kept');
    const file = await store.put('video/ab/abc-1');
    await file.write(Buffer.from('dropped'));
    await file.discard();
    await file.discard();
    expect(await contentOf(store, 'video/ab/abc-1.mp4')).toBe('kept');
    await store.close();
  });

  it('reads no file larger than requested', async () => {
    const store = (await place())();
    await put(store, 'video/ab/abc-1.mp4', '12345');
    expect(await store.get('video/ab/abc-1.mp4', 4)).toMatchObject({ ok: false, why: 'too-large' });
    expect(await store.get('video/ab/abc-1.mp4', 5)).toMatchObject({ ok: true });
    await store.close();
  });

  it('opens a file and reads its bytes from one position to before another', async () => {
    const store = (await place())();
    await put(store, 'video/ab/abc-1.mp4', '0123456789');
    const found = await store.open('video/ab/abc-1.mp4');
    if (!found.ok) throw new Error(found.why);
    const bytes = async (from?: number, before?: number): Promise<string> => {
      const pieces: Buffer[] = [];
      for await (const piece of found.pieces(from, before)) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    };
    expect([found.bytes, await bytes(), await bytes(3), await bytes(3, 5)]).toEqual([
      10,
      '0123456789',
      '3456789',
      '34',
    ]);
    await found.close();
    expect(await store.open('video/ab/abc-2.mp4')).toEqual({ ok: false, why: 'missing' });
    expect(await store.open('video/../state.db')).toEqual({ ok: false, why: 'outside' });
    await store.close();
  });

  it.each([
    '../outside.png',
    '/etc/passwd',
    'images/../state.db',
    'images/ab/../../state.db',
    'state.db',
    'images/.incoming/abc-1.00000000.part',
    'images/ab/.hidden',
    'images\\ab\\abc-1.png',
    'images/ab/abc\0.png',
    'images/ab/',
    '',
  ])('finds nothing under a name that no artifact has: %j', async (name) => {
    const store = (await place())();
    expect(await store.get(name, 1000)).toMatchObject({ ok: false, why: 'outside' });
    await expect(store.remove([name])).rejects.toThrow(/^Internal error/);
    await store.close();
  });

  it('lists and removes its files, whatever the names and their order', async () => {
    const key = fc.stringMatching(/^[0-9a-f]{3,5}$/);
    const output = fc.integer({ min: 1, max: 12 });
    const name = fc.oneof(
      fc.tuple(key, output).map(([of, at]) => `${imagePath(of, at)}.png`),
      fc.tuple(key, output).map(([of, at]) => `${videoPath(of, at)}.mp4`),
    );
    const prefix = fc.oneof(fc.constantFrom('', 'images/', 'vi', 'video/0'), name);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(name, { maxLength: 12 }),
        fc.array(name, { maxLength: 4 }),
        prefix,
        async (names, others, begin) => {
          const store = (await place())();
          for (const each of names) await put(store, each, `of ${each}`);
          const gone = [...names.slice(0, 3), ...others];
          expect(await store.remove(gone)).toBe(gone.some((each) => names.includes(each)));
          const left = names.filter((each) => !gone.includes(each)).sort();
          expect(await listed(store, begin)).toEqual(left.filter((each) => each.startsWith(begin)));
          expect(await hasArtifacts(store, begin)).toBe(left.some((each) => each.startsWith(begin)));
          for (const each of left) expect(await contentOf(store, each)).toBe(`of ${each}`);
          await store.close();
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('the folder of a run directory', () => {
  it('syncs a file, renames it, and syncs the folder of its name', async () => {
    const directory = freshFolder();
    const store = openArtifactFolder(directory);
    await put(store, 'video/ab/abc-1.mp4', 'first');
    const named: boolean[] = [];
    await onEachSync(() => named.push(filesIn(directory).includes('video/ab/abc-2.mp4')));
    await put(store, 'video/ab/abc-2.mp4', 'second');
    expect(named).toEqual([false, true]);
    await store.close();
    expect(readFileSync(join(directory, 'video/ab/abc-2.mp4'), 'utf8')).toBe('second');
  });

  it('removes files that a killed run was receiving, even if nothing is received again', async () => {
    const directory = freshFolder();
    await (await openArtifactFolder(directory).put('images/ab/abc-1')).seal();
    expect(filesIn(directory)).toHaveLength(1);
    await openArtifactFolder(directory).close();
    expect(filesIn(directory)).toEqual([]);
  });

  it('neither lists, reads nor writes through a link', async () => {
    const [directory, elsewhere] = [freshFolder(), freshFolder()];
    mkdirSync(join(directory, 'images/ab'), { recursive: true });
    writeFileSync(join(elsewhere, 'abc-1.png'), 'secret');
    symlinkSync(join(elsewhere, 'abc-1.png'), join(directory, 'images/ab/abc-1.png'));
    symlinkSync(elsewhere, join(directory, 'images/cd'));
    const store = openArtifactFolder(directory);
    expect(await listed(store)).toEqual([]);
    for (const name of ['images/ab/abc-1.png', 'images/cd/abc-1.png']) {
      expect(await store.get(name, 1000)).toEqual({ ok: false, why: 'outside' });
      await expect(put(store, name, 'written')).rejects.toThrow(SaveError);
      await expect(store.remove([name])).rejects.toThrow(SaveError);
    }
    expect(filesIn(elsewhere)).toEqual(['abc-1.png']);
    expect(readFileSync(join(elsewhere, 'abc-1.png'), 'utf8')).toBe('secret');
    await store.close();
  });
});
