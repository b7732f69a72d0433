import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeUnfinished } from '../../src/manifest/whole-file.ts';

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
