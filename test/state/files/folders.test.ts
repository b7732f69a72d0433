import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolders } from '../../../src/state/files/folders.ts';
import { freshFolder } from '../places.ts';

describe('making the folders of a path', () => {
  it('makes what is missing of it, with its mode, and leaves what is there', () => {
    const base = freshFolder();
    mkdirSync(join(base, 'a'));
    chmodSync(join(base, 'a'), 0o750);
    makeFolders(join(base, 'a/b/c'), 0o700);
    makeFolders(join(base, 'a/b/c'), 0o755);
    const modes = ['a', 'a/b', 'a/b/c'].map((name) => statSync(join(base, name)).mode & 0o777);
    expect(modes).toEqual([0o750, 0o700, 0o700]);
  });

  it('follows links that lead to folders', () => {
    const base = freshFolder();
    mkdirSync(join(base, 'real'));
    symlinkSync('real', join(base, 'link'));
    makeFolders(join(base, 'link/a'));
    expect(statSync(join(base, 'real/a')).isDirectory()).toBe(true);
  });

  it.each(['file', 'file/a', 'file/a/b', 'nowhere', 'nowhere/a'])(
    'refuses %s by what is in its way',
    (name) => {
      const base = freshFolder();
      writeFileSync(join(base, 'file'), '');
      symlinkSync('gone', join(base, 'nowhere'));
      const found = expect.objectContaining({
        code: 'directory.kind',
        message: expect.stringContaining(join(base, name.split('/')[0] ?? '')) as string,
      }) as Error;
      expect(() => makeFolders(join(base, name))).toThrow(found);
    },
  );
});
