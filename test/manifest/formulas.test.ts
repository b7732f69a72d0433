import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeManifest } from '../../src/manifest/write.ts';
import { readManifest } from '../rig/manifest.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/pipeline-builder.ts';

const values = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', 'x=1', ''];

it('formulas in cells are written unchanged, unless escaping is requested', async () => {
  const plan = await planOf(`
    matrix:
      word: ${JSON.stringify(values)}
    steps:
      grid:
        imagine: "{{ word }} fox"
  `);
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
  try {
    const file = join(folder, 'manifest.csv');
    const words = async (escapeFormulas?: boolean): Promise<readonly (string | undefined)[]> => {
      await writeManifest({
        plan,
        selection: {},
        reader: memoryStore().reader,
        file,
        ...(escapeFormulas === undefined ? {} : { escapeFormulas }),
      });
      return (await readManifest(file)).map((row) => row['var.word']);
    };
    expect(await words()).toEqual(values);
    expect(await words(true)).toEqual(["'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", 'x=1', '']);
    expect((await readFile(file, 'utf8')).split('\r\n')[0]).toMatch(/^file_name,cell,/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
