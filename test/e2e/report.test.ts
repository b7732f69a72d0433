import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { seededRun, seedState } from '../bench/seed-state.ts';
import { cli, startCli, temporaryFolder } from '../rig/cli.ts';
import { readReport } from '../rig/report.ts';

const images = 600;

const filesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  } catch {
    // It is not there yet, or a folder in it is being renamed.
    return [];
  }
};

it('a report that is killed while it makes thumbnails goes on with those, and leaves nothing beside the next', async () => {
  await using folder = await temporaryFolder();
  await seedState(folder.path, { jobs: images, kind: 'image', images: true });
  const { directory } = seededRun(folder.path);
  const report = join(directory, 'report');
  const thumbnails = (): number =>
    filesIn(join(report, 'thumbnails')).filter((name) => name.endsWith('.webp')).length;

  const killed = startCli(['report', directory], { cwd: folder.path });
  while (thumbnails() < 20 && killed.child.exitCode === null) await new Promise(setImmediate);
  killed.child.kill('SIGKILL');
  expect((await killed.done).signal).toBe('SIGKILL');
  const made = thumbnails();
  expect(made).toBeLessThan(images);
  expect(readdirSync(report)).not.toContain('index.html');

  const { code, stdout, stderr } = await cli(['report', directory], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(`${images} results, ${images} thumbnails`);
  expect(readReport(report).results.filter(({ thumbnail }) => thumbnail !== undefined)).toHaveLength(images);
  expect(filesIn(report).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect(readdirSync(report).toSorted()).toEqual([
    'data',
    'icon.svg',
    'index.html',
    'page.css',
    'page.js',
    'thumbnails',
  ]);
}, 60_000);
