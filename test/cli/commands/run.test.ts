import { access, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../../../src/cli/program.ts';
import { type FakeService, startFakeService } from '../../rig/fake-service.ts';
import { byStatus, readManifest } from '../../rig/manifest.ts';
import { makePng } from '../../rig/png.ts';
import { promptpress, type Said, testIo } from '../test-io.ts';

const pipeline = `name: foxes
limits: { tasks: 8, requests: 8 }
retry: { attempts: 2, base: 5ms, cap: 10ms, resubmits: 0, patience: 2s }
poll: { min: 5ms, max: 10ms }
matrix:
  rows: rows.csv
steps:
  grid:
    imagine: "{{ animal }}"
    path: U1
`;

let cwd: string;
let service: FakeService;
const key = 'sk-very-secret-0815';
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  service = await startFakeService({ apiKey: key });
  await writeFile(join(cwd, 'foxes.yaml'), pipeline);
  await writeFile(join(cwd, 'rows.csv'), 'animal\nfox\nowl\nhare\n');
});
afterEach(async () => {
  await service.close();
  await rm(cwd, { recursive: true, force: true });
});

const env = (): Record<string, string> => ({ PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: key });
const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd, env: env() });
const manifestFile = (): string => join(cwd, 'runs/foxes/manifest.csv');

async function fits(schema: string, text: string): Promise<void> {
  const file = join(import.meta.dirname, `../../../schemas/${schema}.schema.json`);
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(await readFile(file, 'utf8')) as object,
  );
  expect(check(JSON.parse(text)), JSON.stringify(check.errors)).toBe(true);
}

