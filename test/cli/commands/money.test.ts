import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../../../src/cli/program.ts';
import { parseExposition, valueOf } from '../../rig/exposition.ts';
import { type FakeService, startFakeService } from '../../rig/fake-service.ts';
import { readManifest } from '../../rig/manifest.ts';
import { readReport } from '../../rig/report.ts';
import { promptpress, type Said, testIo } from '../test-io.ts';

const pipeline = (prompt: string, more = ''): string => `name: foxes
limits: { tasks: 4, requests: 4 }
retry: { attempts: 1, base: 5ms, cap: 10ms, resubmits: 0, patience: 1s }
poll: { min: 5ms, max: 10ms }
prices: { imagine: 1, click: 0.5, generate: 0.25 }
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "${prompt} {{ animal }}"${more} }
`;

let cwd: string;
let service: FakeService;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  service = await startFakeService({ apiKey: 'sk-1' });
});
afterEach(async () => {
  await service.close();
  await rm(cwd, { recursive: true, force: true });
});

const env = () => ({ PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: 'sk-1' });
const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd, env: env() });
const save = (text: string): Promise<void> => writeFile(join(cwd, 'foxes.yaml'), text);
const run = (...flags: readonly string[]): Promise<Said> => pp('run', 'foxes.yaml', '--json', ...flags);

interface Sums {
  readonly cost?: number;
  readonly possibleCost?: number;
  readonly assumedTokens?: number;
}
const sums = ({ cost, possibleCost }: Sums): readonly unknown[] => [cost, possibleCost];
/** What the JSON of one command or another has of sums. */
interface Read extends Sums {
  readonly runCost?: number;
  readonly submits: number;
  readonly runs: readonly Sums[];
  readonly state?: Sums;
  readonly atMost: number;
  readonly total: { readonly cost: number; readonly later: { readonly cost: number } };
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}
const read = ({ out }: Pick<Said, 'out'>): Read => JSON.parse(out) as Read;

/** The sums of the directory as every command says them, the metrics of the last run too. */
async function everySum(): Promise<readonly Sums[]> {
  const status = await pp('status', 'foxes.yaml', '--json');
  const [listed] = read(await pp('ls', '.', '--json')).runs;
  const plan = read(await pp('plan', 'foxes.yaml', '--json'));
  const record = JSON.parse(await readFile(join(cwd, 'runs/foxes/run.json'), 'utf8')) as Sums;
  const reported = await pp('report', 'foxes.yaml', '--to', 'page');
  expect(reported.code, reported.err).toBe(0);
  const page = readReport(join(cwd, 'page')).summary.totals as Sums;
  const metrics = parseExposition(await readFile(join(cwd, 'm.prom'), 'utf8'));
  const measured = {
    cost: valueOf(metrics, 'promptpress_cost'),
    possibleCost: valueOf(metrics, 'promptpress_possible_cost'),
  } as Sums;
  return [read(status), listed ?? {}, plan.state ?? {}, record, page, measured];
}

describe('what was spent', () => {
  it('is the same sum in all outputs, even after an edit and a lost response', async () => {
    await save(pipeline('a'));
    expect(read(await run()).cost).toBe(2);
    await save(pipeline('one'));
    service.fault('imagine', { reset: 'after' }, { times: 1 });
    const ended = await run('--metrics-file', 'm.prom');
    const summary = read(ended);
    expect([sums(summary), summary.runCost, summary.submits]).toEqual([[3, 1], 1, 2]);
    expect(ended.err).toContain('2 submissions in this run (cost 1.00)');
    expect(ended.err).toContain('This directory so far: cost 3.00, up to 1.00 more');

    for (const said of await everySum()) expect(sums(said)).toEqual(sums(summary));
    expect((await pp('status', 'foxes.yaml')).out).toContain(
      'this directory so far: cost 3.00, up to 1.00 more',
    );
    expect((await pp('plan', 'foxes.yaml')).out).toContain(
      'This directory so far: cost 3.00, up to 1.00 more',
    );
  });

  it('includes jobs in flight when a run was aborted, before and after the next run counts them', async () => {
    const text = `${pipeline('a')}  words: { generate: { model: m, prompt: "Say {{ animal }}" } }
`;
    await save(text.replace('generate: 0.25', 'generate: { input: 1000, output: 1000 }'));
    const image = service.fault('imagine', { hang: 'before' }, { times: 1 });
    const texts = service.fault('generate', { hang: 'before' }, { times: 2 });
    const first = testIo({ cwd, env: env() });
    const left = program(['run', 'foxes.yaml', '--json', '--metrics-file', 'm.prom'], first.io);
    await image.hit(1);
    await texts.hit(2);
    first.interrupt();
    first.interrupt();
    expect(await left).toBe(130);
    for (const fault of [image, texts]) fault.release();
    const { cost, possibleCost = 0, assumedTokens = 0 } = read({ out: first.out() });
    expect(assumedTokens).toBeGreaterThan(0);
    expect([cost, possibleCost]).toEqual([undefined, 1 + assumedTokens / 1000]);
    for (const said of await everySum())
      expect([said.cost ?? 0, said.possibleCost]).toEqual([0, possibleCost]);
    const { steps } = JSON.parse((await pp('status', 'foxes.yaml', '--json')).out) as {
      readonly steps: readonly Sums[];
    };
    expect(steps.map((step) => step.possibleCost)).toEqual([1, assumedTokens / 1000]);

    const next = read(await run('--metrics-file', 'm.prom'));
    expect([next.possibleCost, next.assumedTokens]).toEqual([possibleCost, assumedTokens]);
    for (const said of await everySum()) expect(sums(said)).toEqual(sums(next));
  });
});

describe('what is still to come', () => {
  it('is one sum at the top of a plan, including slots that wait for results', async () => {
    await save(`${pipeline('a')}  pick: { generate: { model: m, prompt: Which? } }
  best: { from: grid, click: "U{{ steps.pick.text }}" }
`);
    const { out } = await pp('plan', 'foxes.yaml');
    const plan = read(await pp('plan', 'foxes.yaml', '--json'));
    expect(plan.atMost).toBe(plan.total.cost + plan.total.later.cost);
    expect(plan.total.later.cost).toBeGreaterThan(0);
    expect(out).toContain(`Still to come: cost ${plan.atMost.toFixed(2)} at most`);
  });

  it('warns of upscales that pay for an existing image', async () => {
    await save(pipeline('a', ', path: U1'));
    await run();
    const rows = await readManifest(join(cwd, 'runs/foxes/manifest.csv'));
    const [grid = '', upscale = ''] = rows.map(({ job = '' }) => job);
    const warned = async (...flags: readonly string[]) =>
      read(await pp('plan', 'foxes.yaml', '--json', ...flags)).warnings.filter(
        ({ code }) => code === 'redo.same',
      );
    expect(await warned('--redo', upscale)).toEqual([
      { code: 'redo.same', message: expect.stringContaining(`--redo ${grid}`) },
    ]);
    expect([
      await warned('--redo', grid),
      await warned('--redo', grid, '--redo', upscale),
      await warned(),
    ]).toEqual([[], [], []]);
  });
});
