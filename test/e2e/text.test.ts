import { createHash } from 'node:crypto';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, it } from 'vitest';
import { tokenColumns } from '../../src/manifest/text-columns.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { promptpress, type Said } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { byStatus, type ManifestRow, readManifest } from '../rig/manifest.ts';
import { makePng } from '../rig/png.ts';
import { filesBelow } from './hostile-rig.ts';
import { quick, write } from './pipelines.ts';

const examples = join(import.meta.dirname, '../../pipelines');
const sandboxes: Sandbox[] = [];
afterEach(async () => {
  for (const sandbox of sandboxes.splice(0)) await sandbox.close();
});

/** The whole service, with no time to wait and little to draw. */
async function start(): Promise<{ readonly sandbox: Sandbox; readonly env: Record<string, string> }> {
  const sandbox = await startSandbox({ apiKey: 'test-key', settings: { pace: 0, pixels: 64 } });
  sandboxes.push(sandbox);
  return { sandbox, env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: 'test-key' } };
}

const named = (rows: readonly ManifestRow[], step: string): readonly ManifestRow[] =>
  rows.filter((row) => row['step'] === step);

/** Every token column adds up to what the service itself has counted. */
function expectSums(rows: readonly ManifestRow[], sandbox: Sandbox): void {
  const { tokens } = sandbox.counters().text;
  for (const [column, name] of Object.entries(tokenColumns)) {
    const sum = rows.reduce((total, row) => total + Number(row[column]), 0);
    expect(sum, column).toBe(tokens[name]);
  }
  expect(tokens.total).toBeGreaterThan(0);
}

async function expectValid(schema: string, said: Said): Promise<Record<string, unknown>> {
  const text = await readFile(join(import.meta.dirname, `../../schemas/${schema}.schema.json`), 'utf8');
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
  const value = JSON.parse(said.out) as Record<string, unknown>;
  expect(ajv.validate(JSON.parse(text) as object, value), ajv.errorsText()).toBe(true);
  return value;
}

describe('pipelines/judge.yaml', () => {
  it('presses in every cell the button that the judge named, and accounts for every token', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    await cp(examples, join(cwd, 'pipelines'), { recursive: true });
    const { sandbox, env } = await start();
    const first = await promptpress(['run', 'pipelines/judge.yaml', '--json'], { cwd, env });
    expect(first.code, first.err).toBe(0);
    const summary = await expectValid('run-summary', first);

    const directory = join(cwd, 'runs/judge');
    const rows = await readManifest(join(directory, 'manifest.csv'));
    expect(byStatus(rows)).toEqual({ done: 16 });
    const judged = named(rows, 'judge').map(
      ({ text = '' }) => `U${(JSON.parse(text) as { best: number }).best}`,
    );
    expect(judged).toHaveLength(4);
    for (const button of judged) expect(['U1', 'U2', 'U3', 'U4']).toContain(button);
    expect(named(rows, 'best').map(({ button }) => button)).toEqual(judged);
    for (const { text = '', file_name = '', mime, sha256, bytes } of named(rows, 'caption')) {
      expect(text).not.toBe('');
      expect(mime).toBe('text/plain');
      const file = await readFile(join(directory, file_name));
      expect(file.toString()).toBe(text);
      expect(createHash('sha256').update(file).digest('hex')).toBe(sha256);
      expect(String(file.length)).toBe(bytes);
    }
    expectSums(rows, sandbox);
    const { answers, tokens } = sandbox.counters().text;
    expect(answers).toBe(8);
    expect(summary).toMatchObject({ texts: 'runs/judge/text', tokens: { total: tokens.total } });

    const bytes = await readFile(join(directory, 'manifest.csv'));
    const again = await promptpress(['run', 'pipelines/judge.yaml'], { cwd, env });
    expect(again.code, again.err).toBe(0);
    expect(sandbox.counters().text.answers).toBe(8);
    expect((await readFile(join(directory, 'manifest.csv'))).equals(bytes)).toBe(true);
  }, 60_000);
});

