import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { repository } from '../rig/documents.ts';
import type { FakeServiceOptions } from '../rig/fake-service.ts';
import { makePng } from '../rig/png.ts';
import { openPlace } from '../rig/run-place.ts';
import { quick } from './pipelines.ts';

const head = `name: killed\nservice: { id: fake }\n${quick}`;
const images = `${head}matrix: { n: { from: 1, to: 6 } }\nsteps: { grid: { imagine: "picture {{ n }}" } }\n`;
const split = `${head}matrix: { n: { from: 1, to: 6 } }\nsteps: { grid: { imagine: "picture {{ n }}", grid: split } }\n`;
const films = `${head}matrix: { n: { from: 1, to: 6 } }\nsteps: { film: { video: { image: a.png, prompt: "film {{ n }}" } } }\n`;

const removed = makePng(1, 64, 64);

interface Found {
  readonly jobs: number;
  readonly contents: number;
  readonly example: {
    readonly jobs: number;
    readonly file: string;
    readonly first: string;
    readonly second: string;
  };
}

function fits(name: string, text: string): { readonly sameFiles?: Found } {
  const schema = JSON.parse(readFileSync(join(repository, `schemas/${name}.schema.json`), 'utf8')) as object;
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  const value = JSON.parse(text) as { readonly sameFiles?: Found };
  expect(check(value), JSON.stringify(check.errors)).toBe(true);
  return value;
}

describe('different jobs that get the same bytes', () => {
  it.each<[string, string, FakeServiceOptions, number]>([
    ['images', images, { script: () => ({ image: removed }) }, 6],
    [
      'half of the images',
      images,
      { script: ({ number }) => (number % 2 === 0 ? { image: removed } : {}) },
      3,
    ],
    ['grids that are cut', split, { script: () => ({ image: removed }) }, 6],
    ['videos', films, { script: () => ({ film: 7, image: removed }) }, 6],
  ])('are warned of by run, status, verify and report: %s', async (_what, pipeline, options, jobs) => {
    await using place = await openPlace(pipeline, options);
    await writeFile(join(place.folder, 'a.png'), removed);
    const where = { cwd: place.folder, env: place.env };
    const ran = await place.run('--json');
    expect(ran.code, ran.err).toBe(0);
    const { sameFiles } = fits('run-summary', ran.out);
    expect(sameFiles).toMatchObject({ jobs, example: { jobs } });
    const rows = await place.rows();
    const { file = '', first = '', second = '' } = sameFiles?.example ?? {};
    expect(rows.find((row) => row['file_name'] === file)?.['job']).toBe(second);
    expect(rows.some((row) => row['job'] === first)).toBe(true);
    const words = new RegExp(
      `^ *warning:? +${jobs} jobs have files with the same bytes as another job's`,
      'm',
    );
    expect(ran.err).toMatch(words);

    const status = await promptpress(['status', place.directory, '--json'], where);
    expect(fits('status', status.out).sameFiles).toEqual(sameFiles);
    expect((await promptpress(['status', place.directory], where)).out).toMatch(words);
    const verified = await promptpress(['verify', place.directory], where);
    expect([verified.code, verified.out]).toEqual([0, expect.stringMatching(words)]);
    const listed = await promptpress(['verify', place.directory, '--json'], where);
    expect(JSON.parse(listed.out)).toMatchObject({ kind: 'same', jobs });
    await promptpress(['report', place.directory], where);
    const summary = readFileSync(join(place.directory, 'report/data/summary.js'), 'utf8');
    expect(summary).toContain(`${jobs} jobs have files with the same bytes`);

    // A finished set says it again.
    const again = await place.run('--json');
    expect(fits('run-summary', again.out).sameFiles).toEqual(sameFiles);
  });

  it.each<[string, string]>([
    [
      'one job shown in several rows',
      `${head}matrix: { n: { from: 1, to: 6 } }\nsteps: { grid: { imagine: a picture } }\n`,
    ],
    ['a job whose outputs are equal', `${head}steps: { grid: { imagine: a picture, path: U1 } }\n`],
    [
      'texts that are equal',
      `${head}matrix: { n: { from: 1, to: 6 } }\nsteps: { say: { chat: { model: m, prompt: "say {{ n }}" } } }\n`,
    ],
  ])('are not meant by %s', async (_what, pipeline) => {
    await using place = await openPlace(pipeline);
    const ran = await place.run('--json');
    expect(ran.code, ran.err).toBe(0);
    expect(fits('run-summary', ran.out).sameFiles).toBeUndefined();
    const key = (await place.rows())[0]?.['job'] ?? '';
    const redone = await place.run('--json', '--redo', key);
    expect(fits('run-summary', redone.out).sameFiles).toBeUndefined();
  });
});
