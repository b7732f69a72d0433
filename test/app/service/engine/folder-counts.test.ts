import { linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderCounts } from '../../../../src/app/service/engine/folder-counts.ts';
import { countNameOf, countNames } from '../../../../src/artifacts/store/counts.ts';
import { freshFolder } from '../../../state/places.ts';

describe('the counts of submissions in the folder of a run', () => {
  it('work for any number of workers, in a bounded number of files, and never decrease', async () => {
    const directory = freshFolder();
    const counts = folderCounts(directory);
    expect(await counts.highest()).toBe(0);
    for (let worker = 1; worker <= 60; worker += 1) await counts.raise(`worker-${worker}`, worker);
    expect(await counts.highest()).toBe(60);
    expect(readdirSync(directory).every((name) => countNames.includes(name))).toBe(true);
    await counts.raise('worker-60', 7);
    expect(await folderCounts(directory).highest()).toBe(60);
    // A power cut leaves a new file empty.
    writeFileSync(join(directory, countNameOf('worker-60')), '');
    await counts.raise('worker-60', 61);
    expect(await counts.highest()).toBe(61);
  });

  it('follow no link, write into no file with a second name, and read no other text as a number', async () => {
    for (const lay of [symlinkSync, linkSync]) {
      const directory = freshFolder();
      const target = join(freshFolder(), 'own');
      writeFileSync(target, 'of the user');
      lay(target, join(directory, countNameOf('one')));
      await expect(folderCounts(directory).raise('one', 3)).rejects.toThrow(countNameOf('one'));
      expect(readFileSync(target, 'utf8')).toBe('of the user');
    }
    const directory = freshFolder();
    writeFileSync(join(directory, countNameOf('one')), 'forty');
    await expect(folderCounts(directory).highest()).rejects.toThrow('is damaged');
    await expect(folderCounts(directory).raise('one', 3)).rejects.toThrow('is damaged');
  });
});
