import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { version } from '../../../../src/app/version.ts';
import { program } from '../../../../src/cli/program.ts';
import { seedState } from '../../../bench/seed-state.ts';
import { readReport } from '../../../rig/report.ts';
import { promptpress, testIo } from '../../test-io.ts';

const run = 'runs/seeded';
let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await seedState(cwd, { jobs: 8, prompts: 2 });
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const report = (...args: readonly string[]) => promptpress(['report', ...args], { cwd, now: () => 5_000 });

describe('promptpress report', () => {
  it('writes report/ into the run directory, and says where the page is and what has no thumbnail', async () => {
    expect(await report(run)).toEqual({
      code: 0,
      out: `${run}/report/index.html: 8 results, 0 thumbnails\n`,
      err: 'Images without a thumbnail: 4 no file.\n',
    });
    const { summary, results } = readReport(join(cwd, run, 'report'));
    expect(summary).toMatchObject({
      name: 'seeded',
      madeBy: `promptpress ${version}`,
      at: 5_000,
      live: false,
    });
    expect(results.map(({ step }) => step)).toEqual([1, 2, 3, 4].flatMap(() => ['grid', 'caption']));
    const page = await readFile(join(cwd, run, 'report/index.html'), 'utf8');
    expect(page).toContain('<script src="data/summary.js"></script>');
  });

  it('accepts the pipeline in place of the directory, and makes no thumbnails', async () => {
    expect(await report('pipeline.yaml', '--thumbnails', 'none')).toEqual({
      code: 0,
      out: `${run}/report/index.html: 8 results\n`,
      err: '',
    });
    expect(await readdir(join(cwd, run, 'report'))).not.toContain('thumbnails');
  });

  it('writes into another folder, and says that the images stay', async () => {
    const { code, out, err } = await report(run, '--to', 'there', '--thumbnails', 'none');
    expect([code, out]).toEqual([0, 'there/index.html: 8 results\n']);
    expect(err).toBe(`The images stay in ${run}: if you move the report, move that folder too.\n`);
    expect(readReport(join(cwd, 'there')).summary.files?.runDirectory).toBe(`../${run}/`);
    expect(existsSync(join(cwd, run, 'report'))).toBe(false);
  });

  it.each([[run], [`${run}/images`], [`${run}/report/more`]])('refuses --to %s', async (to) => {
    const { code, err } = await report(run, '--to', to);
    expect(code).toBe(2);
    expect(err).toContain(`--to ${to} lies among the files of the run.`);
    expect(err).toContain(`Write: promptpress report ${run}\n`);
  });

  it('refuses a folder with other files, and a link in the place of report/', async () => {
    await mkdir(join(cwd, 'site'));
    await writeFile(join(cwd, 'site', 'index.html'), 'mine');
    const other = await report(run, '--to', 'site');
    expect(other.code).toBe(2);
    expect(other.err).toContain('holds something other than a report: index.html');
    await symlink(join(cwd, 'site'), join(cwd, run, 'report'));
    const linked = await report(run);
    expect([linked.code, linked.err]).toEqual([2, expect.stringContaining('report is a link')]);
    expect(await readdir(join(cwd, 'site'))).toEqual(['index.html']);
  });

  it('ends with the code of the signal that stopped it, and leaves no data', async () => {
    const test = testIo({ cwd });
    test.interrupt('SIGTERM');
    expect(await program(['report', run], test.io)).toBe(143);
    expect(test.err()).toContain('Stopped.');
    expect(existsSync(join(cwd, run, 'report', 'data'))).toBe(false);
  });

  it('refuses a file in the place of a folder, and a folder in the place of a file', async () => {
    await writeFile(join(cwd, 'file'), '');
    const { code, err } = await report(run, '--to', 'file/report');
    expect([code, err]).toEqual([2, expect.stringContaining('is a file, not a folder')]);
    await mkdir(join(cwd, run, 'report'));
    await mkdir(join(cwd, run, 'report', 'page.js'));
    expect((await report(run)).code).toBe(2);
  });

  it('refuses a folder without a run', async () => {
    await mkdir(join(cwd, 'empty'));
    expect((await report('empty')).code).toBe(2);
  });
});