describe('pipelines/captions.yaml', () => {
  it('keeps each caption as JSON, hands it to the next step, and costs what it says', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    await cp(examples, join(cwd, 'pipelines'), { recursive: true });
    const { sandbox, env } = await start();
    const run = await promptpress(['run', 'pipelines/captions.yaml', '--json'], { cwd, env });
    expect(run.code, run.err).toBe(0);
    const rows = await readManifest(join(cwd, 'runs/captions/manifest.csv'));
    expect(byStatus(rows)).toEqual({ done: 10 });
    const captions = named(rows, 'caption').map(
      ({ text = '' }) => JSON.parse(text) as { title: string; caption: string; tags: string[] },
    );
    for (const { title, tags } of captions) {
      expect(title).toEqual(expect.any(String));
      expect(tags.length).toBeGreaterThanOrEqual(2);
    }
    expect(named(rows, 'caption').every(({ file_name = '' }) => file_name.endsWith('.json'))).toBe(true);
    expect(named(rows, 'german').map(({ prompt }) => prompt)).toEqual(captions.map(({ caption }) => caption));
    expectSums(rows, sandbox);

    const { byModel } = sandbox.counters().text;
    const price = (model: string, into: number, out: number): number => {
      const { prompt = 0, tool = 0, candidates = 0, thoughts = 0 } = byModel[model]?.tokens ?? {};
      return ((prompt + tool) * into + (candidates + thoughts) * out) / 1e6;
    };
    const cost = rows.reduce((total, row) => total + Number(row['cost']), 0);
    expect(cost).toBeCloseTo(price('text-flash', 0.3, 2.5) + price('chat-mini', 0.15, 0.6), 7);

    const status = await promptpress(['status', 'runs/captions', '--json'], { cwd });
    expect(await expectValid('status', status)).toMatchObject({
      tokens: sandbox.counters().text.tokens.total,
    });
    const [row] = named(rows, 'caption');
    const story = await promptpress(['show', row?.['job'] ?? '', 'runs/captions', '--json'], { cwd });
    expect(await expectValid('show', story)).toMatchObject({
      answer: { candidates: [{ text: row?.['text'] }], file: expect.stringMatching(/\.answer\.json$/) },
      usage: { total: Number(row?.['total_tokens']) },
    });
    const told = await promptpress(['show', row?.['job'] ?? '', 'runs/captions'], { cwd });
    expect(told.out).toContain(captions[0]?.caption);
    expect(told.out).toMatch(/tokens\s+[\d,]+ in, [\d,]+ out, [\d,]+ thoughts/);
    const plan = await promptpress(['plan', 'pipelines/captions.yaml', '--json'], { cwd, env });
    await expectValid('plan', plan);
  }, 60_000);
});

describe('images that a pipeline shows', () => {
  const pipeline = (more = ''): string => `name: shown
${quick}
matrix:
  picture: [a.png, sub/b.png]
steps:
  say:
    generate: { model: text-pro, prompt: "What is this?", images: ["{{ picture }}"] }
${more}`;

  it('are known by content: run.json names them, and the manifest needs them no more', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    await write(cwd, { 'shown.yaml': pipeline(), 'sub/.keep': '' });
    const pictures = [makePng(1), makePng(2)];
    await writeFile(join(cwd, 'a.png'), pictures[0] as Buffer);
    await writeFile(join(cwd, 'sub/b.png'), pictures[1] as Buffer);
    const { sandbox, env } = await start();
    const run = await promptpress(['run', 'shown.yaml'], { cwd, env });
    expect(run.code, run.err).toBe(0);
    const record = JSON.parse(await readFile(join(cwd, 'runs/shown/run.json'), 'utf8')) as object;
    const sha256 = (bytes: Buffer | undefined) =>
      createHash('sha256')
        .update(bytes ?? '')
        .digest('hex');
    expect(record).toMatchObject({
      images: [
        { file: 'a.png', sha256: sha256(pictures[0]), bytes: pictures[0]?.length },
        { file: 'sub/b.png', sha256: sha256(pictures[1]), bytes: pictures[1]?.length },
      ],
      imageCount: 2,
    });
    const bytes = await readFile(join(cwd, 'runs/shown/manifest.csv'));

    await rm(join(cwd, 'a.png'));
    await writeFile(join(cwd, 'sub/b.png'), makePng(3));
    const manifest = await promptpress(['manifest', 'runs/shown'], { cwd });
    expect(manifest.code, manifest.err).toBe(0);
    expect((await readFile(join(cwd, 'runs/shown/manifest.csv'))).equals(bytes)).toBe(true);

    // The one that changed is another request; the one that is gone cannot be shown.
    const again = await promptpress(['run', 'shown.yaml'], { cwd, env });
    expect(again.code, again.err).toBe(1);
    const rows = await readManifest(join(cwd, 'runs/shown/manifest.csv'));
    expect(rows.map(({ status, error_code }) => [status, error_code])).toEqual([
      ['failed', 'input.missing'],
      ['done', ''],
    ]);
    expect(sandbox.counters().text.answers).toBe(3);
  }, 60_000);
});