/** Every file of the run directory that is not an image, as text. */
async function everythingWritten(): Promise<string> {
  const names = await readdir(join(cwd, 'runs'), { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !entry.name.endsWith('.png'));
  const texts = await Promise.all(
    files.map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')),
  );
  return texts.join('\n');
}

describe('promptpress run', () => {
  it('ends with the places of all results; its JSON output fits the schema', async () => {
    const { code, out, err } = await pp('run', 'foxes.yaml', '--json');
    expect(code, err).toBe(0);
    expect(err).toContain('runs/foxes/images');
    expect(err).toContain('runs/foxes/manifest.csv');
    await fits('run-summary', out);
    expect(JSON.parse(out)).toMatchObject({ exitCode: 0, submits: 6, rows: 6, files: 6, slots: { done: 6 } });
    const record = JSON.parse(await readFile(join(cwd, 'runs/foxes/run.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(record).toMatchObject({
      pipeline: { name: 'foxes', file: 'foxes.yaml' },
      tables: [{ file: 'rows.csv', bytes: 20 }],
      service: { id: service.url, origin: service.url },
      end: { kind: 'complete' },
      exitCode: 0,
      submits: 6,
    });
    const status = await pp('status', 'foxes.yaml', '--json');
    await fits('status', status.out);
    expect(JSON.parse(status.out)).toMatchObject({
      running: false,
      jobs: { done: 6 },
      submits: 6,
      exitCode: 0,
    });
  });

  it('never shows the key: not on the screen, not in any file, not when the service repeats it', async () => {
    service.fault(
      'imagine',
      { status: 400, body: { error: { message: `no such key: ${key}` } } },
      { times: 1 },
    );
    const { code, out, err } = await pp('run', 'foxes.yaml', '--json', '--log-level', 'trace');
    expect(code).toBe(1);
    expect(out + err).not.toContain(key);
    expect(await everythingWritten()).not.toContain(key);
    expect(((await stat(join(cwd, 'runs/foxes/run.log'))).mode & 0o777).toString(8)).toBe('600');
  });

  it('says what failed and why, and what to do next, with the flags that were given', async () => {
    service.fault('imagine', { status: 400, body: { error: { message: 'no good' } } }, { times: 1 });
    const { code, err } = await pp('run', 'foxes.yaml', '--out', 'my runs/x');
    expect(code).toBe(1);
    expect(err).toMatch(/1 failed {2}service\.rejected {2}.*no good/);
    expect(err).toContain("promptpress run foxes.yaml --out 'my runs/x' --retry-failed");
    expect((await pp('run', 'foxes.yaml', '--out', 'my runs/x', '--retry-failed')).code).toBe(0);
  });

  it('writes a log of important events, as one JSON object per line', async () => {
    service.fault('imagine', { status: 400, body: { error: { message: 'no good' } } }, { times: 1 });
    await pp('run', 'foxes.yaml');
    const lines = (await readFile(join(cwd, 'runs/foxes/run.log'), 'utf8')).trim().split('\n');
    const events = lines.map((line) => JSON.parse(line) as { level: string; msg: string; to?: string });
    expect(events[0]).toMatchObject({ level: 'info', msg: 'run:start' });
    expect(events.at(-1)).toMatchObject({ level: 'info', msg: 'run:end' });
    expect(events.filter(({ msg }) => msg === 'job:status')).toMatchObject([{ level: 'warn', to: 'failed' }]);
  });

  it('shows a live view on a terminal and removes it at the end', async () => {
    const terminal = { columns: () => 60, rows: () => 24, unicode: false };
    const test = testIo({ cwd, env: env(), terminal });
    expect(await program(['run', 'foxes.yaml'], test.io)).toBe(0);
    expect(test.err()).toContain('#');
    expect(test.err()).toContain('6/6');
    const quiet = testIo({ cwd, env: env(), terminal });
    expect(await program(['run', 'foxes.yaml', '--no-progress'], quiet.io)).toBe(0);
    expect(quiet.err()).not.toContain('\u001b[');
    expect(quiet.err()).toContain('manifest.csv');
  });

  it('prints nothing with --quiet if there is nothing to do, and otherwise what it did', async () => {
    const first = await pp('run', 'foxes.yaml', '--quiet');
    expect(first.code).toBe(0);
    expect(first.err).toMatch(/^Service: .*\n.*foxes: complete/s);
    expect(first.err).not.toContain('jobs/min');
    expect(await pp('run', 'foxes.yaml', '--quiet')).toEqual({ code: 0, out: '', err: '' });
    // What is wrong is said, also where nothing is done about it.
    service.fault('imagine', { status: 400, body: { error: { message: 'no good' } } }, { times: 1 });
    expect((await pp('run', 'foxes.yaml', '--quiet', '--out', 'runs/other')).code).toBe(1);
    const again = await pp('run', 'foxes.yaml', '--quiet', '--out', 'runs/other');
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('no good')]);
    expect((await pp('run', 'foxes.yaml', '--quiet', '--speed', 'warp')).err).toContain('--speed');
  });

  it('refuses flags that choose nothing, before anything is asked of the service', async () => {
    expect((await pp('run', 'foxes.yaml', '--filter', 'animal=lynx')).code).toBe(2);
    expect((await pp('run', 'foxes.yaml', '--filter', 'nimal=fox')).err).toContain('Did you mean animal?');
    expect((await pp('run', 'foxes.yaml', '--code', 'x')).code).toBe(2);
    expect(service.requests).toHaveLength(0);
  });

  it('a budget that is used up has to be raised first; --max-submits only counts this run', async () => {
    const mine = await pp('run', 'foxes.yaml', '--max-submits', '2');
    expect(mine.code).toBe(4);
    expect(mine.err).toMatch(/^ {2}promptpress run foxes\.yaml +continues where this run stopped$/m);
    await writeFile(join(cwd, 'foxes.yaml'), `${pipeline}budget: { submits: 2 }\n`);
    const all = await pp('run', 'foxes.yaml');
    expect(all.code).toBe(4);
    expect(all.err).toMatch(
      /^ {2}promptpress run foxes\.yaml +continues here, once budget\.submits of the pipeline is raised$/m,
    );
  });

  it('the first signal settles what is in flight, and the manifest is written', async () => {
    const hang = service.fault('fetch', { hang: 'before' });
    const test = testIo({ cwd, env: env() });
    const running = program(['run', 'foxes.yaml'], test.io);
    await hang.hit(1);
    test.interrupt('SIGTERM');
    hang.release();
    expect(await running).toBe(143);
    expect(test.err()).toContain('again to leave at once');
    expect(test.err()).toContain('continues where this run stopped');
    expect((await readManifest(manifestFile())).length).toBe(6);
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
    expect(service.submits.all).toHaveLength(6);
  });

  it('the second signal leaves at once; run.json says so', async () => {
    const hang = service.fault('fetch', { hang: 'before' });
    const test = testIo({ cwd, env: env() });
    const running = program(['run', 'foxes.yaml'], test.io);
    await hang.hit(1);
    test.interrupt();
    test.interrupt();
    expect(await running).toBe(130);
    hang.release();
    const record = JSON.parse(await readFile(join(cwd, 'runs/foxes/run.json'), 'utf8')) as { end: unknown };
    expect(record.end).toEqual({ kind: 'interrupted', forced: true });
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
    expect(service.submits.all).toHaveLength(6);
  });

  it('--redo submits a job again, named by the beginning of its key', async () => {
    await pp('run', 'foxes.yaml');
    const [row] = await readManifest(manifestFile());
    const job = row?.['job'] ?? '';
    expect((await pp('run', 'foxes.yaml', '--redo', 'ffffffffffffffff')).err).toContain('No job has the key');
    expect((await pp('run', 'foxes.yaml', '--redo', job.slice(0, 12))).code).toBe(0);
    expect(service.count('imagine')).toBe(4);
  });

  it('a second pipeline of the same name is refused', async () => {
    await pp('run', 'foxes.yaml');
    await writeFile(join(cwd, 'other.yaml'), pipeline.replace('path: U1', 'path: U2'));
    const { code, err } = await pp('run', 'other.yaml');
    expect(code).toBe(2);
    expect(err).toContain('foxes.yaml');
  });
});

