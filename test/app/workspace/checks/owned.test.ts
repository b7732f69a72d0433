import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/state/sqlite/sqlite.ts';
import type { Said } from '../../../cli/test-io.ts';
import { canary, everythingIn, pp, service, usePlace, work } from './directory-rig.ts';

usePlace();

describe('--out', () => {
  const own = (...names: readonly string[]): void => {
    for (const name of names) {
      mkdirSync(dirname(work(join('out', name))), { recursive: true });
      writeFileSync(work(join('out', name)), canary);
    }
  };

  it.each([
    ['manifest.csv'],
    ['run.json'],
    [`inputs/${'a'.repeat(64)}`],
    ['images/.incoming/x.part'],
    ['run.json.0a1b2c3d.part'],
    ['notes.txt'],
    ['lock.txt', 'run.log'],
    ['run.log'],
    ['lock', 'run.log'],
  ])(
    'into a folder that holds %s of somebody else is refused, and nothing there is touched',
    async (...names) => {
      own(...names);
      const before = everythingIn(work('out'));
      const { code, err } = await pp('run', 'foxes.yaml', '--out', 'out');
      expect(code).toBe(2);
      expect(err).toContain('is not a run directory');
      expect(everythingIn(work('out'))).toEqual(before);
      expect(service.requests).toEqual([]);
    },
  );

  it('refuses the folder of the pipeline itself', async () => {
    const before = everythingIn(work());
    expect((await pp('run', 'foxes.yaml', '--out', '.')).code).toBe(2);
    expect(everythingIn(work())).toEqual(before);
  });

  it('refuses a folder with the database of another program, and changes nothing there', async () => {
    mkdirSync(work('out'));
    const database = openDatabase(work('out/state.db'));
    database.exec('CREATE TABLE places (name)');
    database.close();
    const before = everythingIn(work('out'));
    expect((await pp('run', 'foxes.yaml', '--out', 'out')).code).toBe(2);
    expect(everythingIn(work('out'))).toEqual(before);
  });

  it('accepts an empty folder, and the files that an earlier run left', async () => {
    mkdirSync(work('out'));
    writeFileSync(work('out/.gitkeep'), '');
    const run = (): Promise<Said> => pp('run', 'foxes.yaml', '--out', 'out');
    expect((await run()).code).toBe(0);
    expect((await run()).code).toBe(0);

    // The state was removed on purpose, with and without what else was left of the run.
    rmSync(work('out/state.db'));
    expect((await pp('run', 'foxes.yaml', '--out', 'out', '--accept-older-state')).code).toBe(0);
    for (const name of ['state.db', 'submissions', 'run.json', 'manifest.csv'])
      rmSync(work(join('out', name)));
    expect((await run()).code).toBe(0);

    // Only a committed manifest is left, beside a page about the data.
    const manifest = readFileSync(work('out/manifest.csv'));
    rmSync(work('out'), { recursive: true });
    mkdirSync(work('out'));
    writeFileSync(work('out/manifest.csv'), manifest);
    writeFileSync(work('out/README.md'), '# Foxes');
    expect((await run()).code).toBe(0);

    // A run that was refused left its lock and its log.
    rmSync(work('out'), { recursive: true });
    mkdirSync(work('out'));
    for (const name of ['lock', 'run.log']) writeFileSync(work(join('out', name)), '');
    expect((await run()).code).toBe(0);
  });
});
