import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeUnfinished, unfinishedFile, unfinishedName } from '../../../src/state/files/unfinished.ts';
import { freshFolder } from '../places.ts';

describe('the name of a file that is being written', () => {
  it('begins with the final name of the file, is recognised, and is never the same twice', () => {
    const names = Array.from({ length: 100 }, () => unfinishedName('runs/manifest.csv'));
    for (const name of names) {
      expect(name).toMatch(/^runs\/manifest\.csv\.[0-9a-f]{8}\.part$/);
      expect(unfinishedFile.test(name)).toBe(true);
    }
    expect(new Set(names).size).toBe(100);
  });

  it.each([
    'manifest.csv',
    'manifest.csv.part',
    'manifest.csv.1234567.part',
    'manifest.csv.123456789.part',
    'manifest.csv.1234abcg.part',
    'manifest.csv.1234ABCD.part',
    'manifest.csv.1234abcd-part',
    'manifest.csv-1234abcd.part',
    'manifest.csv.1234abcd.part.txt',
    '1234abcd.part',
  ])('is not %s', (name) => {
    expect(unfinishedFile.test(name)).toBe(false);
  });
});

describe('removing the files of killed writers from a folder', () => {
  it('removes only those, and none in folders below', async () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'below'));
    const kept = ['a', 'a.part', 'a.12345678.part.bak', join('below', 'a.12345678.part')];
    const left = ['a.12345678.part', 'a.abcdef01.part', 'b.00000000.part'];
    for (const name of [...kept, ...left]) writeFileSync(join(folder, name), '');
    await removeUnfinished(folder);
    expect(readdirSync(folder)).toEqual(['a', 'a.12345678.part.bak', 'a.part', 'below']);
    expect(existsSync(join(folder, 'below', 'a.12345678.part'))).toBe(true);
    await removeUnfinished(folder);
  });

  it('refuses a folder with such a name, and leaves it', async () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'a.12345678.part'));
    await expect(removeUnfinished(folder)).rejects.toMatchObject({ code: 'directory.kind' });
    expect(readdirSync(folder)).toEqual(['a.12345678.part']);
  });

  it.skipIf(platform() === 'win32')(
    'refuses a link with such a name, and leaves the target of the link',
    async () => {
      const folder = freshFolder();
      const elsewhere = join(freshFolder(), 'kept');
      writeFileSync(elsewhere, '');
      symlinkSync(elsewhere, join(folder, 'a.12345678.part'));
      await expect(removeUnfinished(folder)).rejects.toMatchObject({ code: 'directory.link' });
      expect([existsSync(elsewhere), readdirSync(folder)]).toEqual([true, ['a.12345678.part']]);
    },
  );

  it('fails if the folder cannot be listed', async () => {
    await expect(removeUnfinished(join(freshFolder(), 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
