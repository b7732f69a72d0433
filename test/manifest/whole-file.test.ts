import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeWhole } from '../../src/manifest/whole-file.ts';
import { removeUnfinished } from '../../src/state/files/unfinished.ts';
import { onEachSync } from '../rig/syncs.ts';

it('is on the disk before it has its name, and its name is when it is written', async () => {
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

it('removes what a killed writer left, and nothing else', async () => {
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
