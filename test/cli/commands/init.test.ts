import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readManifest } from '../../rig/manifest.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { promptpress } from '../test-io.ts';

useQuickSandbox();

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const read = (name: string): Promise<string> => readFile(join(cwd, name), 'utf8');
const readPackage = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, '../../../pipelines', name), 'utf8');

describe('promptpress init --template', () => {
  it.each([
    { template: 'foxes', example: 'foxes.yaml', tables: [] },
    { template: 'judge', example: 'judge.yaml', tables: [] },
    { template: 'captions', example: 'captions.yaml', tables: ['data/products.csv'] },
    { template: 'table', example: 'prompts-table.yaml', tables: ['data/prompts.csv'] },
  ])(
    '$template is the example of the package, valid where it is written, with its tables',
    async ({ template, example, tables }) => {
      const { code, out, err } = await promptpress(['init', 'set', '--template', template], { cwd });
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('Next: cd set && promptpress run pipeline.yaml --sandbox');
      const [first = '', ...lines] = (await read('set/pipeline.yaml')).split('\n');
      expect(first).toBe('# yaml-language-server: $schema=./.promptpress/pipeline.schema.json');
      const [, ...others] = (await readPackage(example)).split('\n');
      expect(lines).toEqual(others.map((line) => line.replace(`pipelines/${example}`, 'pipeline.yaml')));
      for (const table of tables) expect(await read(`set/${table}`)).toBe(await readPackage(table));
      expect((await readdir(join(cwd, 'set'))).includes('data')).toBe(tables.length > 0);
      const valid = await promptpress(['validate'], { cwd: join(cwd, 'set') });
      expect([valid.code, valid.out, valid.err]).toEqual([0, 'pipeline.yaml: OK\n', '']);
    },
  );

  it('captions runs unchanged in the folder that it was written to', async () => {
    await promptpress(['init', '--template', 'captions'], { cwd });
    const { code, err } = await promptpress(['run', '--sandbox', '--pace', '0', '--limit', '2'], { cwd });
    expect(code, err).toBe(0);
    const rows = await readManifest(join(cwd, 'runs/captions.sandbox/manifest.csv'));
    expect(rows.map(({ cell, step, status }) => [cell, step, status])).toEqual([
      ['1', 'caption', 'done'],
      ['1', 'german', 'done'],
      ['2', 'caption', 'done'],
      ['2', 'german', 'done'],
    ]);
  }, 120_000);

  it('writes nothing over another pipeline.yaml, and may be repeated', async () => {
    await writeFile(join(cwd, 'pipeline.yaml'), 'mine');
    const refused = await promptpress(['init', '--template', 'captions'], { cwd });
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('pipeline.yaml exists already: neither the template captions');
    expect(refused.err).toContain('promptpress init DIR --template captions');
    expect(await readdir(cwd)).toEqual(['pipeline.yaml']);

    await promptpress(['init', 'set', '--template', 'captions'], { cwd });
    await writeFile(join(cwd, 'set/data/products.csv'), 'my own rows');
    const again = await promptpress(['init', 'set', '--template', 'captions'], { cwd });
    expect(again.out).toMatch(/^is there {2}set\/pipeline\.yaml\nkept {5}set\/data\/products\.csv\n/);
    expect(await read('set/data/products.csv')).toBe('my own rows');
  });

  it('refuses a link in the place of its tables', async () => {
    await mkdir(join(cwd, 'elsewhere'));
    await symlink('elsewhere', join(cwd, 'data'));
    const { code, err } = await promptpress(['init', '--template', 'table'], { cwd });
    expect(code).toBe(2);
    expect(err).toContain('data');
    expect(await readdir(join(cwd, 'elsewhere'))).toEqual([]);
  });

  it('names the known templates', async () => {
    const { code, err } = await promptpress(['init', '--template', 'cats'], { cwd });
    expect([code, err]).toEqual([
      2,
      'promptpress: --template takes one of foxes, judge, captions, table, not "cats".\n  For example: promptpress init --template foxes\n',
    ]);
  });
});
