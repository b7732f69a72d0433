import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkArtifactFolder } from '../../../src/artifacts/store/check.ts';
import { freshFolder } from '../places.ts';

/** What lies at a path of a run directory. */
type Thing = 'file' | 'folder' | 'link';

/** Makes a run directory with an artifact in each root, and one thing more; says why it is refused. */
async function refusal(name: string, thing: Thing, files: boolean): Promise<string> {
  const directory = freshFolder();
  if (name.includes('/'))
    for (const path of ['images/ab/abc-1.png', 'images/.incoming/abc-2.0123abcd.part', 'video/ab/abc-1.mp4'])
      makeAt(directory, path, 'file');
  makeAt(directory, name, thing);
  try {
    await checkArtifactFolder(directory, { files });
    return 'nothing is wrong';
  } catch (error) {
    return String((error as { code?: string }).code);
  }
}

function makeAt(directory: string, name: string, thing: Thing): void {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  if (thing === 'file') writeFileSync(path, 'x');
  else if (thing === 'folder') mkdirSync(path);
  else symlinkSync(freshFolder(), path);
}

describe('a run directory that may have come with a repository', () => {
  it.each<readonly [string, Thing, string]>([
    ['images', 'link', 'directory.link'],
    ['video', 'link', 'directory.link'],
    ['video', 'file', 'directory.kind'],
    ['masks', 'link', 'nothing is wrong'],
  ])(
    'is refused for its root %s, a %s, whether or not its files are checked: %s',
    async (name, thing, code) => {
      expect([await refusal(name, thing, true), await refusal(name, thing, false)]).toEqual([code, code]);
    },
  );

  it.each<readonly [string, Thing, string]>([
    ['images/cd', 'link', 'directory.link'],
    ['images/cd', 'file', 'directory.kind'],
    ['video/.incoming', 'link', 'directory.link'],
    ['images/ab/abc-9.png', 'link', 'directory.link'],
    ['images/ab/abc-9.png', 'folder', 'directory.kind'],
    ['images/.incoming/abc-9.0123abcd.part', 'link', 'directory.link'],
    // Nothing that the store reads, replaces or removes.
    ['images/abc', 'link', 'nothing is wrong'],
    ['images/.git', 'link', 'nothing is wrong'],
    ['images/ab/.hidden', 'link', 'nothing is wrong'],
    ['images/ab/abc-9.png', 'file', 'nothing is wrong'],
  ])('is refused for %s, a %s, if its files are checked: %s', async (name, thing, code) => {
    expect([await refusal(name, thing, true), await refusal(name, thing, false)]).toEqual([
      code,
      'nothing is wrong',
    ]);
  });

  it('is accepted while it is empty', async () => {
    await expect(checkArtifactFolder(join(freshFolder(), 'run'), { files: true })).resolves.toBeUndefined();
  });
});
