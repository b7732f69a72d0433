import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { neutralNames } from '../../../src/sandbox/names.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { type ManifestRow, readManifest } from '../../rig/manifest.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { promptpress, type Said } from '../test-io.ts';

useQuickSandbox();

const apiKey = 'key-of-the-test-0123456789';
let sandbox: Sandbox;
let root: string;
let cwd: string;
let made = 0;
beforeAll(async () => {
  sandbox = await startSandbox({ apiKey, names: neutralNames, settings: { pace: 0, pixels: 64 } });
  root = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
beforeEach(async () => {
  cwd = join(root, String(++made));
  await mkdir(cwd);
});
afterAll(async () => {
  await sandbox.close();
  await rm(root, { recursive: true, force: true });
});

const head = `poll: { min: 5ms, max: 20ms }
prices: { imagine: 0.5, "U*": 0.25, text-pro: { input: 1, output: 1 } }
`;
const grid = `  grid: { imagine: "a fox --seed {{ seed }}", path: U1, grid: split }\n`;
const caption = `  caption: { from: grid/U1, generate: { model: text-pro, prompt: "Caption {{ seed }}.", images: [parent] } }\n`;
const foxes = (cells: number, name = 'foxes', steps = `${grid}${caption}`): string =>
  `name: ${name}\nmatrix: { seed: { from: 1, to: ${cells} } }\n${head}steps:\n${steps}`;

const say = (...args: readonly string[]): Promise<Said> =>
  promptpress(args, {
    cwd,
    env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: apiKey },
  });

interface Ran {
  readonly said: Said;
  readonly submits: number;
  readonly cost: number | undefined;
}

async function run(file: string, out: string, ...flags: readonly string[]): Promise<Ran> {
  const said = await say('run', file, '--out', out, '--no-progress', '--json', ...flags);
  expect(said.code, said.err).toBe(0);
  return { said, ...(JSON.parse(said.out) as Omit<Ran, 'said'>) };
}

const rowsOf = async (directory: string): Promise<readonly ManifestRow[]> =>
  await readManifest(join(cwd, directory, 'manifest.csv'));

/** Columns that say what a job took, and where it was paid. */
const ofPayment = ['attempts', 'cost', 'reused_from'];

const results = (rows: readonly ManifestRow[]): unknown =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).filter(([name]) => !ofPayment.includes(name) && !name.endsWith('_tokens')),
    ),
  );

describe('run --reuse', () => {
  it('takes over all jobs of a renamed pipeline, and sends nothing', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), foxes(3));
    await run('foxes.yaml', 'runs/foxes');
    await writeFile(join(cwd, 'renamed.yaml'), foxes(3, 'renamed'));
    const planned = JSON.parse(
      (await say('plan', 'renamed.yaml', '--out', 'other/renamed', '--reuse', 'runs/foxes', '--json')).out,
    );
    expect(planned).toMatchObject({ total: { submits: 0, done: 9 }, reuse: { jobs: 9, unpriced: 0 } });

    const { submits, said } = await run('renamed.yaml', 'other/renamed', '--reuse', 'runs/foxes');
    expect(said.err).toContain('Taken over from runs/foxes: 9 jobs with 18 files');
    expect(submits).toBe(0);
    const [first, second] = [await rowsOf('runs/foxes'), await rowsOf('other/renamed')];
    expect(results(second)).toEqual(results(first));
    for (const row of second)
      expect(row).toMatchObject({
        reused_from: '../../runs/foxes',
        cost: '',
        total_tokens: '',
        attempts: '0',
      });
    const checked = await say('verify', 'other/renamed');
    expect([checked.code, checked.out]).toEqual([0, expect.not.stringContaining('no job names')]);
    expect((await run('renamed.yaml', 'other/renamed')).submits).toBe(0);
  });
});