describe('--frozen', () => {
  it('runs when nothing has changed, and names changes', async () => {
    expect((await pp('run', 'foxes.yaml', '--frozen')).err).toContain('nothing has run');
    await pp('run', 'foxes.yaml');
    expect((await pp('run', 'foxes.yaml', '--frozen')).code).toBe(0);
    await writeFile(join(cwd, 'rows.csv'), 'animal\nfox\nowl\nhare\nlynx\n');
    const table = await pp('run', 'foxes.yaml', '--frozen');
    expect([table.code, table.err]).toEqual([2, expect.stringContaining('rows.csv has changed')]);
    await writeFile(join(cwd, 'rows.csv'), 'animal\nfox\nowl\nhare\n');
    await writeFile(join(cwd, 'foxes.yaml'), pipeline.replace('U1', 'U2'));
    expect((await pp('run', 'foxes.yaml', '--frozen')).err).toContain('the pipeline file has changed');
    await writeFile(join(cwd, 'foxes.yaml'), pipeline);
    const other = await pp('run', 'foxes.yaml', '--frozen', '--base-url', 'http://127.0.0.1:9');
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('--frozen: the last run used the')]);
    expect(service.submits.all).toHaveLength(6);
  });
});

describe('slots that fail before a request', () => {
  it('are not suggested for a retry, and status says that it counts jobs', async () => {
    const head = pipeline.slice(0, pipeline.indexOf('matrix:'));
    await writeFile(
      join(cwd, 'foxes.yaml'),
      `${head}matrix: { m: [{ a: x }, { b: y }] }\nsteps:\n  grid: { imagine: "{{ m.a }}" }\n`,
    );
    const { code, err } = await pp('run', 'foxes.yaml');
    expect([code, err]).toEqual([1, expect.stringContaining('1 failed')]);
    expect(err).not.toContain('--retry-failed');
    expect((await pp('status', 'runs/foxes')).out).toContain('they have no job');
  });
});

describe('promptpress manifest', () => {
  it('writes the same bytes from the directory alone: pipeline and table gone, directory moved', async () => {
    await pp('run', 'foxes.yaml');
    const before = await readFile(manifestFile());
    await rm(join(cwd, 'foxes.yaml'));
    await rm(join(cwd, 'rows.csv'));
    await rename(join(cwd, 'runs/foxes'), join(cwd, 'moved'));
    await rm(join(cwd, 'moved/manifest.csv'));
    const { code, err, out } = await pp('manifest', 'moved');
    expect(code, err).toBe(0);
    expect(out).toBe('moved/manifest.csv: 6 rows, 6 with a file\n');
    expect((await readFile(join(cwd, 'moved/manifest.csv'))).equals(before)).toBe(true);
  });

  it('reads a directory whose image files are gone', async () => {
    await writeFile(join(cwd, 'shown.png'), makePng(1));
    const head = pipeline.slice(0, pipeline.indexOf('matrix:'));
    await writeFile(
      join(cwd, 'foxes.yaml'),
      `${head}steps:\n  grid: { imagine: { prompt: a fox, images: [shown.png] } }\n`,
    );
    expect((await pp('run', 'foxes.yaml')).code).toBe(0);
    const before = await readFile(manifestFile());
    await rm(join(cwd, 'shown.png'));
    const { code, err } = await pp('manifest', 'runs/foxes');
    expect(code, err).toBe(0);
    expect((await readFile(manifestFile())).equals(before)).toBe(true);
  });

  it('lists what the last run chose, and with --all every planned slot', async () => {
    await pp('run', 'foxes.yaml', '--limit', '1');
    expect(byStatus(await readManifest(manifestFile()))).toEqual({ done: 2 });
    expect((await pp('manifest', 'foxes.yaml')).code).toBe(0);
    expect(byStatus(await readManifest(manifestFile()))).toEqual({ done: 2 });
    expect((await pp('manifest', 'runs/foxes', '--all')).code).toBe(0);
    expect(byStatus(await readManifest(manifestFile()))).toEqual({ done: 2, pending: 4 });
  });

  it('keeps only the copies of tables that the last run used', async () => {
    await pp('run', 'foxes.yaml');
    await writeFile(join(cwd, 'rows.csv'), 'animal\nfox\n');
    await pp('run', 'foxes.yaml');
    const kept = await readdir(join(cwd, 'runs/foxes/inputs'));
    expect(kept).toHaveLength(1);
    await access(join(cwd, 'runs/foxes/inputs', kept[0] ?? ''));
    expect(byStatus(await readManifest(manifestFile()))).toEqual({ done: 2 });
  });

  it('says that a directory has no run', async () => {
    const { code, err } = await pp('manifest', 'foxes.yaml');
    expect(code).toBe(2);
    expect(err).toContain('There is no run in runs/foxes');
  });
});
