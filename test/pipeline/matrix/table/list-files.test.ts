import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tableLimits } from '../../../../src/pipeline/matrix/table/error.ts';
import {
  listingName,
  listingParts,
  listingText,
  readGlob,
} from '../../../../src/pipeline/matrix/table/glob.ts';
import { type Folders, listFiles } from '../../../../src/pipeline/matrix/table/list-files.ts';
import { folder, parse } from '../../diagnose.ts';
import { MemoryFiles } from '../../table-port.ts';

/** The files of a listing among these, which lie beside the pipeline. */
async function listed(glob: string, names: readonly string[]): Promise<readonly string[]> {
  const files = new MemoryFiles(Object.fromEntries(names.map((name) => [path.join('/files', name), 'x'])));
  const chunks: Uint8Array[] = [];
  for await (const chunk of files.list(listingName('/files', glob))) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString().split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { file: string }).file);
}

describe('a glob of files', () => {
  const names = [
    'b.png',
    'a.png',
    'a.jpg',
    'B.png',
    '.a.png',
    'é.png',
    'x/a.png',
    'x/y/a.png',
    'x/y/z/c.png',
    'x/.y/a.png',
    'xx/a.png',
    'a.png.txt',
    'up/A.PNG',
    'up/B.Jpg',
    'up/G',
    '.git/a.png',
  ];
  it.each([
    ['*.png', ['B.png', 'a.png', 'b.png', 'é.png']],
    ['./*.{jpg,txt}', ['a.jpg', 'a.png.txt']],
    ['a.png', ['a.png']],
    ['a.*', ['a.jpg', 'a.png', 'a.png.txt']],
    ['.*', ['.a.png']],
    ['x/*.png', ['x/a.png']],
    ['x*/*', ['x/a.png', 'xx/a.png']],
    ['x/**/*.png', ['x/a.png', 'x/y/a.png', 'x/y/z/c.png']],
    ['**/c.png', ['x/y/z/c.png']],
    ['**/**/y/*', ['x/y/a.png']],
    ['x/.y/*', ['x/.y/a.png']],
    ['x/**/z/*', ['x/y/z/c.png']],
    ['{x,xx}/{a,b}.png', ['x/a.png', 'xx/a.png']],
    ['../files/b*', ['../files/b.png']],
    ['/files/x/*', ['/files/x/a.png']],
    ['no/*', []],
    ['up/*.{jpg,png}', ['up/A.PNG', 'up/B.Jpg']],
    ['up/*.PNG', ['up/A.PNG']],
    ['up/A.png', ['up/A.PNG']],
    ['up/a.png', []],
    ['UP/*', []],
    ['up/*G', ['up/A.PNG', 'up/G']],
    ['.*/*', []],
    ['{.git,x}/a*', ['x/a.png']],
    ['*/*/*/*/*', []],
  ])('%s', async (glob, expected) => {
    expect(await listed(glob, names)).toEqual(expected);
  });

  it('matches the runs beside the pipeline only if it names their folder', async () => {
    const images = ['runs/foxes/images/3f/a.png', 'x/runs/b.png', 'shot.png'];
    expect(await listed('**/*.png', images)).toEqual(['shot.png', 'x/runs/b.png']);
    expect(await listed('r*/**/*.png', images)).toEqual([]);
    expect(await listed('../files/**/*.png', images)).toEqual(['../files/shot.png', '../files/x/runs/b.png']);
    expect(await listed('runs/foxes/**/*.png', images)).toEqual(['runs/foxes/images/3f/a.png']);
  });

  it('finds the same files as a reference, each once, in the same order', async () => {
    const word = fc.constantFrom('a', 'b', 'ab', 'ba.png', '.a');
    const file = fc.array(word, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const part = fc.constantFrom('a', 'b', '*', 'a*', '*b', '*.png', '{a,b}', 'a{b,}', '.a', '**');
    const glob = fc.tuple(
      fc.array(part, { maxLength: 3 }),
      part.filter((one) => one !== '**'),
    );
    const regex = (parts: readonly string[]): RegExp => {
      const pieces = parts.map((one, index) => {
        if (one === '**') return '(?:(?!\\.)[^/]+/)*';
        const escaped = one
          .replaceAll('.', '\\.')
          .replaceAll('*', '[^/]*')
          .replace(/\{(.*),(.*)\}/, '(?:$1|$2)');
        const noDot = one.startsWith('.') ? '' : '(?!\\.)';
        return `${noDot}${escaped}${index < parts.length - 1 ? '/' : ''}`;
      });
      return new RegExp(`^${pieces.join('')}$`);
    };
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(file, { maxLength: 12 }), glob, async (files, [head, last]) => {
        // A name cannot be a file and a folder.
        const own = files.filter((one) => !files.some((other) => other.startsWith(`${one}/`)));
        const parts = [...head, last];
        const expected = own.filter((one) => regex(parts).test(one)).sort();
        expect(await listed(parts.join('/'), own)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws and takes bounded time for any text', () => {
    const odd = fc.string({ unit: fc.constantFrom('a', '*', '/', '{', '}', ',', '.', '[', '\\', '\0') });
    fc.assert(
      fc.property(odd, (text) => {
        const read = readGlob(text);
        expect('glob' in read ? read.glob.parts.length : read.diagnostic.message.length).toBeGreaterThan(0);
      }),
    );
    expect(readGlob('{a,b}'.repeat(190))).toHaveProperty('diagnostic');
    expect(readGlob('a/'.repeat(400))).toHaveProperty('diagnostic');
  });

  it('is named in its error', () => {
    for (const [at, glob] of [
      ['/', '*.png'],
      ['/a', './../b/./*'],
    ] as const) {
      expect(listingParts(listingName(at, glob))).toEqual({ folder: at, glob });
    }
  });
});

describe('files as rows', () => {
  const text =
    'name: t\nmatrix: { rows: { files: "shots/*.{png,jpg}" } }\nsteps: { a: { imagine: "{{ file }} {{ name }}" } }\n';

  it('form an axis with the columns file and name', async () => {
    const { pipeline, diagnostics } = await parse(text, { 'shots/a.png': '', 'shots/b.tar.jpg': '' });
    expect(diagnostics).toEqual([]);
    expect(pipeline?.matrix.axes).toMatchObject([
      {
        kind: 'rows',
        name: 'rows',
        declared: 'shots/*.{png,jpg}',
        file: listingName(folder, 'shots/*.{png,jpg}'),
        format: 'files',
        columns: ['file', 'name'],
      },
    ]);
    expect(listingText(['shots/b.tar.jpg', 'c'])).toBe(
      '{"file":"shots/b.tar.jpg","name":"b.tar"}\n{"file":"c","name":"c"}\n',
    );
  });

  it('cannot share a name with an axis, and the hint says what to rename', async () => {
    const clash = text.replace('{ rows', '{ name: [1, 2], rows');
    const { diagnostics } = await parse(clash, { 'shots/a.png': '' });
    expect(diagnostics).toMatchObject([{ code: 'matrix.column-clash', hint: 'Rename the axis.' }]);
  });

  it('follow links to files inside, and through folders that a name means, but not through **', async () => {
    const kinds: Readonly<Record<string, readonly [string, 'file' | 'folder' | 'link' | 'other'][]>> = {
      '/root/p': [
        ['in', 'link'],
        ['d', 'folder'],
        ['sock', 'other'],
      ],
      '/root/p/in': [['a.png', 'file']],
      '/root/p/d': [
        ['b.png', 'link'],
        ['up', 'link'],
      ],
      '/root/p/d/up': [['never.png', 'file']],
    };
    const facts: Record<string, Awaited<ReturnType<Folders['facts']>>> = {
      '/root/p': { kind: 'folder', realPath: '/root/p', bytes: 0 },
      '/root/p/in': { kind: 'folder', realPath: '/root/other', bytes: 0 },
      '/root/p/d': { kind: 'folder', realPath: '/root/p/d', bytes: 0 },
      '/root/p/d/b.png': { kind: 'file', realPath: '/root/x.png', bytes: 1 },
      '/root/p/d/up': { kind: 'folder', realPath: '/root', bytes: 0 },
    };
    const folders: Folders = {
      root: '/root',
      facts: async (file) => facts[file],
      async *entries(at) {
        for (const [name, kind] of kinds[at] ?? []) yield { name, kind };
      },
    };
    const list = (glob: string) => listFiles(listingName('/root/p', glob), folders);
    expect(await list('*/*.png')).toEqual(['d/b.png', 'in/a.png']);
    expect(await list('**/*.png')).toEqual(['d/b.png']);
    expect(await list('s*')).toEqual([]);
    facts['/root/p/d/b.png'] = undefined;
    await expect(list('d/*.png')).rejects.toMatchObject({ code: 'table.unreadable' });
    expect(await list('in/*.png')).toEqual(['in/a.png']);
  });

  it('are limited in number, as is the search', async () => {
    const many = (name: (index: number) => string, count: number): Folders => ({
      root: '/',
      facts: async (file) => ({ kind: 'folder', realPath: file, bytes: 0 }),
      async *entries() {
        for (let index = 0; index < count; index += 1) yield { name: name(index), kind: 'file' };
      },
    });
    const list = (folders: Folders) => listFiles(listingName('/p', '*.png'), folders);
    const name = (index: number): string => `${index}.png`;
    expect(await list(many(name, tableLimits.files))).toHaveLength(tableLimits.files);
    await expect(list(many(name, tableLimits.files + 1))).rejects.toMatchObject({ code: 'table.too-many' });
    await expect(list(many(() => 'x', tableLimits.searched + 1))).rejects.toMatchObject({
      code: 'table.too-many',
    });
  });
});
