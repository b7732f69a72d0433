import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { promptpress } from '../cli/test-io.ts';
import { hasPostgres, testDatabase } from '../rig/postgres.ts';
import { quick } from './pipelines.ts';

type Row = Readonly<Record<string, string>>;

let cwd: string;
let sandbox: Sandbox;
const pp = (...args: readonly string[]) =>
  promptpress(args, {
    cwd,
    env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: 'sk-outputs' },
  });
const rowsOf = async (file: string): Promise<readonly Row[]> =>
  parse(await readFile(join(cwd, file), 'utf8'), { columns: true });

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  sandbox = await startSandbox({
    apiKey: 'sk-outputs',
    settings: { pace: 0, pixels: 64, textLatency: 0, tokenLatency: 0 },
  });
  const example = await readFile('pipelines/frames.yaml', 'utf8');
  await writeFile(join(cwd, 'frames.yaml'), example.replace(/^poll:.*$/m, 'poll: { min: 5ms, max: 20ms }'));
});
afterAll(async () => {
  await sandbox.close();
  await rm(cwd, { recursive: true, force: true });
});

describe('the example frames.yaml', () => {
  it('captions each frame, once', async () => {
    const ran = await pp('run', 'frames.yaml', '--out', 'run');
    expect(ran.code).toBe(0);
    const rows = await rowsOf('run/manifest.csv');
    const captions = rows.filter(({ step }) => step === 'caption');
    expect(captions.map(({ branch }) => branch)).toEqual(
      [1, 2, 3, 4].flatMap(() => ['#1', '#2', '#3', '#4']),
    );
    expect(new Set(captions.map(({ job }) => job)).size).toBe(16);
    expect(captions.every(({ text }) => text !== '')).toBe(true);
    const again = await pp('plan', 'frames.yaml', '--out', 'run', '--json');
    const { total } = JSON.parse(again.out) as { total: Readonly<Record<string, number>> };
    expect([total['slots'], total['submits'], total['done'], total['waiting']]).toEqual([20, 0, 20, 0]);
  });

  it('is exported as images with their captions', async () => {
    const images = ['--format', 'imagefolder', '--step', 'grid', '--no-grids'];
    const { code } = await pp('export', 'run', ...images, '--caption', 'caption', '--to', 'data');
    expect(code).toBe(0);
    const rows = await rowsOf('run/manifest.csv');
    const said = (grid: string | undefined, output: number): string | undefined => {
      const at = rows.findIndex(({ job }) => job === grid);
      const cell = rows[at]?.['cell'];
      return rows.find((row) => row['cell'] === cell && row['branch'] === `#${output - 1}`)?.['text'];
    };
    const data = await rowsOf('data/metadata.csv');
    expect(data.map(({ output }) => output)).toEqual([1, 2, 3, 4].flatMap(() => ['2', '3', '4', '5']));
    for (const { job, output, text } of data) expect(text).toBe(said(job, Number(output)));
    expect(new Set(data.map(({ text }) => text)).size).toBeGreaterThan(4);
  });
});

const chosen = `
name: chosen
service: { id: outputs }
${quick}matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "{{ animal }} in a wood", grid: split, keep: false }
  judge:
    from: grid
    generate: { model: text-pro, prompt: Which?, images: [parent], responseSchema: { type: object, properties: { best: { type: integer, minimum: 1, maximum: 4 } }, required: [best] } }
  best: { from: "grid/#{{ steps.judge.json.best }}", click: U }
  caption: { from: "grid/#{{ steps.judge.json.best }}", generate: { model: text-pro, prompt: "Caption frame {{ frame }}.", images: [parent] } }
  mix: { gather: grid/#*, blend: { dimensions: square } }
  film: { from: grid/#2, video: { image: parent, motion: low, prompt: it runs } }
  words: { from: grid/#3, describe: { image: parent } }
  night: { from: grid/#4, edit: { image: parent, prompt: at night, mask: { shapes: [{ rectangle: [0, 0, 1, 0.5] }] } } }
`;

/** Every row of the results, without what the service gives. */
const asMade = (rows: readonly Row[]): readonly string[] =>
  rows.map((row) =>
    ['cell', 'step', 'branch', 'job', 'status', 'output', 'button'].map((column) => row[column]).join(' '),
  );

describe('outputs as branches', () => {
  it.skipIf(!hasPostgres)('have the same jobs in an engine', async () => {
    await writeFile(join(cwd, 'chosen.yaml'), chosen);
    const one = await pp('run', 'chosen.yaml', '--out', 'one');
    expect(one.err).not.toContain('failed');
    expect(one.code).toBe(0);
    const rows = await rowsOf('one/manifest.csv');
    expect(rows.filter(({ status }) => status !== 'done')).toEqual([]);
    const best = rows.filter(({ step }) => step === 'best');
    expect(best.map(({ branch, button }) => branch === `#${button?.slice(1)}/U`)).toEqual([true, true]);
    await using database = await testDatabase();
    const engine = ['--engine', database.url, '--queue', 'lease'];
    const more = await pp('run', 'chosen.yaml', ...engine, '--out', 'many');
    expect(more.code).toBe(0);
    expect(asMade(await rowsOf('many/manifest.csv'))).toEqual(asMade(rows));
  });
});
