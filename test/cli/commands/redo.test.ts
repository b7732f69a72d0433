import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeService, startFakeService } from '../../rig/fake-service.ts';
import { readManifest } from '../../rig/manifest.ts';
import { promptpress, type Said } from '../test-io.ts';

const animals = ['fox', 'owl', 'elk'];
const pipeline = `name: foxes
limits: { tasks: 1, requests: 4 }
retry: { attempts: 2, base: 5ms, cap: 10ms, resubmits: 0, patience: 1s }
poll: { min: 5ms, max: 10ms }
matrix: { animal: [${animals.join(', ')}] }
steps: { grid: { imagine: "{{ animal }}" } }
`;

let cwd: string;
let service: FakeService;
let keys: readonly string[];
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  service = await startFakeService({ apiKey: 'sk-1' });
  await writeFile(join(cwd, 'foxes.yaml'), pipeline);
  await run();
  keys = (await readManifest(join(cwd, 'runs/foxes/manifest.csv'))).map(({ job = '' }) => job);
  await writeFile(join(cwd, 'jobs.txt'), `${keys.join('\n')}\n`);
});
afterEach(async () => {
  await service.close();
  await rm(cwd, { recursive: true, force: true });
});

const pp = (...args: readonly string[]): Promise<Said> =>
  promptpress(args, { cwd, env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: 'sk-1' } });
const run = (...flags: readonly string[]): Promise<Said> => pp('run', 'foxes.yaml', '--json', ...flags);

interface Redo {
  readonly waiting: number;
  readonly begun: number;
  readonly made: number;
  readonly closed?: number;
}
const read = ({
  out,
}: Said): { submits: number; redo?: Redo; total: { submits: number }; warnings: unknown[] } =>
  JSON.parse(out) as never;

/** How often each picture was submitted since it was first made. */
const paidAnew = (): readonly number[] =>
  animals.map(
    (animal) => service.requests.filter(({ body }) => JSON.stringify(body ?? '').includes(animal)).length - 1,
  );

async function fits(schema: string, { out }: Said): Promise<void> {
  const file = join(import.meta.dirname, `../../../schemas/${schema}.schema.json`);
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(await readFile(file, 'utf8')) as object,
  );
  expect(check(JSON.parse(out)), JSON.stringify(check.errors)).toBe(true);
}

