import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { buildGraph } from '../../src/plan/graph/build.ts';
import { optionalIn } from '../../src/plan/graph/optional.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { readManifest } from '../rig/manifest.ts';
import { planOf } from '../rig/pipeline-builder.ts';
import { useQuickSandbox } from '../rig/quick-sandbox.ts';
import { promptpress, type Said } from './test-io.ts';

useQuickSandbox();

const pipeline = `name: foxes
poll: { min: 5ms, max: 10ms }
matrix:
  animal: [fox, owl]
  file: [missing.png]
steps:
  grid:
    imagine: "{{ animal }}"
    path: Nope? → U1
  words:
    describe: { image: "{{ file }}" }
  more:
    from: words
    click: prompt 1
`;

const schema = (name: string): object =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../schemas/${name}.schema.json`), 'utf8')) as object;

function fits(name: string, text: string): Record<string, unknown> {
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema(name));
  const value = JSON.parse(text) as Record<string, unknown>;
  expect(check(value), JSON.stringify(check.errors)).toBe(true);
  return value;
}

it('a missing optional button is skipped everywhere, and is not a failure', async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const service = await startFakeService({ apiKey: 'a-key-of-16-characters' });
  const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: 'a-key-of-16-characters' };
  const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd, env });
  try {
    await writeFile(join(cwd, 'foxes.yaml'), pipeline);
    const ran = await pp('run', 'foxes.yaml', '--only', 'grid');
    expect(ran.code, ran.err).toBe(0);
    expect(ran.err).toContain('foxes: complete');

    const status = fits('status', (await pp('status', 'foxes.yaml', '--json')).out);
    expect(status).toMatchObject({
      jobs: { done: 2, failed: 0, skipped: 2 },
      slots: { done: 2, skipped: 4, failed: 0 },
      reasons: [],
      unasked: [],
    });
    const words = (await pp('status', 'foxes.yaml')).out;
    expect(words).toContain('  jobs         2 done, 2 skipped (their optional button is not there)\n');
    expect(words).toContain('  slots        2 done, 4 skipped when the last run ended\n');
    expect(words).not.toContain('Why jobs');

    const rows = await readManifest(join(cwd, 'runs/foxes/manifest.csv'));
    const { job = '' } = rows.find(({ branch, status: is }) => branch === 'Nope' && is === 'skipped') ?? {};
    const report = fits('show', (await pp('show', job, '--json')).out);
    expect(report).toMatchObject({ status: 'skipped', next: [] });
    const printed = (await pp('show', job)).out;
    expect(printed).toContain('skipped (its optional button is not there)');
    expect(printed).not.toMatch(/failed|--retry-failed/);
    const parent = String((report['inputs'] as readonly { readonly job: string }[])[0]?.job);
    expect(fits('show', (await pp('show', parent, '--json')).out)).toMatchObject({
      children: [{ status: 'skipped' }],
    });

    const plan = await pp('plan', 'foxes.yaml', '--only', 'grid', '--retry-failed');
    expect(plan.out).toContain('0 submissions: nothing is left to do');
  } finally {
    await service.close();
  }
});

it('status counts slots that failed before a request, and slots blocked by them', async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd });
  await writeFile(join(cwd, 'foxes.yaml'), pipeline);
  expect((await pp('run', 'foxes.yaml', '--sandbox', '--only', 'words', '--only', 'more')).code).toBe(1);
  const status = fits('status', (await pp('status', 'foxes.yaml', '--sandbox', '--json')).out);
  expect(status).toMatchObject({
    jobs: { failed: 0 },
    slots: { failed: 2, blocked: 2 },
    unasked: [{ code: 'input.missing', count: 2 }],
  });
  const words = (await pp('status', 'foxes.yaml', '--sandbox')).out;
  expect(words).toContain('2 failed, 2 blocked when the last run ended');
  expect(words).toMatch(/they have no job\):\n {2}2 {2}input\.missing /);

  await rm(join(cwd, 'runs/foxes.sandbox/state.db'));
  for (const command of ['status', 'manifest']) {
    const lost = await pp(command, 'foxes.yaml', '--sandbox');
    expect([lost.code, lost.err]).toEqual([74, expect.stringContaining('state.db')]);
    expect(lost.err).not.toContain('There is no run');
  }
});

it('recognises optional buttons by their place, even below wildcards', async () => {
  const { pipeline: checked } = await planOf(`
    steps:
      grid: { imagine: a, path: "U1? → U1, Zoom (x/y)?" }
      wild: { imagine: b, path: "U* → Nope?" }
      below: { from: grid/U1, click: "V1?" }`);
  const graph = buildGraph(checked.steps);
  if ('tooMany' in graph) throw new Error('too large');
  const isOptional = optionalIn(graph);
  const optional = graph.templates.filter(({ selector }) => selector?.optional === true);
  expect(optional).toHaveLength(4);
  expect(isOptional({ step: 'grid', branch: 'U1' })).toBe(true);
  expect(isOptional({ step: 'grid', branch: 'U1/U1' })).toBe(false);
  expect(isOptional({ step: 'grid', branch: 'U1/"Zoom (x/y)"' })).toBe(true);
  expect(isOptional({ step: 'wild', branch: 'U3/Nope' })).toBe(true);
  expect(isOptional({ step: 'wild', branch: 'U3' })).toBe(false);
  expect(isOptional({ step: 'below', branch: 'U1/V1' })).toBe(true);
  expect(isOptional({ step: 'other', branch: 'U1' })).toBe(false);
});

it('a branch below several wildcards is compared piece by piece', async () => {
  const { pipeline: checked } = await planOf(`
steps:
  grid:
    imagine: fox
    path: U* → Vary (Strong) → U* → V* → Nope?
`);
  const graph = buildGraph(checked.steps);
  if ('tooMany' in graph) throw new Error('too large');
  const isOptional = optionalIn(graph);
  const branch = (...parts: readonly string[]): { step: string; branch: string } => ({
    step: 'grid',
    branch: parts.join('/'),
  });
  expect(isOptional(branch('U1', 'Vary (Strong)', 'U2', 'V3', 'Nope'))).toBe(true);
  expect(isOptional(branch('U1', 'Vary (Strong)', '"a/b"', 'V3', 'Nope'))).toBe(true);
  expect(isOptional(branch('U1', 'Vary (Strong)', 'U2', 'Nope'))).toBe(false);
  expect(isOptional(branch('U1', 'Vary (Strong)', '', 'V3', 'Nope'))).toBe(false);
  expect(isOptional(branch('', 'Vary (Strong)', 'U2', 'V3', 'Nope'))).toBe(false);
  expect(isOptional(branch('U1', 'Vary (Strong)', 'U2', 'V3', 'Nope', 'U1'))).toBe(false);
  expect(isOptional(branch('U1', 'vary (strong)', 'U2', 'V3', 'Nope'))).toBe(false);
});