describe('models', () => {
  const asks = (model: string): string => `name: asks
${quick}
steps:
  say:
    generate: { model: ${model}, prompt: Hello. }
`;

  it('are listed as a table and as JSON, from the environment, a pipeline or the local service', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    await write(cwd, { 'asks.yaml': asks('text-pro') });
    const { env } = await start();
    const table = await promptpress(['models'], { cwd, env });
    expect(table.code, table.err).toBe(0);
    expect(table.out).toMatch(/^id +owner +created +endpoints\n/);
    expect(table.out).toMatch(/^text-pro +\S+ +\d{4}-\d\d-\d\d +gemini, openai$/m);
    const json = await promptpress(['models', 'asks.yaml', '--json'], { cwd, env });
    expect(await expectValid('models', json)).toMatchObject({
      service: env['PROMPTPRESS_BASE_URL'],
      unlisted: [],
      models: expect.arrayContaining([expect.objectContaining({ id: 'text-pro' })]),
    });
    const local = await promptpress(['models', '--sandbox', '--names', 'midjourney-proxy'], { cwd });
    expect(local.code, local.err).toBe(0);
    expect(local.out).toContain('text-pro');
  });

  it('that are not listed are a warning, with the one that was meant', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    await write(cwd, {
      'asks.yaml': asks('text-por'),
      'image.yaml': 'name: i\nsteps: { a: { imagine: x } }\n',
    });
    const { sandbox, env } = await start();
    const online = await promptpress(['validate', 'asks.yaml', 'image.yaml', '--online'], { cwd, env });
    expect(online.code, online.err).toBe(0);
    expect(online.out).toContain(`GET ${sandbox.url}/v1/models`);
    expect(online.out).toContain('asks no text model');
    expect(online.err).toContain('Did you mean "text-pro"?');
    expect(sandbox.counters().requests['models']).toEqual({ 200: 1 });
    const offline = await promptpress(['validate', 'asks.yaml'], { cwd, env });
    expect(offline.err).not.toContain('text-pro"?');
    expect(sandbox.counters().requests['models']).toEqual({ 200: 1 });

    const models = await promptpress(['models', 'asks.yaml'], { cwd, env });
    expect([models.code, models.err]).toEqual([0, expect.stringContaining('Did you mean "text-pro"?')]);
  });

  it('are asked for once by a run that asks any, and a refused list stops nothing', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    await write(cwd, {
      'asks.yaml': asks('text-pro'),
      'image.yaml': `name: i\n${quick}steps: { a: { imagine: x } }\n`,
    });
    const service = await startFakeService({ apiKey: 'test-key' });
    try {
      service.fault('models', { status: 500, body: 'no' });
      const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: 'test-key' };
      const run = await promptpress(['run', 'asks.yaml'], { cwd, env });
      expect(run.code, run.err).toBe(0);
      expect(service.count('models')).toBe(1);
      expect((await promptpress(['run', 'image.yaml'], { cwd, env })).code).toBe(0);
      expect(service.count('models')).toBe(1);
    } finally {
      await service.close();
    }
  }, 30_000);

  it('cannot be asked for without address and key, and a refused key ends with 3', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    const { env } = await start();
    const none = await promptpress(['models'], { cwd });
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('PROMPTPRESS_BASE_URL')]);
    const refused = await promptpress(['models'], { cwd, env: { ...env, PROMPTPRESS_API_KEY: 'another' } });
    expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('PROMPTPRESS_API_KEY')]);
    const alone = await promptpress(['validate', 'x.yaml', '--sandbox'], { cwd });
    expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('--online')]);
  });
});

describe('the log of text calls', () => {
  const key = 'sk-T0p/Secret+"0815\\x=';
  const forms = [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), key.replaceAll('"', '""')];

  it('tells what was said at trace alone, cut, and never the key, whatever a model repeats', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    await write(cwd, {
      'secrets.yaml': `name: secrets
service: { id: fake }
${quick}
matrix: { case: [one, two] }
steps:
  say:
    generate: { model: m, prompt: "tell {{ case }} ${'long '.repeat(900)}" }
  stream:
    generate: { model: m, prompt: "stream {{ case }}", stream: true }
  chat:
    chat: { model: m, prompt: "chat {{ case }}" }
`,
    });
    const service = await startFakeService({
      apiKey: key,
      text: {
        says: () => ({ text: `The key is ${key} or ${encodeURIComponent(key)}.`, finishMessage: key }),
      },
    });
    const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: key };
    try {
      const run = await promptpress(['run', 'secrets.yaml', '--json', '--log-level', 'trace'], { cwd, env });
      expect(run.code, run.err).toBe(0);
      expect(forms.filter((form) => `${run.out}${run.err}`.includes(form))).toEqual([]);
    } finally {
      await service.close();
    }
    const files = await filesBelow(cwd);
    const found: string[] = [];
    for (const file of files) {
      const bytes = await readFile(join(cwd, file));
      for (const form of forms) if (bytes.includes(form)) found.push(`${file}: ${form}`);
    }
    expect(found).toEqual([]);

    const rows = await readManifest(join(cwd, 'runs/secrets/manifest.csv'));
    expect(rows).toHaveLength(6);
    for (const { text = '' } of rows) expect(text).toMatch(/^The key is .+ or .+\.$/);

    const lines = (await readFile(join(cwd, 'runs/secrets/run.log'), 'utf8')).trim().split('\n');
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const asks = logged.filter(({ msg }) => msg === 'text:ask');
    expect(asks).toHaveLength(6);
    for (const { request, level } of asks) {
      expect(level).toBe('trace');
      expect(String(request)).toMatch(/tell|stream|chat/);
      expect(String(request).length).toBeLessThan(2100);
    }
    expect(logged.filter(({ msg }) => msg === 'text:answer')).toHaveLength(6);
    const calls = logged.filter(({ msg, route }) => msg === 'request:end' && route === 'text');
    expect(new Set(calls.map(({ level }) => level))).toEqual(new Set(['debug']));
    expect(calls).toHaveLength(6);
  }, 30_000);
});
