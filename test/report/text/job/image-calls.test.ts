import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import type { JobRecord } from '../../../../src/plan/job.ts';
import type { JobRequest } from '../../../../src/plan/job-request.ts';
import { openState } from '../../../../src/state/state.ts';
import { promptpress } from '../../../cli/test-io.ts';
import { temporaryFolder } from '../../../rig/cli.ts';
import { imagineRecord } from '../../../rig/jobs.ts';

const hash = (digit: string): string => digit.repeat(64);
const [blend, bare, upscale, dropped] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(32)) as [
  string,
  string,
  string,
  string,
];

const asks = (key: string, request: JobRequest, more: Partial<JobRecord> = {}): JobRecord =>
  imagineRecord({ key, kind: request.kind, request, status: 'done', ...more });
const made = (output: number, file: string, mime: string) => ({ output, file, bytes: 9, sha256: 'x', mime });

const records = [
  asks(
    upscale,
    {
      kind: 'click',
      press: [{ kind: 'text', text: 'U1' }],
      fields: {},
      mask: { sha256: hash('3'), invert: true },
    },
    {
      origin: { cell: 2, step: 'grid', branch: 'U1', slot: 's1' },
      files: { [hash('3')]: 'masks/neck.png' },
      artifacts: [made(1, 'images/cc/c-1.png', 'image/png'), made(2, 'text/cc/c-2.txt', 'text/plain')],
    },
  ),
  asks(
    dropped,
    { kind: 'imagine', fields: {} },
    { origin: { cell: 2, step: 'note', branch: '', slot: 's2' } },
  ),
  asks(
    blend,
    {
      kind: 'edit',
      fields: {},
      images: [
        { sha256: hash('1') },
        { sha256: hash('2') },
        { url: 'https://images.example/fox.png' },
        { url: 'data:image/png;base64,AAAA,BBBB' },
        { job: upscale },
        { job: dropped },
        { job: 'e'.repeat(32) },
      ],
      mask: { shapes: [{ rectangle: [0, 0, 0.5, 1] }, { ellipse: [0.5, 0, 0.5, 1] }] },
    },
    { files: { [hash('1')]: 'shots/fox\u001b[31m.png' } },
  ),
  asks(bare, { kind: 'imagine', fields: { prompt: 'a fox' } }),
];

async function shown(key: string): Promise<{ readonly report: object; readonly words: string }> {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const state = openState(cwd);
  state.commit({ records, attempts: [] });
  state.close();
  const { out } = await promptpress(['show', key, '.', '--json'], { cwd });
  const report = JSON.parse(out) as object;
  const file = join(import.meta.dirname, '../../../../schemas/show.schema.json');
  const schema = JSON.parse(await readFile(file, 'utf8')) as object;
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  expect(check(report), JSON.stringify(check.errors)).toBe(true);
  return { report, words: (await promptpress(['show', key, '.'], { cwd })).out };
}

it('lists the images of a request by their files, in order', async () => {
  const { report, words } = await shown(blend);
  expect(report).toMatchObject({
    shows: [
      { kind: 'file', path: 'shots/fox\u001b[31m.png', sha256: hash('1') },
      { kind: 'file', sha256: hash('2') },
      { kind: 'address', url: 'https://images.example/fox.png' },
      { kind: 'address', url: 'data:image/png;base64,…' },
      { kind: 'job', job: upscale, cell: 2, step: 'grid', branch: 'U1', files: ['images/cc/c-1.png'] },
      { kind: 'job', job: dropped, step: 'note', files: [] },
      { kind: 'job', job: 'e'.repeat(32), files: [] },
    ],
    mask: { kind: 'shapes', invert: false },
  });
  const lines = words.split('\n').map((line) => line.trim().replace(/^(?:shows|mask) +/, ''));
  for (const line of [
    'shots/fox.png (sha256 111111111111…)',
    'a file (sha256 222222222222…)',
    'https://images.example/fox.png',
    'data:image/png;base64,…',
    'cell 2, grid/U1: images/cc/c-1.png',
    'cell 2, note: no file was kept',
    `${'e'.repeat(32)}, which is not on record`,
    '2 shapes: rectangle 0, 0, 0.5, 1; ellipse 0.5, 0, 0.5, 1',
  ])
    expect(lines).toContain(line);
  expect(words).not.toContain('AAAA');
});

it('names the file of a mask, and says whether it is inverted', async () => {
  const { report, words } = await shown(upscale);
  expect(report).toMatchObject({
    shows: [],
    mask: { kind: 'file', path: 'masks/neck.png', sha256: hash('3'), invert: true },
  });
  expect(words).toMatch(/^ {2}mask +masks\/neck\.png \(sha256 333333333333…\), inverted$/m);
});

it('has no rows for a request without images', async () => {
  const { report, words } = await shown(bare);
  expect(report).toMatchObject({ shows: [] });
  expect(report).not.toHaveProperty('mask');
  expect(words).not.toMatch(/^ {2}(?:shows|mask) /m);
});
