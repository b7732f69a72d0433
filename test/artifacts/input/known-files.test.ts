import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createImageFiles, type SeenFile, type SeenFiles } from '../../../src/artifacts/input/known-files.ts';
import { largestInput } from '../../../src/artifacts/inputs.ts';
import { makePipe } from '../../rig/pipe.ts';
import { gallery } from '../gallery.ts';
import { freshFolder } from '../places.ts';

const png = (width: number): Promise<Buffer> =>
  gallery['png']?.(width, 8) ?? Promise.reject(new Error('no png'));
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function place(): { readonly root: string; readonly folder: string } {
  const root = realpathSync(freshFolder());
  const folder = join(root, 'pipelines');
  mkdirSync(folder);
  return { root, folder };
}

function memory(): SeenFiles & { readonly files: Map<string, SeenFile>; readonly writes: string[] } {
  const files = new Map<string, SeenFile>();
  const writes: string[] = [];
  return {
    files,
    writes,
    recall: (path) => files.get(path),
    remember: (path, seen) => {
      files.set(path, seen);
      writes.push(path);
    },
  };
}

describe('the images of a pipeline', () => {
  it('are identified by their content, through links and above the pipeline', async () => {
    const { root, folder } = place();
    const bytes = await png(20);
    writeFileSync(join(root, 'a.png'), bytes);
    symlinkSync('../a.png', join(folder, 'link.png'));
    const files = createImageFiles({ folder, filesRoot: root });
    for (const path of ['../a.png', 'link.png', join(root, 'a.png')]) {
      expect(files.facts(path)).toEqual({ sha256: sha256(bytes), bytes: bytes.length });
    }
  });

  it.skipIf(process.platform === 'win32')('that cannot be shown say why', () => {
    const { root, folder } = place();
    const outside = realpathSync(freshFolder());
    writeFileSync(join(outside, 'a.png'), 'x');
    symlinkSync(outside, join(folder, 'out'));
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.git', 'a.png'), 'x');
    symlinkSync(join(root, '.git', 'a.png'), join(folder, 'own.png'));
    writeFileSync(join(folder, 'words.png'), 'words');
    writeFileSync(join(folder, 'empty.png'), '');
    writeFileSync(join(folder, 'large.png'), '');
    truncateSync(join(folder, 'large.png'), largestInput + 1);
    const files = createImageFiles({ folder, filesRoot: root });
    const codes = [
      'gone.png',
      'out/a.png',
      '../.git/a.png',
      'own.png',
      '.',
      'words.png',
      'empty.png',
      'large.png',
      'a\0b',
    ].map((path) => {
      const facts = files.facts(path);
      return 'error' in facts ? facts.error.code : 'known';
    });
    expect(codes).toEqual([
      'input.missing',
      'input.outside',
      'input.outside',
      'input.outside',
      'input.missing',
      'input.not-image',
      'input.not-image',
      'input.too-large',
      'input.missing',
    ]);
  });

  it('are read up to the largest size that a request can show, and hashed to the last byte', async () => {
    const { root, folder } = place();
    const head = await png(20);
    const bytes = Buffer.concat([head, Buffer.alloc(largestInput - head.length, 7)]);
    writeFileSync(join(folder, 'most.png'), bytes);
    // A little more than is read at a time.
    const two = Buffer.concat([head, Buffer.alloc(1_048_576, 9)]);
    writeFileSync(join(folder, 'two.png'), two);
    const files = createImageFiles({ folder, filesRoot: root });
    expect(files.facts('most.png')).toEqual({ sha256: sha256(bytes), bytes: largestInput });
    expect(files.facts('two.png')).toEqual({ sha256: sha256(two), bytes: two.length });
  });

  it.skipIf(process.platform === 'win32')('that are a pipe are not waited for', () => {
    const { root, folder } = place();
    makePipe(join(folder, 'pipe.png'));
    expect(createImageFiles({ folder, filesRoot: root }).facts('pipe.png')).toMatchObject({
      error: { code: 'input.missing' },
    });
  });

  it('are never held open', async () => {
    const { root, folder } = place();
    writeFileSync(join(folder, 'a.png'), await png(20));
    writeFileSync(join(folder, 'words.png'), 'words');
    mkdirSync(join(folder, 'folder'));
    const open = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
    const before = open();
    for (let round = 0; round < 50; round += 1) {
      const files = createImageFiles({ folder, filesRoot: root });
      for (const path of ['a.png', 'words.png', 'folder', 'gone.png']) files.facts(path);
    }
    expect(open()).toBeLessThan(before + 50);
  });

  it('can be listed, in the order of their paths, without those that cannot be shown', async () => {
    const { root, folder } = place();
    for (const name of ['b.png', 'a.png', 'B.png']) writeFileSync(join(folder, name), await png(20));
    const files = createImageFiles({ folder, filesRoot: root });
    for (const path of ['b.png', 'gone.png', 'a.png', 'B.png', 'b.png']) files.facts(path);
    const facts = { sha256: sha256(await png(20)), bytes: (await png(20)).length };
    expect(files.known()).toEqual(['B.png', 'a.png', 'b.png'].map((path) => ({ path, ...facts })));
  });

  it('do not change during a run', async () => {
    const { root, folder } = place();
    writeFileSync(join(folder, 'a.png'), await png(20));
    const files = createImageFiles({ folder, filesRoot: root });
    const before = files.facts('a.png');
    writeFileSync(join(folder, 'a.png'), await png(30));
    expect(files.facts('a.png')).toBe(before);
    expect(createImageFiles({ folder, filesRoot: root }).facts('a.png')).not.toEqual(before);
  });

  it('are forgotten, oldest first, when there are too many', async () => {
    const { root, folder } = place();
    for (const name of ['a.png', 'b.png', 'c.png']) writeFileSync(join(folder, name), await png(20));
    const files = createImageFiles({ folder, filesRoot: root, maxKnown: 2 });
    const [a, b] = [files.facts('a.png'), files.facts('b.png')];
    files.facts('c.png');
    expect(files.known().map(({ path }) => path)).toEqual(['b.png', 'c.png']);
    expect(files.facts('b.png')).toBe(b);
    expect(files.facts('a.png')).not.toBe(a);
    expect(files.known().map(({ path }) => path)).toEqual(['a.png', 'c.png']);
  });

  it('are not read again while their size and time are those of an earlier run', async () => {
    const { root, folder } = place();
    const seen = memory();
    const [first, second] = [await png(20), await png(20)];
    const file = join(folder, 'a.png');
    writeFileSync(file, first);
    utimesSync(file, 1000, 1000);
    createImageFiles({ folder, filesRoot: root, seen }).facts('a.png');
    expect(seen.writes).toEqual(['a.png']);
    // The same again: nothing is written.
    createImageFiles({ folder, filesRoot: root, seen }).facts('a.png');
    expect(seen.writes).toEqual(['a.png']);
    // What is on record is believed, which shows that nothing was read.
    seen.files.set('a.png', { sha256: 'remembered', bytes: first.length, mtimeMs: 1_000_000 });
    expect(createImageFiles({ folder, filesRoot: root, seen }).facts('a.png')).toMatchObject({
      sha256: 'remembered',
    });
    // An older time is another time too: a file that was put back, for example.
    utimesSync(file, 500, 500);
    expect(createImageFiles({ folder, filesRoot: root, seen }).facts('a.png')).toMatchObject({
      sha256: sha256(first),
    });
    expect(seen.writes).toEqual(['a.png', 'a.png']);
    writeFileSync(file, second);
    utimesSync(file, 2000, 2000);
    expect(createImageFiles({ folder, filesRoot: root, seen }).facts('a.png')).toMatchObject({
      sha256: sha256(second),
    });
    expect(seen.writes).toEqual(['a.png', 'a.png', 'a.png']);
  });

  it('are read again if only their size differs from an earlier run', async () => {
    const { root, folder } = place();
    const seen = memory();
    const file = join(folder, 'a.png');
    const second = await png(30);
    for (const bytes of [await png(20), second]) {
      writeFileSync(file, bytes);
      // As copies with the times of their sources have it.
      utimesSync(file, 1000, 1000);
      createImageFiles({ folder, filesRoot: root, seen }).facts('a.png');
    }
    expect(seen.files.get('a.png')).toEqual({
      sha256: sha256(second),
      bytes: second.length,
      mtimeMs: 1_000_000,
    });
  });

  it('are those of the last run if a directory is read by itself', async () => {
    const { root, folder } = place();
    const seen = memory();
    const bytes = await png(20);
    writeFileSync(join(folder, 'a.png'), bytes);
    createImageFiles({ folder, filesRoot: root, seen }).facts('a.png');
    rmSync(join(folder, 'a.png'));
    const alone = createImageFiles({ folder, filesRoot: root, seen, preferSeen: true });
    expect(alone.facts('a.png')).toEqual({ sha256: sha256(bytes), bytes: bytes.length });
    expect(alone.facts('b.png')).toMatchObject({ error: { code: 'input.missing' } });
  });
});