describe('run --redo-jobs', () => {
  it('makes each job anew once over runs of two submissions, and says when all are done', async () => {
    const night = ['--redo-jobs', 'jobs.txt', '--max-submits', '2'];
    const first = await run(...night);
    expect([read(first).submits, read(first).redo]).toEqual([
      2,
      { waiting: 1, begun: 0, made: 2, closed: 0 },
    ]);
    expect(first.err).toContain('1 job left to be made anew (--redo) by the next run');
    await fits('run-summary', first);
    const second = await run(...night);
    expect([read(second).submits, read(second).redo]).toEqual([
      1,
      { waiting: 0, begun: 0, made: 0, closed: 3 },
    ]);
    expect(second.err).toContain('the order to make 3 jobs anew (--redo) is closed');
    const third = await run(...night, '--no-progress');
    expect([third.code, read(third).submits, read(third).redo]).toEqual([0, 0, undefined]);
    expect(third.err).toContain('all 3 jobs were made anew already and stay so; --redo-again');
    expect(paidAnew()).toEqual([1, 1, 1]);
  });

  it('is continued by a plain run, which plan and status announce', async () => {
    await run('--redo-jobs', 'jobs.txt', '--max-submits', '1');
    const left = { waiting: 2, begun: 0, made: 1 };
    const status = await pp('status', 'foxes.yaml', '--json');
    const plan = await pp('plan', 'foxes.yaml', '--json');
    expect([read(status).redo, read(plan).redo, read(plan).total.submits]).toEqual([left, left, 2]);
    await fits('status', status);
    await fits('plan', plan);
    expect((await pp('status', 'foxes.yaml')).out).toContain('redo         1 of 3 jobs made anew');
    expect((await pp('plan', 'foxes.yaml')).out).toContain('To be made anew (--redo): 2 to begin, 1 made');
    // Twice, so that nothing recognises a finished run between.
    await run('--max-submits', '0');
    expect([read(await run()).submits, paidAnew()]).toEqual([2, [1, 1, 1]]);
    expect([read(await run()).submits, read(await pp('plan', 'foxes.yaml', '--json')).redo]).toEqual([
      0,
      undefined,
    ]);
  });

  it('makes jobs a second time with --redo-again, and with --redo', async () => {
    await run('--redo-jobs', 'jobs.txt');
    const planned = await pp('plan', 'foxes.yaml', '--json', '--redo-jobs', 'jobs.txt');
    expect([read(planned).total.submits, read(planned).warnings]).toEqual([
      0,
      [{ code: 'redo.made', message: expect.stringContaining('All 3 jobs were made anew already') }],
    ]);
    await fits('plan', planned);
    const again = ['--redo-jobs', 'jobs.txt', '--redo-again'];
    expect(read(await pp('plan', 'foxes.yaml', '--json', ...again)).total.submits).toBe(3);
    expect(read(await run(...again)).submits).toBe(3);
    // Each row is of what was made last.
    const listed = await readFile(join(cwd, 'runs/foxes/manifest.csv'), 'utf8');
    await rm(join(cwd, 'runs/foxes/manifest.csv'));
    expect((await pp('manifest', 'runs/foxes')).code).toBe(0);
    expect(listed).toBe(await readFile(join(cwd, 'runs/foxes/manifest.csv'), 'utf8'));
    const fox = keys[0] ?? '';
    expect([read(await run('--redo', fox)).submits, read(await run('--redo', fox)).submits]).toEqual([1, 1]);
    expect(paidAnew()).toEqual([4, 2, 2]);
  });

  it('drops the remaining jobs with --redo-cancel', async () => {
    await run('--redo-jobs', 'jobs.txt', '--max-submits', '1');
    expect(read(await pp('plan', 'foxes.yaml', '--json', '--redo-cancel')).redo).toBeUndefined();
    const dropped = await run('--redo-cancel');
    expect([dropped.code, read(dropped).submits, read(dropped).redo]).toEqual([0, 0, undefined]);
    expect(dropped.err).toContain('Redo: the order is dropped; 2 jobs of it are not made anew.');
    expect((await run('--redo-cancel')).err).toContain('Redo: there is no order to drop.');
    expect(read(await run('--redo-jobs', 'jobs.txt')).submits).toBe(2);
  });

  it('adds another set of jobs to the remaining ones', async () => {
    await writeFile(join(cwd, 'two.txt'), `${keys.slice(0, 2).join('\n')}\n`);
    await run('--redo-jobs', 'two.txt', '--max-submits', '0');
    const both = await run('--redo', keys[2] ?? '', '--max-submits', '0');
    expect(read(both).redo).toMatchObject({ waiting: 3 });
    expect([read(await run()).submits, paidAnew()]).toEqual([3, [1, 1, 1]]);
  });

  it.each([
    [['--redo-again'], '--redo-again goes with --redo-jobs'],
    [['--redo-cancel', '--redo-jobs', 'jobs.txt'], '--redo-cancel drops the jobs'],
  ])('refuses %s', async (flags, words) => {
    for (const command of ['run', 'plan']) {
      const { code, err } = await pp(command, 'foxes.yaml', ...flags);
      expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    }
    expect(paidAnew()).toEqual([0, 0, 0]);
  });

  it('refuses an unknown job before a run begins', async () => {
    await writeFile(join(cwd, 'other.txt'), `${'0'.repeat(32)}\n`);
    const state = async (): Promise<unknown> => JSON.parse((await pp('status', 'foxes.yaml', '--json')).out);
    const before = await state();
    expect((await run('--redo-jobs', 'other.txt')).code).toBe(2);
    expect(await state()).toEqual(before);
  });
});
